package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"
)

// layoutTexts is for text and json. Bounds are of use for text alone.
func (e *encoder) layoutTexts(bounds, abandon bool) layout {
	s := &e.scratch
	l := layout{encoding: encodingPlain, rows: pageRows}
	if s.count == 0 {
		l.page = func(dst []byte, _, _ int) []byte { return dst }
		return l
	}
	values, text, valid := 0, s.text, true
	if !abandon && e.textDictionary() {
		l.encoding = encodingDictionary
		l.dictionary, l.entries = e.dict.body, len(e.dict.entries)
		l.page = e.indexPages(l.entries)
		values, text = l.entries, e.dict.text
		for i := range values {
			valid = valid && utf8.Valid(text(i))
		}
	} else {
		valid = s.gatherTexts()
		// Lengths apart from the texts leave the compressor half of the work that they are between them.
		l.encoding = encodingDeltaLength
		l.rows = textRows(len(s.texts), s.rows, s.valid == nil)
		l.page = func(dst []byte, from, to int) []byte {
			e.lengths = slices.Grow(e.lengths[:0], to-from)[:to-from]
			for i := range e.lengths {
				e.lengths[i] = int64(s.starts[from+i+1] - s.starts[from+i])
			}
			dst = appendDelta(dst, e.lengths, 32)
			return append(dst, s.texts[s.starts[from]:s.starts[to]]...)
		}
		values = s.count
	}
	if !valid {
		// No reader would take the file.
		l.fault = errors.New("a text is not UTF-8")
		return l
	}
	if bounds {
		l.stats = textBounds(values, text)
	}
	return l
}

// textRows is how many rows of so many bytes in all go into a page: a multiple of eight,
// or fewer where rows are large and no value is null.
func textRows(size, rows int, whole bool) int {
	if size <= pageBytes {
		return pageRows
	}
	n := int(int64(pageBytes) * int64(rows) / int64(size))
	if n < 8 && whole {
		return max(1, n)
	}
	return min(pageRows, max(8, n&^7))
}

// textDictionary makes a dictionary of the texts and sets the encoder's
// indexes, or reports that one is of no use.
func (e *encoder) textDictionary() bool {
	e.dict.reset()
	indexes := e.indexes[:0]
	var last []byte
	var index uint32
	for text := range e.scratch.eachText {
		if len(indexes) == 0 || !bytes.Equal(text, last) {
			if len(text) > maxDictionaryBytes {
				return false // as it would be with a copy of the text
			}
			index = e.dict.index(text)
			last = text
			if e.dict.useless(len(indexes) + 1) {
				return false
			}
		}
		indexes = append(indexes, index)
	}
	e.indexes = indexes
	return true
}

func textBounds(n int, text func(int) []byte) statistics {
	least := text(0)
	most := least
	low, high := beginning(least), beginning(most)
	for i := 1; i < n; i++ {
		t := text(i)
		// Most texts are told from the bounds by how they begin.
		begins := beginning(t)
		if begins <= low && bytes.Compare(t, least) < 0 {
			least, low = t, begins
		} else if begins >= high && bytes.Compare(t, most) > 0 {
			most, high = t, begins
		}
	}
	var s statistics
	s.min, s.exactMin = lowerBound(least)
	s.max, s.exactMax = upperBound(most)
	return s
}

// beginning is the first eight bytes of a text as a number, which is never less
// for the greater of two texts.
func beginning(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64(text)
	}
	unused := 64 - 8*len(text)
	if cap(text) >= 8 {
		// What stands behind the text is shifted out.
		return binary.BigEndian.Uint64(text[:8]) >> unused << unused
	}
	n := uint64(0)
	for _, b := range text {
		n = n<<8 | uint64(b)
	}
	return n << unused
}

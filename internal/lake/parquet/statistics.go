package parquet

import (
	"unicode/utf8"
)

// statistics is what the footer says of the values of a chunk, so that readers
// can leave it out.
type statistics struct {
	nulls int
	// min and max bound the values; nil where no bound is known. One that is
	// not exact is no value of the chunk.
	min, max           []byte
	exactMin, exactMax bool
}

func (s *statistics) write(t *thrift, id int) {
	t.beginField(id)
	t.i64(3, int64(s.nulls))
	if s.max != nil {
		t.binary(5, s.max)
	}
	if s.min != nil {
		t.binary(6, s.min)
	}
	if s.max != nil {
		t.bool(7, s.exactMax)
	}
	if s.min != nil {
		t.bool(8, s.exactMin)
	}
	t.end()
}

// maxBound is how long the bound of a text may be.
const maxBound = 64

// lowerBound is a text, or a beginning of it that ends with a whole character.
func lowerBound(text []byte) (bound []byte, exact bool) {
	cut := wholeCharacters(text)
	return append([]byte{}, cut...), len(cut) == len(text)
}

// upperBound is a text, or something short that is greater: a beginning of it
// whose last character is replaced by the next one. It is nil where there is none.
func upperBound(text []byte) (bound []byte, exact bool) {
	cut := wholeCharacters(text)
	if len(cut) == len(text) {
		return append([]byte{}, cut...), true
	}
	for len(cut) > 0 {
		last, size := utf8.DecodeLastRune(cut)
		cut = cut[:len(cut)-size]
		next := last + 1
		if next == 0xd800 { // surrogates are no characters
			next = 0xe000
		}
		if last != utf8.RuneError && next <= utf8.MaxRune {
			return utf8.AppendRune(append([]byte{}, cut...), next), false
		}
	}
	return nil, false
}

func wholeCharacters(text []byte) []byte {
	if len(text) <= maxBound {
		return text
	}
	end := maxBound
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

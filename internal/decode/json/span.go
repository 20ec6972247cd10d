package json

import (
	"fmt"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// recordSpan is where records are in the source that follow each other as the
// elements of one array, from the first byte of the first one to the last byte
// of the last. That they are is known from the first reading, so that a later
// one need not look for the end of a record before it reads it.
type recordSpan struct {
	start int64
	size  int
	count int
}

// spanOf is the span of a block, empty where it is none.
func (j *Table) spanOf(b *block) (s recordSpan) {
	if j.lines || j.tree || j.filter != nil || b.scattered || len(b.records) == 0 {
		return s
	}
	first, last := b.records[0].start, b.records[len(b.records)-1].end
	return recordSpan{start: b.base + int64(first), size: last - first, count: len(b.records)}
}

// load reads the data of the span into a block.
func (s recordSpan) load(src input.Source, b *block) error {
	if need := s.size + textPadding; cap(b.data) < need {
		b.data = make([]byte, need+need/8)
	}
	b.data = b.data[:s.size+textPadding]
	if err := input.ReadFull(src, b.data[:s.size], s.start); err != nil {
		return fmt.Errorf("read JSON again: %w", err)
	}
	clear(b.data[s.size:])
	b.size, b.base, b.span = s.size, s.start, s
	b.records, b.origins = b.records[:0], nil
	return nil
}

// readSpan reads records that follow each other.
func (r *recordReader) readSpan(count int) bool {
	i := 0
	for k := range count {
		if k > 0 {
			if i = r.space(i); r.data[i] != ',' {
				return r.changed()
			}
			i = r.space(i + 1)
		}
		if i = r.record(i); i < 0 {
			return r.changed()
		}
	}
	return i == r.size || r.changed()
}

// changed notes that the data is not what it was in the first reading, unless
// something else is the matter.
func (r *recordReader) changed() bool {
	if r.failure == nil {
		r.failure = input.ErrChanged
	}
	return false
}

package json

import (
	"context"
	"errors"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// block is a piece of the data with whole records.
type block struct {
	// index counts the blocks of a pass.
	index int
	// data has size bytes and after them textPadding zeros. Its first byte
	// stands at the offset base of the source.
	data []byte
	size int
	base int64
	// records are where the records are in the data; without them, each line
	// is one.
	records []textRange
	// scattered says that they are not the elements of one array, one after
	// the other.
	scattered bool
	// origins has, for records that were copied into the data, where each
	// stands in the source.
	origins []int64
	mark    blockMark
	// span says, where it is not empty, that the data is that of a span.
	span recordSpan
}

// blockMark is all it takes to read a block again.
type blockMark struct {
	// offset is where in the source the block was begun.
	offset int64
	// frames and match are what was open there.
	frames []walkFrame
	match  []int
	begun  bool
	phase  walkPhase
	name   []byte
	// number is that of the first line or of the first selected value.
	number int
}

// blockSource gives the blocks of the data in their order.
type blockSource interface {
	// claim chooses the next block, with the memory of the one that is given,
	// and reports false after the last. One goroutine calls it at a time.
	claim(block *block) (bool, error)
	// load reads what was claimed, where claim has not. Several goroutines
	// call it at the same time.
	load(block *block) error
	// seek makes the block of the mark the next one.
	seek(mark blockMark)
}

// readerPool is readers that are free. They know the names that were found,
// so what is read with the same readers has the same columns.
type readerPool struct{ free sync.Pool }

// newReader makes a reader for one goroutine. Without a turn, the first reading
// is over.
func (j *Table) newReader(ctx context.Context, turn *input.Turns) *recordReader {
	r, _ := j.readers.free.Get().(*recordReader)
	if r == nil {
		r = &recordReader{root: &nameNode{column: -1, explode: j.explode}}
		if j.explode != nil {
			r.explosion = input.NewExplosion(j.explode[len(j.explode)-1].level, j.limits.exploded)
		}
	}
	r.table, r.turn, r.maxField, r.maxRecord, r.sorts = j, turn, j.limits.field, j.limits.record, j.rules > feedmill.RulesFirst
	r.work = jsonpath.NewWork(ctx, 0)
	return r
}

// free gives a reader back that has met no fault.
func (r *recordReader) free() {
	readers := &r.table.readers.free
	r.table, r.turn, r.emit, r.work = nil, nil, nil, nil
	readers.Put(r)
}

// beginBlock makes ready for a block.
func (r *recordReader) beginBlock() {
	r.columns = r.table.columns.count()
	r.cells = columnar.Cells{Cell: r.cells.Cell[:0]}
	r.first, r.firstKnown, r.done = 0, false, 0
	r.fault, r.failure = nil, nil
	r.notes.reset()
	r.grown = r.grown[:0]
	r.tree.Limit(r.table.limits.nodes())
	r.work.Allow(int64(r.block.size))
}

// readBlock reads all records of the block.
func (r *recordReader) readBlock() error {
	r.use(&r.block)
	defer r.long.End()
	ok := true
	switch {
	case r.block.span.count > 0:
		ok = r.readSpan(r.block.span.count)
	case r.block.records != nil:
		ok = r.readRecords(&r.block)
	case r.table.path != nil:
		if ok = r.selectLines(); ok {
			r.use(&r.selected)
			ok = r.readRecords(&r.selected)
		}
	default:
		ok = r.readLines()
	}
	switch {
	case ok:
		return nil
	case r.failure != nil:
		return r.failure
	}
	return r.fault
}

// use makes the data of a block what is read.
func (r *recordReader) use(b *block) {
	r.data, r.size, r.base, r.turnAt = b.data, b.size, b.base, 0
	if b.size < longText {
		r.turnAt = b.size
	}
}

func (r *recordReader) readRecords(b *block) bool {
	for k, at := range b.records {
		if r.table.filter != nil {
			accepted, ok := r.accepts(at)
			if !ok {
				return false
			}
			if !accepted {
				continue
			}
		}
		if !r.ended(r.record(at.start), at) {
			if r.fault != nil && b.origins != nil {
				r.fault.offset = b.origins[k]
			}
			return false
		}
	}
	return true
}

// ended checks that a value ends where its record does. It reports false where
// there is a fault.
func (r *recordReader) ended(end int, at textRange) bool {
	if end >= 0 && end != at.end {
		end = r.fail(end, "expected the end of the value, found %s", r.found(end))
	}
	return end >= 0
}

// accepts reports whether the last step of the path selects the record.
func (r *recordReader) accepts(at textRange) (accepted, ok bool) {
	r.long.End() // the path takes its own turns
	r.tree.Reset()
	if !r.ended(r.lexer.tree(&r.tree, at.start, 0), at) {
		return false, false
	}
	accepted, err := r.table.filter.Accepts(r.work, &r.tree)
	if err != nil {
		r.failPath(at.start, err)
		return false, false
	}
	return accepted, true
}

// failPath ends the reading for what came of a path at i: too much work, which is
// a fault of the path and the data, or the end of the work.
func (r *recordReader) failPath(i int, err error) {
	if errors.Is(err, jsonpath.ErrTooMuchWork) {
		r.fail(i, "%v", err)
		return
	}
	r.failure = err
}

// add copies a value that stands at an offset of the source.
func (b *block) add(text []byte, offset int64) {
	start := len(b.data)
	b.data = append(b.data, text...)
	b.records = append(b.records, textRange{start, len(b.data)})
	b.origins = append(b.origins, offset)
	// Something has to end a number before the next value.
	b.data = append(b.data, '\n')
}

// seal ends the data of a block that was filled with add.
func (b *block) seal() {
	b.size = len(b.data)
	b.data = append(b.data, make([]byte, textPadding)...)
}

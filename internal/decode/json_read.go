package decode

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"github.com/feedmill/feedmill/internal/columnar"
)

// errChanged means that a later reading met what the first had not.
var errChanged = errors.New("the data has changed between two readings")

// jsonRange is a block of the data that was read.
type jsonRange struct {
	mark  jsonMark
	first int64
	// span is where its records are, where they follow each other.
	span jsonSpan
}

// Each gives all records to fn in runs, from as many goroutines as there are
// workers; fn must not keep a run. The runs come in any order, and two
// readings may cut them differently, but a record has the same number and the
// same cells each time.
func (j *JSON) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	if !j.whole {
		return j.readFirst(ctx, workers, fn)
	}
	var next atomic.Int64
	return together(ctx, workers, func(ctx context.Context) error {
		for {
			i := int(next.Add(1) - 1)
			if i >= len(j.blocks) {
				return nil
			}
			if err := j.Read(ctx, i, i+1, fn); err != nil {
				return err
			}
		}
	})
}

// Blocks is how many parts the records can be read in, each about a megabyte,
// once the first reading has come to its end.
func (j *JSON) Blocks() int { return len(j.blocks) }

// BlockFirst is the number of the first record of a block; that of the block
// behind the last one is that of the record that would come next.
func (j *JSON) BlockFirst(block int) int64 {
	if block >= len(j.blocks) {
		return j.base + j.rows
	}
	return j.blocks[block].first
}

// Read gives the records of the blocks from one up to, but not with, another to
// fn, in order. It may be called from several goroutines.
func (j *JSON) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	var blocks jsonBlocks
	r := j.newReader(nil)
	r.emit = fn
	for k := from; k < to; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := j.claimAgain(k, &blocks, &r.block); err != nil {
			return j.refusal(err)
		}
		r.beginBlock()
		r.block.index, r.first, r.firstKnown = k, j.blocks[k].first, true
		if err := r.readBlock(); err != nil {
			return j.refusal(err)
		}
		if r.cells.Rows > 0 && !r.flush() {
			return r.failure
		}
		if r.first+r.done != j.BlockFirst(k+1) {
			return errChanged
		}
	}
	r.free()
	if blocks != nil && len(j.blocks) > 1 && (!j.tree || j.inMemory != nil) {
		j.again.Put(blocks)
	}
	return nil
}

// claimAgain makes a block ready to be read again.
func (j *JSON) claimAgain(k int, blocks *jsonBlocks, block *jsonBlock) error {
	if span := j.blocks[k].span; span.count > 0 {
		return span.load(j.src, block)
	}
	block.span = jsonSpan{}
	if *blocks == nil {
		*blocks, _ = j.again.Get().(jsonBlocks)
	}
	if *blocks == nil {
		var err error
		if *blocks, err = j.newBlocks(); err != nil {
			return err
		}
	}
	(*blocks).seek(j.blocks[k].mark)
	more, err := (*blocks).claim(block)
	if err == nil && !more {
		err = errChanged
	}
	if err == nil {
		err = (*blocks).load(block)
	}
	return err
}

// readFirst is the first reading. It finds the columns and the blocks.
func (j *JSON) readFirst(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	j.columns, j.readers = newJSONColumns(), new(jsonReaders)
	if err := j.readBlocks(ctx, workers, fn); err != nil {
		return err
	}
	if j.rows > 0 && j.columns.count() == 0 {
		j.columns.add(new(jsonNode).newChild(valueName))
	}
	return nil
}

// readBlocks is the first reading, with the columns that are known already.
func (j *JSON) readBlocks(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	source, err := j.newBlocks()
	if err != nil {
		return j.refusal(err)
	}
	first := &jsonFirstReading{json: j, source: source, turn: newJSONTurn(j.base), emit: fn}
	j.blocks = nil
	var group sync.WaitGroup
	for range max(workers, 1) {
		group.Go(func() { first.work(ctx) })
	}
	group.Wait()
	if first.turn.failed < math.MaxInt {
		return j.refusal(first.turn.err)
	}
	j.whole, j.rows, j.summary = true, first.turn.rows-j.base, first.summary
	return nil
}

// jsonFirstReading is what the goroutines of the first reading share.
type jsonFirstReading struct {
	json *JSON
	emit func(*columnar.Cells) error
	turn *jsonTurn

	claims sync.Mutex
	source jsonBlocks
	next   int

	// Only the goroutine whose turn it is touches this.
	summary jsonSummary
}

// work reads blocks until there are no more, or one has failed.
func (f *jsonFirstReading) work(ctx context.Context) {
	r := f.json.newReader(f.turn)
	r.emit = f.emit
	for f.claim(ctx, r) {
		if err := f.block(r); err != nil {
			f.turn.fail(r.block.index, err)
			return
		}
	}
	r.free()
}

// claim takes the next block.
func (f *jsonFirstReading) claim(ctx context.Context, r *jsonReader) bool {
	f.claims.Lock()
	defer f.claims.Unlock()
	if f.turn.over(f.next) {
		return false
	}
	err := ctx.Err()
	more := false
	if err == nil {
		r.block.span = jsonSpan{}
		more, err = f.source.claim(&r.block)
	}
	r.block.index = f.next
	f.next++
	if err != nil {
		f.turn.fail(r.block.index, err)
	}
	return more && err == nil
}

// block reads one block.
func (f *jsonFirstReading) block(r *jsonReader) error {
	if err := f.source.load(&r.block); err != nil {
		return err
	}
	r.beginBlock()
	if err := r.readBlock(); err != nil {
		return err
	}
	if !r.knowFirst() || !f.turn.wait(r.block.index) {
		return errSuperseded
	}
	rows := r.rowInBlock()
	read := jsonRange{first: r.first, span: f.json.spanOf(&r.block)}
	if read.span.count == 0 {
		read.mark = r.block.mark
	}
	f.json.blocks = append(f.json.blocks, read)
	f.summary.add(&r.notes, r.first)
	f.turn.done(rows)
	if r.cells.Rows > 0 && !r.flush() {
		return r.failure
	}
	return nil
}

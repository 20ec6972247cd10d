package json

import (
	"context"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// knownBlock is a block of the data that was read.
type knownBlock struct {
	mark  blockMark
	first int64
	// span is where its records are, where they follow each other.
	span recordSpan
}

// Each gives all records to fn in runs, from as many goroutines as there are
// workers; fn must not keep a run. The runs come in any order, and two
// readings may cut them differently, but a record has the same number and the
// same cells each time.
func (j *Table) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	if !j.whole {
		return j.readFirst(ctx, workers, fn)
	}
	return input.EachBlock(ctx, workers, len(j.blocks), func(ctx context.Context, block int) error {
		return j.Read(ctx, block, block+1, fn)
	})
}

// Blocks is how many parts the records can be read in, each about a megabyte,
// once the first reading has come to its end.
func (j *Table) Blocks() int { return len(j.blocks) }

// blockFirst is the number of the first record of a block; that of the block
// behind the last one is that of the record that would come next.
func (j *Table) blockFirst(block int) int64 {
	if block >= len(j.blocks) {
		return j.base + j.rows
	}
	return j.blocks[block].first
}

// Read gives the records of the blocks [from, to) to fn, in order. Several
// goroutines may call it.
func (j *Table) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	var blocks blockSource
	r := j.newReader(ctx, nil)
	r.emit = fn
	for k := from; k < to; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := j.claimAgain(ctx, k, &blocks, &r.block); err != nil {
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
		if r.first+r.done != j.blockFirst(k+1) {
			return input.ErrChanged
		}
	}
	r.free()
	if blocks != nil && len(j.blocks) > 1 && (!j.tree || j.inMemory != nil) {
		j.again.Put(blocks)
	}
	return nil
}

// claimAgain makes a block ready to be read again.
func (j *Table) claimAgain(ctx context.Context, k int, blocks *blockSource, block *block) error {
	if span := j.blocks[k].span; span.count > 0 {
		return span.load(j.src, block)
	}
	block.span = recordSpan{}
	if *blocks == nil {
		*blocks, _ = j.again.Get().(blockSource)
	}
	if *blocks == nil {
		var err error
		if *blocks, err = j.newBlocks(ctx); err != nil {
			return err
		}
	}
	(*blocks).seek(j.blocks[k].mark)
	more, err := (*blocks).claim(block)
	if err == nil && !more {
		err = input.ErrChanged
	}
	if err == nil {
		err = (*blocks).load(block)
	}
	return err
}

// readFirst is the first reading. It finds the columns and the blocks.
func (j *Table) readFirst(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	j.columns, j.readers = newColumnSet(), new(readerPool)
	if err := j.readBlocks(ctx, workers, fn); err != nil {
		return err
	}
	if j.rows > 0 && j.columns.count() == 0 {
		j.columns.add(new(nameNode).newChild(valueName))
	}
	return nil
}

// readBlocks is the first reading, with the columns that are known already.
func (j *Table) readBlocks(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	source, err := j.newBlocks(ctx)
	if err == nil {
		err = j.addContext()
	}
	if err != nil {
		return j.refusal(err)
	}
	first := &firstReading{table: j, source: source, turn: input.NewTurns(j.base), emit: fn}
	j.blocks = nil
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(func() { first.work(ctx) })
	}
	first.work(ctx) // A page that is one block needs no goroutine of its own.
	group.Wait()
	if err := first.turn.Err(); err != nil {
		return j.refusal(err)
	}
	j.whole, j.rows, j.summary = true, first.turn.Rows-j.base, first.summary
	return nil
}

// firstReading is what the goroutines of the first reading share.
type firstReading struct {
	table *Table
	emit  func(*columnar.Cells) error
	turn  *input.Turns

	claims sync.Mutex
	source blockSource
	next   int

	// Only the goroutine whose turn it is touches this.
	summary summary
}

// work reads blocks until there are no more, or one has failed.
func (f *firstReading) work(ctx context.Context) {
	r := f.table.newReader(ctx, f.turn)
	r.emit = f.emit
	for f.claim(ctx, r) {
		if err := f.block(r); err != nil {
			f.turn.Fail(r.block.index, err)
			return
		}
	}
	r.free()
}

// claim takes the next block.
func (f *firstReading) claim(ctx context.Context, r *recordReader) bool {
	f.claims.Lock()
	defer f.claims.Unlock()
	if f.turn.Over(f.next) {
		return false
	}
	err := ctx.Err()
	more := false
	if err == nil {
		r.block.span = recordSpan{}
		more, err = f.source.claim(&r.block)
	}
	r.block.index = f.next
	f.next++
	if err != nil {
		f.turn.Fail(r.block.index, err)
	}
	return more && err == nil
}

// block reads one block.
func (f *firstReading) block(r *recordReader) error {
	if err := f.source.load(&r.block); err != nil {
		return err
	}
	r.beginBlock()
	if err := r.readBlock(); err != nil {
		return err
	}
	if !r.knowFirst() || !f.turn.Wait(r.block.index) {
		return input.ErrSuperseded
	}
	rows := r.rowInBlock()
	read := knownBlock{first: r.first, span: f.table.spanOf(&r.block)}
	if read.span.count == 0 {
		read.mark = r.block.mark
	}
	f.table.blocks = append(f.table.blocks, read)
	f.summary.add(&r.notes, r.first)
	f.turn.Done(rows)
	if r.cells.Rows > 0 && !r.flush() {
		return r.failure
	}
	return nil
}

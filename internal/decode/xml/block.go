package xml

import (
	"context"
	"io"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/share"
)

// block is a part of the data with whole records. With the tags of the elements that are open
// where it begins before it, and the ends of those that are open where it ends behind it, it is a
// document of its own.
type block struct {
	start, end     int64
	before, behind string
	// first is the number of its first row, known after the first reading.
	first int64
}

// cutBlocks cuts the data at the marks where a record begins.
func (t *Table) cutBlocks() {
	if len(t.records) == 0 {
		return
	}
	t.blocks = []block{{end: t.src.Size()}}
	for _, m := range t.survey.marks {
		for depth, frame := range m {
			if !frame.node.record {
				continue
			}
			last := &t.blocks[len(t.blocks)-1]
			if frame.at > last.start && depth > 0 {
				var open, close strings.Builder
				for _, around := range m[:depth] {
					open.WriteString(around.tag)
				}
				for k := depth - 1; k >= 0; k-- {
					close.WriteString("</" + m[k].node.name + ">")
				}
				last.end, last.behind = frame.at, close.String()
				t.blocks = append(t.blocks, block{start: frame.at, end: t.src.Size(), before: open.String()})
			}
			break
		}
	}
	t.survey.marks, t.survey.open, t.survey.xml = nil, nil, nil
}

// Blocks is how many parts the records can be read in, each about a megabyte.
func (t *Table) Blocks() int { return len(t.blocks) }

// Each gives all records to fn in runs, from as many goroutines as there are workers; fn must
// not keep a run. The runs come in any order, but a record has the same number and the same
// cells each time.
func (t *Table) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	if t.whole {
		return input.EachBlock(ctx, workers, len(t.blocks), func(ctx context.Context, block int) error {
			return t.Read(ctx, block, block+1, fn)
		})
	}
	turns := input.NewTurns(0)
	err := input.EachBlock(ctx, workers, len(t.blocks), func(ctx context.Context, block int) error {
		err := t.readFirst(ctx, block, turns, fn)
		if err != nil {
			turns.Fail(block, err)
		}
		return err
	})
	if first := turns.Err(); first != nil {
		err = first
	}
	if err != nil {
		return Refusal(err)
	}
	t.whole, t.rows = true, turns.Rows
	return nil
}

// readFirst reads a block for the first time.
func (t *Table) readFirst(ctx context.Context, block int, turns *input.Turns, fn func(*columnar.Cells) error) error {
	r := t.newReader()
	r.run = run{block: block, turn: turns, emit: fn}
	if err := r.readBlock(ctx); err != nil {
		return err
	}
	if err := r.run.flush(r); err != nil {
		return err
	}
	if !turns.Wait(block) {
		return input.ErrSuperseded
	}
	t.blocks[block].first = r.run.first
	turns.Done(r.run.done)
	t.readers.Put(r)
	return nil
}

// Read gives the records of the blocks [from, to) to fn, in order. Several goroutines may call it.
func (t *Table) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	r := t.newReader()
	for k := from; k < to; k++ {
		r.run = run{block: k, first: t.blocks[k].first, known: true, emit: fn}
		if err := r.readBlock(ctx); err != nil {
			return Refusal(err)
		}
		if err := r.run.flush(r); err != nil {
			return err
		}
		next := t.rows
		if k+1 < len(t.blocks) {
			next = t.blocks[k+1].first
		}
		if r.run.first+r.run.done != next {
			return input.ErrChanged
		}
	}
	t.readers.Put(r)
	return nil
}

// newReader returns a reader for one goroutine.
func (t *Table) newReader() *recordReader {
	if r, ok := t.readers.Get().(*recordReader); ok {
		return r
	}
	r := &recordReader{table: t, xml: new(Reader), way: newWay(t.survey.document), record: newSpot(t.shape.record)}
	r.xml.AnyEncoding, r.xml.DropBlank, r.xml.Trusted = t.transcoded, !t.shape.mixed, t.plainLines
	r.follow.off = t.tagByTag
	if t.shape.lists > 0 {
		r.explosion = input.NewExplosion(t.shape.lists, t.exploded)
	}
	return r
}

// readBlock reads all records of the run's block. What is left of them is to be flushed.
func (r *recordReader) readBlock(ctx context.Context) error {
	b := &r.table.blocks[r.run.block]
	r.large = func() error { return share.Large(ctx) }
	r.run.shift = b.start - int64(len(b.before))
	r.cells = columnar.Cells{Columns: len(r.table.shape.names), Data: r.cells.Data[:0], Cell: r.cells.Cell[:0]}
	r.keeps, r.open = false, r.open[:0]
	r.follow.cancel()
	data := io.Reader(io.NewSectionReader(r.table.src, b.start, b.end-b.start))
	if b.before != "" || b.behind != "" {
		data = io.MultiReader(strings.NewReader(b.before), data, strings.NewReader(b.behind))
	}
	r.xml.Reset(input.NewContextReader(ctx, data))
	return r.read()
}

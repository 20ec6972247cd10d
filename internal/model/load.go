package model

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share"
)

// Table is data that can be read more than once, as every decoder gives it.
type Table interface {
	// Each gives all records to fn in runs, in any order and from as many
	// goroutines as there are workers.
	Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error
	// Names are what the data calls the columns, known after Each.
	Names() []string
	// Units and Formats are the units and the number formats of the columns, known after Each
	// where the data has any.
	Units() []string
	Formats() []string
	// Warnings is what was noticed, complete after Each.
	Warnings() ([]feedmill.Warning, error)
	// Found is how the data is written, known after Each.
	Found() feedmill.Findings
	// Blocks is how many parts there are, known after Each.
	Blocks() int
	// Read gives the records of the blocks from one up to, but not with, another
	// to fn, in order. Several goroutines may call it.
	Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error
}

// Infer scans all records of a table and decides on the types of its columns.
// The warnings are those of the table and those about types.
func Infer(ctx context.Context, table Table, options Options) (*Schema, []feedmill.Warning, error) {
	inference := New(options)
	err := table.Each(ctx, runtime.GOMAXPROCS(0), func(cells *columnar.Cells) error {
		inference.Block(cells)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return inference.Schema(table)
}

// Schema decides on the types of a table whose records were all scanned with
// [Inference.Block], as it came: page by page, for example. The warnings are those of
// the table and those about types.
func (f *Inference) Schema(table Table) (*Schema, []feedmill.Warning, error) {
	warnings, err := table.Warnings()
	if err != nil {
		return nil, nil, err
	}
	if f.options.Rules >= 2 {
		if err := feedmill.CheckSourceNames("column", table.Names()); err != nil {
			return nil, nil, err
		}
	}
	f.formats = table.Formats()
	schema, more := f.Decide(table.Names(), table.Found())
	for i, unit := range table.Units() {
		if i < len(schema.Columns) {
			schema.Columns[i].Description = unit
		}
	}
	return schema, append(warnings, more...), nil
}

// Loading says how the rows of a table are converted.
type Loading struct {
	// Misfit is told of the values that do not fit a type that somebody has set,
	// in the order of the rows. Where it is nil the first of them ends the rows.
	Misfit func(*Misfit)
}

// Load converts the records of a table, which has been read before, block by block
// in their order; several are worked on at the same time.
func (s *Schema) Load(ctx context.Context, table Table, loading Loading) feedmill.TypedTable {
	return feedmill.TypedTable{Columns: s.Columns, Runs: s.runs(ctx, table, loading)}
}

func (s *Schema) runs(ctx context.Context, table Table, loading Loading) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var working sync.WaitGroup
		defer working.Wait()
		defer cancel()
		if s.largest > largeRun {
			if err := share.Large(ctx); err != nil {
				yield(nil, err)
				return
			}
		}
		// The blocks under way, in order.
		underWay := make([]chan loaded, 0, s.blocksAtOnce())
		next := 0
		for next < table.Blocks() || len(underWay) > 0 {
			for next < table.Blocks() && len(underWay) < cap(underWay) {
				// A small block can be a large table of nothing, so no more of
				// a block is converted than somebody is about to take.
				runs := make(chan loaded, 1)
				block := next
				working.Go(func() {
					defer close(runs)
					s.loadBlock(ctx, table, block, loading.Misfit != nil, runs)
				})
				underWay = append(underWay, runs)
				next++
			}
			for run := range underWay[0] {
				for _, m := range run.misfits {
					loading.Misfit(m)
				}
				if !yield(run.vectors, run.err) || run.err != nil {
					return
				}
			}
			underWay = append(underWay[:0], underWay[1:]...)
		}
	}
}

// largeRun is from how many bytes of a run on few tables are converted at the same time.
const largeRun = 8 << 20

// loadBytes is how many bytes the blocks have that are converted at the same time, unless
// one alone has more.
const loadBytes = 24 << 20

// blocksAtOnce is how many blocks are converted at the same time.
func (s *Schema) blocksAtOnce() int {
	return max(1, min(runtime.GOMAXPROCS(0)+1, loadBytes/max(s.largest, 1)))
}

// loaded is a run of a block after its conversion, or why there is none.
type loaded struct {
	vectors []columnar.Vector
	misfits []*Misfit
	err     error
}

// loadBlock converts the records of a block and sends them in runs.
func (s *Schema) loadBlock(ctx context.Context, table Table, block int, sorting bool, to chan<- loaded) {
	send := func(run loaded) error {
		select {
		case to <- run:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	err := table.Read(ctx, block, block+1, func(cells *columnar.Cells) error {
		replaceErrors(cells, nil)
		for part := range s.parts(cells) {
			run := loaded{vectors: make([]columnar.Vector, len(s.Columns))}
			if sorting {
				run.misfits = s.ConvertSorting(&part, run.vectors)
			} else if err := s.Convert(&part, run.vectors); err != nil {
				return err
			}
			if err := send(run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = send(loaded{err: err}) // nobody wants it where that fails
	}
}

// maxPartCells is how many values are converted at once.
const maxPartCells = 1 << 19

// parts cuts a run of records so that each part has a bounded number of values: the
// columns can be many more than the run knows of.
func (s *Schema) parts(cells *columnar.Cells) iter.Seq[columnar.Cells] {
	return cut(cells, max(1, maxPartCells/max(len(s.Columns), cells.Columns, 1)))
}

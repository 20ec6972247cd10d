package decode

import (
	"slices"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
)

// runs are those whose memory is free.
var runs = sync.Pool{New: func() any { return new(columnar.Cells) }}

// placed is fn for runs whose columns have other places in the table: columns
// says which, and width is how many the table has. Without columns it is fn.
func placed(columns []int, width func() int, fn func(*columnar.Cells) error) func(*columnar.Cells) error {
	if columns == nil {
		return fn
	}
	return func(cells *columnar.Cells) error {
		run := runs.Get().(*columnar.Cells)
		defer runs.Put(run)
		cell := run.Cell
		*run = columnar.Cells{First: cells.First, Rows: cells.Rows, Columns: width(), Data: cells.Data}
		size := run.Rows * run.Columns
		run.Cell = slices.Grow(cell[:0], size)[:size]
		clear(run.Cell)
		for row := range cells.Rows {
			from, to := cells.Cell[row*cells.Columns:][:cells.Columns], run.Cell[row*run.Columns:]
			for i, cell := range from {
				to[columns[i]] = cell
			}
		}
		err := fn(run)
		run.Data = nil
		return err
	}
}

// watch is somebody who wants to see the texts of a column.
type watch struct {
	name string
	see  func(kind columnar.CellKind, text []byte)
	mu   sync.Mutex
}

// watching is fn after the texts of the column that is watched were seen. Index
// says which one that is, or -1 as long as there is none.
func (p *Pages) watching(index func(name string) int, fn func(*columnar.Cells) error) func(*columnar.Cells) error {
	if p.watch == nil {
		return fn
	}
	return func(cells *columnar.Cells) error {
		p.watch.run(cells, index(p.watch.name))
		return fn(cells)
	}
}

func (w *watch) run(cells *columnar.Cells, column int) {
	if column < 0 || column >= cells.Columns {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for at := column; at < len(cells.Cell); at += cells.Columns {
		switch cell := cells.Cell[at]; cell.Kind() {
		case columnar.CellMissing, columnar.CellNull:
		case columnar.CellPlain:
			if !cell.Empty() {
				w.see(columnar.CellPlain, cells.Text(cell))
			}
		default:
			w.see(cell.Kind(), cells.Text(cell))
		}
	}
}

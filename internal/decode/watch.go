package decode

import (
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
)

// watch is somebody who wants to see the texts of a column.
type watch struct {
	name string
	see  func(text []byte)
	mu   sync.Mutex
}

// watched is each after the texts of the column that is watched were seen.
func (p *Pages) watched(reader pageReader, place *placing) func(*columnar.Cells) error {
	each := p.each
	if place != nil {
		place.reader, each = reader, place.of(each)
	}
	if p.watch == nil {
		return each
	}
	return func(cells *columnar.Cells) error {
		p.watch.seeRun(cells, reader.Column(p.watch.name))
		return each(cells)
	}
}

// seeRun shows the texts of a column, which is -1 as long as there is none.
func (w *watch) seeRun(cells *columnar.Cells, column int) {
	if column < 0 || column >= cells.Columns {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for at := column; at < len(cells.Cell); at += cells.Columns {
		switch cell := cells.Cell[at]; cell.Kind() {
		case columnar.CellMissing, columnar.CellNull, columnar.CellError:
		case columnar.CellPlain:
			if !cell.Empty() {
				w.see(cells.Text(cell))
			}
		default:
			w.see(cells.Text(cell))
		}
	}
}

package model

import "github.com/feedmill/feedmill/internal/columnar"

// booleans runs over true and false, whether they are texts or the source says what they are.
func (l *scan) booleans() {
	data, stride := l.cells.Data, l.cells.Columns
	from, found := -1, int64(0)
	at := l.row*stride + l.index
	for ; l.row < l.cells.Rows; l.row++ {
		cell := l.cells.Cell[at]
		at += stride
		if kind := cell.Kind(); !isTruth(kind) {
			start, end := cell.Range()
			if start == end {
				if l.null(cell) {
					continue
				}
				break
			}
			if anyText>>kind&1 == 0 || !isBoolean(data[start:end]) {
				break
			}
		}
		if found == 0 {
			from = l.row
		}
		found++
	}
	l.seen(shapeBoolean, from, found)
}

// isTruth reports whether a source says that a cell is true or false.
func isTruth(kind columnar.CellKind) bool {
	return kind == columnar.CellTrue || kind == columnar.CellFalse
}

package sheet

import (
	"cmp"
	"slices"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// maxMerged is how many merged areas of a sheet are known, and mostInRow how many a row can have.
const (
	maxMerged = 1 << 16
	mostInRow = maxColumn + 1
)

// merged tells which cells are merged with the one at the upper left of their area. What such a cell holds
// is shown nowhere. The rows must be asked for in order.
type merged struct {
	areas  []area // by their first rows
	next   int
	active []area
	at     int // the row
}

func newMerged(areas []area) *merged {
	slices.SortFunc(areas, func(a, b area) int { return cmp.Compare(a.firstRow, b.firstRow) })
	return &merged{areas: areas, at: -1}
}

// row goes on to a row, counted from 0.
func (m *merged) row(row int) error {
	if len(m.areas) == 0 || row == m.at {
		return nil
	}
	m.at = row
	m.active = slices.DeleteFunc(m.active, func(a area) bool { return a.lastRow < row })
	for ; m.next < len(m.areas) && m.areas[m.next].firstRow <= row; m.next++ {
		if m.areas[m.next].lastRow >= row {
			m.active = append(m.active, m.areas[m.next])
		}
	}
	if len(m.active) > mostInRow {
		return input.Refuse("invalid-workbook", "merged cells lie over each other in row %d of the sheet", row+1)
	}
	return nil
}

// covers reports whether a cell of the row is merged with another one.
func (m *merged) covers(column int) bool {
	for _, a := range m.active {
		if a.firstColumn <= column && column <= a.lastColumn && (a.firstRow != m.at || a.firstColumn != column) {
			return true
		}
	}
	return false
}

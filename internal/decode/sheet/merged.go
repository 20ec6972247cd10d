package sheet

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// maxMerged is how many merged areas of a sheet are known.
const maxMerged = 1 << 16

// merged tells which cells are merged with the one at the upper left of their area. What such a cell holds
// is shown nowhere. The rows must be asked for in order.
type merged struct {
	areas  []area // by their first rows
	next   int
	active []area
	at     int // the row
	// began says that an area begins in the row, so that the next one has more of it.
	began   bool
	covered [(maxColumn + 64) / 64]uint64 // the columns of the row
}

func newMerged(areas []area) *merged {
	areas = slices.Clone(areas)
	slices.SortFunc(areas, func(a, b area) int { return cmp.Compare(a.firstRow, b.firstRow) })
	return &merged{areas: areas, at: -1}
}

// row goes on to a row, counted from 0.
func (m *merged) row(row int) error {
	if len(m.areas) == 0 || row == m.at {
		return nil
	}
	m.at = row
	before := len(m.active)
	m.active = slices.DeleteFunc(m.active, func(a area) bool { return a.lastRow < row })
	changed := m.began || len(m.active) != before
	m.began = false
	for ; m.next < len(m.areas) && m.areas[m.next].firstRow <= row; m.next++ {
		if m.areas[m.next].lastRow >= row {
			m.active = append(m.active, m.areas[m.next])
			m.began, changed = true, true
		}
	}
	if !changed {
		return nil
	}
	clear(m.covered[:])
	width := 0
	for _, a := range m.active {
		if width += a.lastColumn - a.firstColumn + 1; width > maxColumn+1 {
			return input.Refuse("invalid-workbook", "merged cells overlap in row %d of the sheet", row+1)
		}
		first := a.firstColumn
		if a.firstRow == row {
			first++
		}
		for column := first; column <= a.lastColumn; column++ {
			m.covered[column/64] |= 1 << (column % 64)
		}
	}
	return nil
}

// covers reports whether a cell of the row is merged with another one.
func (m *merged) covers(column int) bool {
	return len(m.active) > 0 && m.covered[column/64]&(1<<(column%64)) != 0
}

// errSeen ends a reading that has seen enough.
var errSeen = errors.New("enough of the sheet was read")

// hidesValues reports whether a cell has a value that a merged area hides. The rows are read again for that, up
// to the last of such an area, because what is merged stands behind them.
func hidesValues(ctx context.Context, b book, sheet int, areas []area) (hides bool, err error) {
	if len(areas) == 0 {
		return false, nil
	}
	last := 0
	for _, a := range areas {
		last = max(last, a.lastRow)
	}
	m := newMerged(areas)
	_, err = b.read(ctx, sheet, newMerged(nil), func(l *line) error {
		if l.number-1 > last {
			return errSeen
		}
		if err := m.row(l.number - 1); err != nil {
			return err
		}
		for _, c := range l.cells {
			if m.covers(c.column) {
				hides = true
				return errSeen
			}
		}
		return nil
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return hides, err
}

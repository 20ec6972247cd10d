package feedmill_test

import (
	"testing"

	"github.com/feedmill/feedmill"
)

func TestCellKeepsKindAndRange(t *testing.T) {
	for kind := feedmill.CellMissing; kind <= feedmill.CellJSON; kind++ {
		for _, bounds := range [][2]int{{0, 0}, {3, 7}, {feedmill.MaxCellData, feedmill.MaxCellData}, {0, feedmill.MaxCellData}} {
			cell := feedmill.NewCell(kind, bounds[0], bounds[1])
			start, end := cell.Range()
			if cell.Kind() != kind || int(start) != bounds[0] || int(end) != bounds[1] {
				t.Errorf("NewCell(%d, %d, %d) is %d, %d, %d", kind, bounds[0], bounds[1], cell.Kind(), start, end)
			}
			if cell.Empty() != (bounds[0] == bounds[1]) {
				t.Errorf("NewCell(%d, %d, %d).Empty() is %v", kind, bounds[0], bounds[1], cell.Empty())
			}
		}
	}
	if feedmill.NewCell(feedmill.CellMissing, 0, 0) != 0 {
		t.Error("a missing cell is not the zero value")
	}
}

func TestCellsAt(t *testing.T) {
	cells := feedmill.Cells{
		Rows: 2, Columns: 2, Data: []byte("abcd"),
		Cell: []feedmill.Cell{
			feedmill.NewCell(feedmill.CellPlain, 0, 1), feedmill.NewCell(feedmill.CellString, 1, 3),
			feedmill.NewCell(feedmill.CellPlain, 3, 4), 0,
		},
	}
	for _, test := range []struct {
		row, column int
		kind        feedmill.CellKind
		text        string
	}{
		{0, 0, feedmill.CellPlain, "a"},
		{0, 1, feedmill.CellString, "bc"},
		{1, 0, feedmill.CellPlain, "d"},
		{1, 1, feedmill.CellMissing, ""},
		{1, 2, feedmill.CellMissing, ""},
	} {
		cell := cells.At(test.row, test.column)
		if text := string(cells.Text(cell)); cell.Kind() != test.kind || text != test.text {
			t.Errorf("cell %d, %d is %d, %q, want %d, %q", test.row, test.column, cell.Kind(), text, test.kind, test.text)
		}
	}
	cells.Reset()
	if cells.Rows != 0 || cells.Columns != 0 || len(cells.Cell) != 0 || cap(cells.Cell) == 0 || cap(cells.Data) == 0 {
		t.Errorf("after Reset: %+v", cells)
	}
}

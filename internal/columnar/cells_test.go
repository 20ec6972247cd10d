package columnar_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
)

func TestCellKeepsKindAndRange(t *testing.T) {
	for kind := columnar.CellMissing; kind <= columnar.CellJSON; kind++ {
		for _, bounds := range [][2]int{{0, 0}, {3, 7}, {columnar.MaxCellData, columnar.MaxCellData}, {0, columnar.MaxCellData}} {
			cell := columnar.NewCell(kind, bounds[0], bounds[1])
			start, end := cell.Range()
			if cell.Kind() != kind || int(start) != bounds[0] || int(end) != bounds[1] {
				t.Errorf("NewCell(%d, %d, %d) is %d, %d, %d", kind, bounds[0], bounds[1], cell.Kind(), start, end)
			}
			if cell.Empty() != (bounds[0] == bounds[1]) {
				t.Errorf("NewCell(%d, %d, %d).Empty() is %v", kind, bounds[0], bounds[1], cell.Empty())
			}
		}
	}
	if columnar.NewCell(columnar.CellMissing, 0, 0) != 0 {
		t.Error("a missing cell is not the zero value")
	}
}

func TestCellsAt(t *testing.T) {
	cells := columnar.Cells{
		Rows: 2, Columns: 2, Data: []byte("abcd"),
		Cell: []columnar.Cell{
			columnar.NewCell(columnar.CellPlain, 0, 1), columnar.NewCell(columnar.CellString, 1, 3),
			columnar.NewCell(columnar.CellPlain, 3, 4), 0,
		},
	}
	for _, test := range []struct {
		row, column int
		kind        columnar.CellKind
		text        string
	}{
		{0, 0, columnar.CellPlain, "a"},
		{0, 1, columnar.CellString, "bc"},
		{1, 0, columnar.CellPlain, "d"},
		{1, 1, columnar.CellMissing, ""},
		{1, 2, columnar.CellMissing, ""},
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

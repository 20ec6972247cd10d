package decodetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Missing and QuotedEmpty stand for a cell that is not there, and for an empty
// quoted one.
const (
	Missing     = "∅"
	QuotedEmpty = "«»"
)

// CellText is the text of a cell.
func CellText(cells *columnar.Cells, cell columnar.Cell) string {
	switch {
	case cell.Kind() == columnar.CellMissing:
		return Missing
	case cell.Kind() == columnar.CellQuoted && cell.Empty():
		return QuotedEmpty
	case cell.Kind() == columnar.CellTrue && cell.Empty():
		return "true"
	case cell.Kind() == columnar.CellFalse && cell.Empty():
		return "false"
	}
	return string(cells.Text(cell))
}

// Table is what every format opens.
type Table interface {
	Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error
	Rows() int64
	Names() []string
}

// Rows reads all records of a table, in order, and holds it to giving each once.
func Rows(t testing.TB, table Table) [][]string {
	t.Helper()
	var mu sync.Mutex
	rows := map[int64][]string{}
	err := table.Each(t.Context(), 3, func(cells *columnar.Cells) error {
		mu.Lock()
		defer mu.Unlock()
		for row := range cells.Rows {
			number := cells.First + int64(row)
			if rows[number] != nil {
				return fmt.Errorf("row %d was given twice", number)
			}
			out := make([]string, cells.Columns)
			for column := range out {
				out[column] = CellText(cells, cells.At(row, column))
			}
			rows[number] = out
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(rows)) != table.Rows() {
		t.Fatalf("%d rows were given of %d", len(rows), table.Rows())
	}
	out := make([][]string, len(rows))
	width := len(table.Names())
	for number, row := range rows {
		for len(row) < width {
			row = append(row, Missing)
		}
		out[number] = row
	}
	return out
}

// MustRefuse checks that an error is a refusal that says what is wrong and where.
func MustRefuse(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("accepted")
	}
	refused, ok := errors.AsType[*feedmill.Error](err)
	if !ok {
		t.Fatalf("error %v is no refusal", err)
	}
	if !strings.Contains(refused.Detail, want) {
		t.Errorf("detail %q, want %q", refused.Detail, want)
	}
}

package typed

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
)

func OpenParquetBytes(data []byte) (*Table, error) {
	return OpenParquet(context.Background(), bytes.NewReader(data))
}

func OpenArrowBytes(data []byte) (*Table, error) {
	return OpenArrow(context.Background(), bytes.NewReader(data))
}

// shownRows is all values, rows with | between them and columns with a comma, and what was
// warned of.
func shownRows(t testing.TB, table *Table) string {
	t.Helper()
	var rows []string
	for run, err := range table.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range run[0].Len {
			var row []string
			for k := range run {
				row = append(row, shownValue(&run[k], i))
			}
			rows = append(rows, strings.Join(row, ","))
		}
	}
	shown := strings.Join(rows, "|")
	for _, w := range table.Warnings(table.Columns()) {
		shown += fmt.Sprintf(" %s %d %d", w.Code, w.Count, w.FirstRow)
	}
	return shown
}

func shownValue(v *columnar.Vector, i int) string {
	switch {
	case v.Null(i):
		return "∅"
	case v.Wide != nil:
		return v.Wide[i].Decimal(v.Scale)
	case v.Type == columnar.TypeDecimal:
		return columnar.Int128Of(v.Ints[i]).Decimal(v.Scale)
	case v.Ints != nil:
		return strconv.FormatInt(v.Ints[i], 10)
	case v.Floats != nil:
		return strconv.FormatFloat(v.Floats[i], 'g', -1, 64)
	}
	return string(v.Text(i))
}

package json

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// jsonTable is all that a decoder says of some data.
type jsonTable struct {
	names    []string
	rows     []string
	warnings []feedmill.Warning
}

type jsonOpener func(context.Context, input.Source, Options) (*Table, error)

// readJSON reads data in blocks of several sizes, with several goroutines and
// twice, and fails where the readings differ.
func readJSON(t testing.TB, open jsonOpener, data []byte, options Options) (jsonTable, error) {
	t.Helper()
	table, err := readJSONTwice(t, open, data, options)
	for _, size := range []int{1, 7, 64} {
		options.blockBytes, options.readBytes = size, size
		small, smallErr := readJSONTwice(t, open, data, options)
		if fmt.Sprint(smallErr) != fmt.Sprint(err) {
			t.Fatalf("in blocks of %d bytes the error is %v, otherwise %v", size, smallErr, err)
		}
		if small.String() != table.String() {
			t.Fatalf("in blocks of %d bytes the table is\n%v\notherwise\n%v", size, small, table)
		}
	}
	return table, err
}

func readJSONTwice(t testing.TB, open jsonOpener, data []byte, options Options) (jsonTable, error) {
	t.Helper()
	j, err := open(t.Context(), bytes.NewReader(data), options)
	if err != nil {
		return jsonTable{}, err
	}
	first, err := readJSONRows(t, j, 3)
	if err != nil {
		return jsonTable{}, err
	}
	width := len(j.Names())
	again, err := readJSONRows(t, j, 2)
	if err != nil {
		t.Fatalf("the second reading: %v", err)
	}
	if len(j.Names()) != width || int64(len(first)) != j.Rows() {
		t.Fatalf("%d columns, then %d; %d rows, of %d", width, len(j.Names()), len(first), j.Rows())
	}
	table := jsonTable{names: j.Names(), rows: renderRows(first, width)}
	if second := renderRows(again, width); !slices.Equal(table.rows, second) {
		t.Fatalf("the second reading gives other rows:\n%s\nand\n%s", strings.Join(table.rows, "\n"), strings.Join(second, "\n"))
	}
	if table.warnings, err = j.Warnings(); err != nil {
		t.Fatal(err)
	}
	return table, nil
}

// numberedRow is a row with its cells as texts, as many as its run had.
type numberedRow struct {
	number int64
	cells  []string
}

func readJSONRows(t testing.TB, j *Table, workers int) ([]numberedRow, error) {
	var mu sync.Mutex
	var rows []numberedRow
	err := j.Each(t.Context(), workers, func(cells *columnar.Cells) error {
		found := make([]numberedRow, cells.Rows)
		for i := range found {
			found[i].number = cells.First + int64(i)
			for column := range cells.Columns {
				found[i].cells = append(found[i].cells, renderCell(cells, cells.At(i, column)))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, found...)
		return nil
	})
	slices.SortFunc(rows, func(a, b numberedRow) int { return cmp.Compare(a.number, b.number) })
	for i, row := range rows {
		if err == nil && row.number != int64(i) {
			t.Fatalf("row %d has the number %d", i, row.number)
		}
	}
	return rows, err
}

// missing stands for a cell that is not there.
const missing = "~"

func renderCell(cells *columnar.Cells, cell columnar.Cell) string {
	switch cell.Kind() {
	case columnar.CellMissing:
		return missing
	case columnar.CellString:
		return strconv.Quote(string(cells.Text(cell)))
	case columnar.CellNumber, columnar.CellJSON:
		return string(cells.Text(cell))
	case columnar.CellTrue:
		return "true"
	case columnar.CellFalse:
		return "false"
	case columnar.CellNull:
		return "null"
	}
	return fmt.Sprintf("kind %d", cell.Kind())
}

func renderRows(rows []numberedRow, width int) []string {
	out := []string{}
	for _, row := range rows {
		cells := row.cells
		for len(cells) < width {
			cells = append(cells, missing)
		}
		out = append(out, strings.Join(cells, " "))
	}
	return out
}

func (table jsonTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(table.names, " | "))
	for _, row := range table.rows {
		fmt.Fprintln(&b, row)
	}
	for _, w := range table.warnings {
		fmt.Fprintf(&b, "! %s %q %d times from row %d: %s\n", w.Code, w.Column, w.Count, w.FirstRow, w.Detail)
	}
	return b.String()
}

// openerOf gives the function that reads a format.
func openerOf(format string) jsonOpener {
	if format == "ndjson" {
		return OpenLines
	}
	return Open
}

package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
)

// tableCells makes cells of a small table: fields between commas, in double quotes
// where they hold a comma or a line end. The first record is the header.
func tableCells(t testing.TB, text string) (names []string, cells *columnar.Cells) {
	t.Helper()
	cells = &columnar.Cells{}
	var record []columnar.Cell
	var records [][]columnar.Cell
	for len(text) > 0 {
		kind, field, end := columnar.CellPlain, "", 0
		if strings.HasPrefix(text, `"`) {
			kind = columnar.CellQuoted
			rest := text[1:]
			for {
				before, after, ok := strings.Cut(rest, `"`)
				if !ok {
					t.Fatalf("a quote is not closed: %q", text)
				}
				field += before
				if rest = after; !strings.HasPrefix(rest, `"`) {
					break
				}
				field += `"`
				rest = rest[1:]
			}
			end = len(text) - len(rest)
		} else {
			end = max(strings.IndexAny(text+"\n", ",\n"), 0)
			field = text[:end]
		}
		start := len(cells.Data)
		cells.Data = append(cells.Data, field...)
		record = append(record, columnar.NewCell(kind, start, len(cells.Data)))
		text = text[end:]
		if !strings.HasPrefix(text, ",") {
			records = append(records, record)
			record = nil
		}
		text = text[min(1, len(text)):]
	}
	for _, cell := range records[0] {
		names = append(names, string(cells.Text(cell)))
		cells.Columns++
	}
	for _, record := range records[1:] {
		cells.Cell = append(cells.Cell, record...)
		cells.Cell = append(cells.Cell, make([]columnar.Cell, cells.Columns-len(record))...)
		cells.Rows++
	}
	return names, cells
}

// jsonCells makes cells of lines of JSON arrays. The first one has the names.
func jsonCells(t testing.TB, text string) (names []string, cells *columnar.Cells) {
	t.Helper()
	cells = &columnar.Cells{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			if err := json.Unmarshal([]byte(line), &names); err != nil {
				t.Fatal(err)
			}
			cells.Columns = len(names)
			continue
		}
		var values []json.RawMessage
		if err := json.Unmarshal([]byte(line), &values); err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			kind, out := columnar.CellNumber, []byte(value)
			switch value[0] {
			case '"':
				kind = columnar.CellString
				var unquoted string
				if err := json.Unmarshal(value, &unquoted); err != nil {
					t.Fatal(err)
				}
				out = []byte(unquoted)
			case 't':
				kind, out = columnar.CellTrue, nil
			case 'f':
				kind, out = columnar.CellFalse, nil
			case 'n':
				kind, out = columnar.CellNull, nil
			case '[', '{':
				kind = columnar.CellJSON
			}
			start := len(cells.Data)
			cells.Data = append(cells.Data, out...)
			cells.Cell = append(cells.Cell, columnar.NewCell(kind, start, len(cells.Data)))
		}
		cells.Cell = append(cells.Cell, make([]columnar.Cell, cells.Columns-len(values))...)
		cells.Rows++
	}
	return names, cells
}

// split cuts a run into runs of so many rows.
func split(cells *columnar.Cells, rows int) (runs []*columnar.Cells) {
	for row := 0; row < cells.Rows; row += rows {
		n := min(rows, cells.Rows-row)
		run := &columnar.Cells{
			First: cells.First + int64(row), Rows: n, Columns: cells.Columns, Data: cells.Data,
			Cell: cells.Cell[row*cells.Columns : (row+n)*cells.Columns],
		}
		for _, cell := range run.Cell {
			if cell.Kind() == columnar.CellError {
				run.Errors++
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// valueOf is a value of a vector in JSON.
func valueOf(v *columnar.Vector, row int) any {
	if v.Null(row) {
		return nil
	}
	switch v.Type {
	case columnar.TypeText:
		return string(v.Text(row))
	case columnar.TypeJSON:
		return json.RawMessage(bytes.Clone(v.Text(row)))
	case columnar.TypeNumber:
		return v.Floats[row]
	case columnar.TypeDecimal:
		if v.Precision > columnar.NarrowDigits {
			return json.RawMessage(v.Wide[row].Decimal(v.Scale))
		}
		return json.RawMessage(columnar.Int128Of(v.Ints[row]).Decimal(v.Scale))
	case columnar.TypeBoolean:
		return v.Ints[row] == 1
	case columnar.TypeDate:
		return dateText(v.Ints[row])
	case columnar.TypeTimestamp:
		return timeText(v.Ints[row])
	}
	return v.Ints[row]
}

// sprint writes values as their JSON texts, so that they can be compared.
func sprint(values []any) string {
	for i, value := range values {
		if raw, ok := value.(json.RawMessage); ok {
			values[i] = string(raw)
		}
	}
	return fmt.Sprint(values)
}

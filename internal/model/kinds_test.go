package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// typedCells makes one column of cells, each a kind and its text.
func typedCells(t testing.TB, values ...string) *columnar.Cells {
	t.Helper()
	kinds := map[string]columnar.CellKind{
		"plain": columnar.CellPlain, "quoted": columnar.CellQuoted, "string": columnar.CellString, "number": columnar.CellNumber,
		"true": columnar.CellTrue, "null": columnar.CellNull, "json": columnar.CellJSON, "date": columnar.CellDate, "error": columnar.CellError,
	}
	cells := &columnar.Cells{Columns: 1}
	for _, value := range values {
		name, text, _ := strings.Cut(value, " ")
		kind, ok := kinds[name]
		if !ok {
			t.Fatalf("no such kind: %s", name)
		}
		start := len(cells.Data)
		cells.Data = append(cells.Data, text...)
		cells.Cell = append(cells.Cell, columnar.NewCell(kind, start, len(cells.Data)))
		cells.Rows++
		if kind == columnar.CellError {
			cells.Errors++
		}
	}
	return cells
}

// Whatever a cell is, rows that are rejected have it as JSON.
func TestCellsAsJSON(t *testing.T) {
	cells := typedCells(t, "plain <a>", "quoted 1", "string \"", "number 1e5", "true", "json [1]", "date 2026-11-15", "error #N/A", "plain \xff")
	var got []byte
	for _, cell := range cells.Cell {
		got = append(appendJSON(got, cells, cell), ' ')
	}
	if want := `"<a>" "1" "\"" 1e5 true [1] "2026-11-15" "#N/A" "\ufffd" `; string(got) != strings.ReplaceAll(want, `\ufffd`, "\ufffd") {
		t.Errorf("got %s", got)
	}
}

// A source can say that a value is a date, or that it is an error.
func TestTypedCells(t *testing.T) {
	for _, test := range []struct {
		name   string
		cells  []string
		column string
		rows   string
		warns  []string
	}{
		{"days", []string{"date 2026-11-15", "date 2024-02-29", "null"}, "date nullable", `["2026-11-15"] ["2024-02-29"] [null]`, nil},
		{
			"times",
			[]string{"date 2026-11-15T12:30:00", "date 2026-11-15T12:30:00.25", "date 2026-11-15"},
			"timestamp", `["2026-11-15T12:30:00Z"] ["2026-11-15T12:30:00.25Z"] ["2026-11-15T00:00:00Z"]`, nil,
		},
		{
			"dates and texts that look like them",
			[]string{"date 2026-11-15", "string 2026-11-16", "plain 2026-11-17"},
			"date", `["2026-11-15"] ["2026-11-16"] ["2026-11-17"]`, nil,
		},
		{
			"dates and texts that could be read in two ways",
			[]string{"date 2026-11-15", "string 15/11/2026"},
			"text", `["2026-11-15"] ["15/11/2026"]`,
			[]string{"mixed-types 1 1 The column contains dates in several formats that cannot be combined, so it is text. Use one format at the source."},
		},
		{
			"dates and a number",
			append(repeated(20, "date 2026-11-15"), "number 7"),
			"text", strings.Repeat(`["2026-11-15"] `, 20) + `["7"]`,
			[]string{`mixed-types 1 21 1 of 21 values are not dates, so the column is text. Fix them at the source, or list them as null tokens (nulls=…).`},
		},
		{
			"numbers and a date",
			append(repeated(20, "number 7"), "date 2026-11-15"),
			"text", strings.Repeat(`["7"] `, 20) + `["2026-11-15"]`,
			[]string{`mixed-types 1 21 1 of 21 values are not numbers, so the column is text. Fix them at the source, or list them as null tokens (nulls=…).`},
		},
		{
			"texts most of which are numbers",
			[]string{"string 12", "string 7", "string 12.5", "string n.v."},
			"text", `["12"] ["7"] ["12.5"] ["n.v."]`,
			[]string{`numeric-text 4 1 3 of 4 values are numbers, but the source marks some of them as text, so the column is text. Fix the other values at the source, then set the type in columns.`},
		},
		{
			"numbers some of which are texts",
			[]string{"string 12", "number 7", "string 12.5"},
			"text", `["12"] ["7"] ["12.5"]`,
			[]string{`numeric-text 2 1 All values are numbers, but the source marks 2 of 3 as text, so the column is text. Set its type to integer, decimal or number in columns.`},
		},
		{"texts some of which are numbers", []string{"string 12", "string x", "string y"}, "text", `["12"] ["x"] ["y"]`, nil},
		{"dates and texts", []string{"date 2026-11-15", "string x", "date 2026-11-15T10:00:00"}, "text", `["2026-11-15"] ["x"] ["2026-11-15T10:00:00"]`, nil},
		{"dates and JSON", []string{"date 2026-11-15", "json [1]"}, "json", `["2026-11-15"] [[1]]`, nil},
		{"a date that is none", []string{"date 15/11/2026", "date 15/11/2026"}, "text", `["15/11/2026"] ["15/11/2026"]`, nil},
		{
			"a time that is too exact",
			[]string{"date 2026-11-15T12:30:00.1234567"},
			"text", `["2026-11-15T12:30:00.1234567"]`,
			[]string{`too-many-digits 1 1 Some times are more precise than a microsecond, so the column is text. Round them at the source to get timestamps.`},
		},
		{
			"numbers and errors",
			[]string{"number 1", "error #N/A", "number 2.5", "error #DIV/0!"},
			"decimal(2,1) nullable", "[1.0] [null] [2.5] [null]",
			[]string{`error-cell 2 2 Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.`},
		},
		{
			"whole numbers and errors",
			[]string{"error #REF!", "number 12345678901234567", "number 2", "error #N/A"},
			"integer nullable", "[null] [12345678901234567] [2] [null]",
			[]string{`error-cell 2 1 Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.`},
		},
		{
			"dates and errors",
			[]string{"date 2026-11-15", "error #VALUE!"},
			"date nullable", `["2026-11-15"] [null]`,
			[]string{`error-cell 1 2 Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.`},
		},
		{
			"truths and errors",
			[]string{"true", "error #VALUE!"},
			"boolean nullable", "[true] [null]",
			[]string{`error-cell 1 2 Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.`},
		},
		{
			"nothing but errors",
			[]string{"error #N/A", "error #N/A"},
			"text nullable", "[null] [null]",
			[]string{`error-cell 2 1 Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.`},
		},
		{
			"texts, numbers and errors, after the column is known to be text",
			append(repeated(40, "string x"), "error #N/A", "number 1", "error #NAME?"),
			"text nullable", strings.Repeat(`["x"] `, 40) + `[null] ["1"] [null]`,
			[]string{`error-cell 2 41 Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cells := typedCells(t, test.cells...)
			got := modelled(t, []string{"a"}, cells, Options{})
			var rows []string
			for _, row := range got.Rows {
				rows = append(rows, string(row))
			}
			var warns []string
			for _, w := range got.Warnings {
				warns = append(warns, fmt.Sprintf("%s %d %d %s", w.Code, w.Count, w.FirstRow, w.Detail))
			}
			if diff := cmp.Diff([]any{[]string{"a " + test.column}, test.rows, test.warns}, []any{got.Columns, strings.Join(rows, " "), warns}); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Errors are counted in every run, in whichever order they come, and are null
// where columns are left text.
func TestErrorsOfManyRuns(t *testing.T) {
	cells := typedCells(t, append(repeated(100, "error #N/A"), "string x", "error #REF!")...)
	runs := split(cells, 7)
	inference := New(Options{Text: true})
	for i := range runs {
		inference.Block(runs[len(runs)-1-i])
	}
	schema, warnings := inference.Decide([]string{"a"}, feedmill.Findings{})
	if len(warnings) != 1 || warnings[0].Count != 101 || warnings[0].FirstRow != 1 || warnings[0].Examples[0].Value != "#N/A" {
		t.Errorf("warnings %+v", warnings)
	}
	vectors := make([]columnar.Vector, 1)
	if err := schema.Convert(typedCells(t, "string y", "error #N/A"), vectors); err != nil {
		t.Fatal(err)
	}
	if vectors[0].Null(0) || !vectors[0].Null(1) || !schema.Columns[0].Nullable {
		t.Errorf("values %s", sprint([]any{valueOf(&vectors[0], 0), valueOf(&vectors[0], 1)}))
	}
}

func repeated(n int, value string) (values []string) {
	for range n {
		values = append(values, value)
	}
	return values
}

// TestGivenNullsInEveryKind names null tokens: in a column of numbers a cell with one is null
// however its source writes it, in quotes too. In a column of texts it is a text.
func TestGivenNullsInEveryKind(t *testing.T) {
	options := Options{Set: feedmill.ReadingOptions{Nulls: "NA,-9"}}
	for _, kind := range []string{"plain", "quoted", "string", "number"} {
		for _, test := range []struct {
			cells        []string
			column, rows string
		}{
			{[]string{"plain 1", kind + " -9", "quoted 2"}, "v integer nullable", "[1] [null] [2]"},
			{[]string{"quoted 1.5", kind + " NA", "plain 2.5", kind + " -9"}, "v decimal(2,1) nullable", "[1.5] [null] [2.5] [null]"},
			{[]string{"plain x", kind + " NA", "quoted y", kind + " -9"}, "v text", `["x"] ["NA"] ["y"] ["-9"]`},
		} {
			got := modelled(t, []string{"v"}, typedCells(t, test.cells...), options)
			var rows []string
			for _, row := range got.Rows {
				rows = append(rows, string(row))
			}
			if got.Columns[0] != test.column || strings.Join(rows, " ") != test.rows {
				t.Errorf("%q: %s %s, want %s %s", test.cells, got.Columns[0], rows, test.column, test.rows)
			}
		}
	}
}

package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// texts are values of every shape, at the edges of what the loops over usual
// values take and leave.
var texts = []string{
	"", "0", "7", "-7", "00", "-0", "07", "-", "--7", "+7", " 12", "12 ", "\u00a012", "12\u202f",
	"1234567", "12345678", "123456789", "-12345678", "-123456789", "00000000", "0123456789", "123456789012345", "1234567890123456", "12345678901234567", "-1234567890123456",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551617", "99999999999999999999",
	"0.5", "1.5", "-1.5", "00.5", "1.50", "12.5", "9.99", "12.345", "1.234", "0.123", "1234.567", "123456.7", "1234567.8", "1.23456", "1.2345678", "0.1234567", "12345.67", "1.", ".5", "1.x", "x.5", "1..5", "1.5.5", "1.5x",
	"123456789012.345", "1234567890123.456", "12345678901234567890.12", "1.00", "1.000", "100.0000000", "99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001",
	"1e5", "1.5E-3", "-2e+10", "1e400", "1e", "9007199254740993e0", "e5", "1-5", "1/5", "1:5", "12a", "a12", "1234567a", "a1234567", "1234 678", "12:45678", "12/45678",
	"1,5", "1,234", "1,234.5", "1.234,5", "12,34,567", "1 234", "1 234,5", "1'234", "127.0.0.1", "1.234.567", "1,234,56",
	"$5", "$ 5", "5 €", "5 EUR", "EUR5", "US$5", "5%", "(5)", "(5.50)", "-(5)", "$(5)", "(5", "5)", "$-5", "-$5", "5 km", "$5€",
	"true", "TRUE", "False", "fals", "truth", " true ", "2026-01-31", "2026-02-30", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0001-01-01", "0000-01-01", "2026-13-01", "2026-00-10", "2026-01-00", "2026/01/31", "2026-01/31", "2026-1-31", "2026-01-3x",
	"2026-01-31 10:00:00", "2026-01-31T10:00:00", "2026-01-31x10:00:00", "2026-01-31 24:00:00", "2026-01-31 10:60:00", "2026-01-31 10:00:60", "2026-01-31 10-00-00", "2026-02-30 10:00:00", "2026-01-31 10:00", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00.5+02:00", "2026-01-31T10:00:00.1234567Z", "2026-01-31T10:00:00-0130", "2026-01-31T10:00:00+19:00",
	"31/12/2026", "12/31/2026", "01/02/2026", "01.02.2026", "31.12.26", "31-12-2026", "31/12-2026", "31/12/2026 10:00", "1/2/2026 9:05 PM", "32/12/2026", "x", "NaN", "ünï", "a longer text than any number", "a",
}

// cellsOf makes a column of texts, each of a kind, with so many bytes of others
// before each in the data.
func cellsOf(padding int, kind columnar.CellKind, values ...string) *columnar.Cells {
	cells := &columnar.Cells{Columns: 1, Rows: len(values)}
	for _, text := range values {
		cells.Data = append(cells.Data, strings.Repeat("9", padding)...)
		start := len(cells.Data)
		cells.Data = append(cells.Data, text...)
		cells.Cell = append(cells.Cell, columnar.NewCell(kind, start, len(cells.Data)))
	}
	return cells
}

// kindsOfText are the kinds of cells that have a text of any form.
var kindsOfText = []columnar.CellKind{columnar.CellPlain, columnar.CellQuoted, columnar.CellString, columnar.CellNumber, columnar.CellDate}

// What a column is decided to be does not depend on the loops: rows that are
// looked at together make the same column as rows that are looked at one by one.
func TestLoopsSeeWhatSingleScansSee(t *testing.T) {
	differ := 0
	check := func(kind columnar.CellKind, values ...string) {
		together, alone := New(Options{}), New(Options{})
		together.Block(cellsOf(16, kind, values...))
		for i, text := range values {
			cells := cellsOf(0, kind, text)
			cells.First = int64(i)
			alone.Block(cells)
		}
		got, gotWarnings := together.Decide([]string{"c"}, feedmill.Findings{})
		want, wantWarnings := alone.Decide([]string{"c"}, feedmill.Findings{})
		gotPlan, wantPlan := fmt.Sprintf("%+v", got.plans), fmt.Sprintf("%+v", want.plans)
		if diff := cmp.Diff(want.Columns, got.Columns) + cmp.Diff(wantWarnings, gotWarnings) + cmp.Diff(wantPlan, gotPlan); diff != "" && differ < 5 {
			differ++
			t.Errorf("%q of kind %d (-alone +together):\n%s", values, kind, diff)
		}
	}
	for _, first := range texts {
		for _, second := range texts {
			check(columnar.CellPlain, first, first, second, first)
		}
		for _, kind := range kindsOfText {
			check(kind, first, first, "", first)
		}
	}
}

// target is a column that values are converted to.
type target struct {
	as               columnar.Type
	precision, scale int
	decimals         decimals
	order            order
}

var targets = []target{
	{as: columnar.TypeInteger, decimals: point},
	{as: columnar.TypeInteger, decimals: comma},
	{as: columnar.TypeNumber, decimals: point},
	{as: columnar.TypeBoolean},
	{as: columnar.TypeText},
	{as: columnar.TypeJSON},
	{as: columnar.TypeDecimal, precision: 1, scale: 0, decimals: point},
	{as: columnar.TypeDecimal, precision: 3, scale: 2, decimals: point},
	{as: columnar.TypeDecimal, precision: 4, scale: 3, decimals: comma},
	{as: columnar.TypeDecimal, precision: 7, scale: 6, decimals: point},
	{as: columnar.TypeDecimal, precision: 9, scale: 7, decimals: point},
	{as: columnar.TypeDecimal, precision: 9, scale: 2, decimals: point},
	{as: columnar.TypeDecimal, precision: 18, scale: 1, decimals: point},
	{as: columnar.TypeDecimal, precision: 18, scale: 18, decimals: point},
	{as: columnar.TypeDecimal, precision: 19, scale: 3, decimals: point},
	{as: columnar.TypeDecimal, precision: 38, scale: 0, decimals: point},
	{as: columnar.TypeDecimal, precision: 38, scale: 38, decimals: point},
	{as: columnar.TypeDecimal, precision: 38, scale: 2, decimals: comma},
	{as: columnar.TypeDate},
	{as: columnar.TypeDate, order: dayFirst},
	{as: columnar.TypeDate, order: monthFirst},
	{as: columnar.TypeTimestamp},
	{as: columnar.TypeTimestamp, order: dayFirst},
	{as: columnar.TypeTimestamp, order: monthFirst},
}

// converted is what becomes of cells in a column: a text for each, "misfit" for
// those that do not fit.
func (g target) converted(cells *columnar.Cells) (got []string) {
	s := &Schema{
		Columns: []feedmill.Column{{ID: "c1", Name: "c", Type: g.as, Precision: g.precision, Scale: g.scale}},
		plans:   []plan{{decimals: g.decimals, order: g.order}},
	}
	vectors := make([]columnar.Vector, 1)
	misfits := make(map[int64]bool)
	for _, m := range s.ConvertSorting(cells, vectors) {
		misfits[m.Row] = true
	}
	for row := range cells.Rows {
		text := strings.TrimSuffix(strings.TrimPrefix(sprint([]any{valueOf(&vectors[0], row)}), "["), "]")
		if misfits[int64(row)+1] {
			text = "misfit " + text
		}
		got = append(got, text)
	}
	if err := vectors[0].Check(); err != nil {
		got = append(got, err.Error())
	}
	return got
}

// What becomes of a value depends neither on its place in the data nor on the
// values around it.
func TestConversionDoesNotDependOnThePlace(t *testing.T) {
	for _, kind := range kindsOfText {
		for _, to := range targets {
			var alone []string
			for _, text := range texts {
				alone = append(alone, to.converted(cellsOf(0, kind, text))...)
			}
			for _, padding := range []int{1, 7, 8, 16, 40} {
				if diff := cmp.Diff(alone, to.converted(cellsOf(padding, kind, texts...))); diff != "" {
					t.Errorf("%+v of kind %d behind %d bytes (-alone +together):\n%s", to, kind, padding, diff)
				}
			}
		}
	}
}

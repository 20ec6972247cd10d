package model

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// texts are drawn from a few families, so that columns of one type are as likely
// as mixed ones.
var families = [][]string{
	{"0", "1", "-5", "123456789", "9223372036854775807", "-9223372036854775808", ""},
	{"1.5", "-0.25", "12", "1234567890.123", ".5", "99999999999999999999.5", ""},
	{"123456.25", "-1234567.25", "12345678901234.5", "1234567890123.45", "1234567.250", "1234567", ""},
	{"123456.25", "0123456.25", "123456a.25", "1a34567.25", "1234567..5", "1234567.2x", "1234567.890"},
	{"1e5", "-2.5E-3", "0.1", "7", "1e400", "9007199254740993"},
	{"1,234.56", "1.234,56", "1,5", "1.234", "1,234", "1 234,5", "12", "(5.00)", "$5.00", "5 €", "7%"},
	{"12345", "08553", "77477", "00", "0", "007", "-05", "-5", "012345", "01012026", "20260101", ""},
	{"true", "FALSE", "True", ""},
	{"2026-01-31", "1999-12-31", "2026-02-30", "2024-02-29", ""},
	{"2026-01-31T10:00:00Z", "2026-01-31 10:00", "2026-01-31T10:00:00.123456+02:00", "2026-01-31", ""},
	{"31/12/2026", "01/02/2026", "12/31/2026", "01.02.2026", "01/02/2026 10:00"},
	{"1,200円", "3,400.50円", "12円", "١٢٫٥", "５", "2024年1月5日", "R85.00", "R7", "5 kg", "1.2M", "89,-", "1.019,-", ""},
	{"0x", "5 kg", "100000000000000000.0x", "1234567890.12345          kg", "12 Main Street, Springfield", ""},
	{"x", "007", "+1", " 12 ", "NaN", "-", "1-2", "", "ünï", "5.", "1..2"},
}

func drawTable(t *rapid.T) (rows [][]string, text string) {
	columns := rapid.IntRange(1, 4).Draw(t, "columns")
	count := rapid.IntRange(1, 20).Draw(t, "rows")
	rows = make([][]string, count)
	for range columns {
		values := rapid.SampledFrom(rapid.SampledFrom(families).Draw(t, "family"))
		if rapid.Bool().Draw(t, "numbers") {
			values = drawNumbers(t)
		}
		for row := range rows {
			rows[row] = append(rows[row], values.Draw(t, "value"))
		}
	}
	var out strings.Builder
	out.WriteString(strings.Repeat("c,", columns-1) + "c\n")
	for _, row := range rows {
		for i, value := range row {
			if i > 0 {
				out.WriteByte(',')
			}
			if strings.ContainsAny(value, ",") || rapid.Bool().Draw(t, "quoted") {
				value = `"` + value + `"`
			}
			out.WriteString(value)
		}
		out.WriteByte('\n')
	}
	return rows, out.String()
}

// drawNumbers draws plain numbers of up to so many digits, and now and then what
// is nearly one.
func drawNumbers(t *rapid.T) *rapid.Generator[string] {
	whole := rapid.IntRange(1, 20).Draw(t, "whole")
	scale := rapid.IntRange(0, 9).Draw(t, "scale")
	odd := rapid.SampledFrom([]string{"", "", "", ".", "-", "x"}).Draw(t, "odd")
	return rapid.Custom(func(t *rapid.T) string {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,`+strconv.Itoa(whole-1)+`})`).Draw(t, "digits")
		if scale > 0 && rapid.IntRange(0, 3).Draw(t, "fraction") > 0 {
			text += "." + rapid.StringMatching(`[0-9]{1,`+strconv.Itoa(scale)+`}`).Draw(t, "after")
		}
		if rapid.IntRange(0, 30).Draw(t, "oddly") == 0 {
			text += odd
		}
		return text
	})
}

// However the rows are cut into runs, and in whichever order and by however many
// goroutines they are looked at, the columns are the same.
func TestRunsMerge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		_, text := drawTable(rt)
		names, cells := tableCells(t, text)
		if rapid.Bool().Draw(rt, "strings") { // as those of JSON
			for i, cell := range cells.Cell {
				start, end := cell.Range()
				switch string(cells.Text(cell)) {
				case "true":
					cells.Cell[i] = columnar.NewCell(columnar.CellTrue, int(start), int(start))
				case "false":
					cells.Cell[i] = columnar.NewCell(columnar.CellFalse, int(start), int(start))
				default:
					cells.Cell[i] = columnar.NewCell(columnar.CellString, int(start), int(end))
				}
			}
		}
		whole := New(Options{})
		whole.Block(cells)
		want, wantWarnings := whole.Decide(names, feedmill.Findings{})

		runs := split(cells, rapid.IntRange(1, 5).Draw(rt, "run"))
		rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)).Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		parts := New(Options{})
		var wg sync.WaitGroup
		for _, run := range runs {
			wg.Go(func() { parts.Block(run) })
		}
		wg.Wait()
		got, gotWarnings := parts.Decide(names, feedmill.Findings{})
		if diff := cmp.Diff(want.Columns, got.Columns) + cmp.Diff(wantWarnings, gotWarnings); diff != "" {
			rt.Fatalf("%q in runs differs (-whole +runs):\n%s", text, diff)
		}
	})
}

// TestTruthsMerge holds the loop over true and false to what single cells add up to, with the first rows.
func TestTruthsMerge(t *testing.T) {
	const text = "trueFALSEword"
	all := []columnar.Cell{
		columnar.NewCell(columnar.CellTrue, 0, 0), columnar.NewCell(columnar.CellFalse, 0, 0), columnar.NewCell(columnar.CellNull, 0, 0),
		columnar.NewCell(columnar.CellPlain, 0, 4), columnar.NewCell(columnar.CellQuoted, 4, 9), columnar.NewCell(columnar.CellString, 0, 4),
		columnar.NewCell(columnar.CellString, 9, 13), columnar.NewCell(columnar.CellQuoted, 0, 0),
	}
	rapid.Check(t, func(rt *rapid.T) {
		cells := &columnar.Cells{Columns: 1, Data: []byte(text), Cell: rapid.SliceOfN(rapid.SampledFrom(all), 1, 12).Draw(rt, "cells")}
		cells.Rows = len(cells.Cell)
		tallies := func(runs ...*columnar.Cells) (tallies []tally, nulls int64) {
			inference := New(Options{})
			for _, run := range runs {
				inference.Block(run)
			}
			c := inference.all[0].columns[0]
			return c.tallies[:], c.nulls
		}
		want, wantNulls := tallies(split(cells, 1)...)
		got, gotNulls := tallies(cells)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{}, example{}), cmpopts.EquateEmpty()); diff != "" || gotNulls != wantNulls {
			rt.Fatalf("%d nulls, want %d (-single +loop):\n%s", gotNulls, wantNulls, diff)
		}
	})
}

// Every value has its place in the column that was decided on, exactly.
func TestConversionKeepsEveryValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows, text := drawTable(rt)
		names, cells := tableCells(t, text)
		inference := New(Options{})
		inference.Block(cells)
		schema, _ := inference.Decide(names, feedmill.Findings{})
		vectors := make([]columnar.Vector, len(schema.Columns))
		if err := schema.Convert(cells, vectors); err != nil {
			rt.Fatalf("%q: %v", text, err)
		}
		for i := range vectors {
			v := &vectors[i]
			if err := v.Check(); err != nil {
				rt.Fatal(err)
			}
			for row := range rows {
				source := rows[row][i]
				if v.Null(row) {
					if source != "" && !slices.Contains(usualTokens, strings.TrimSpace(source)) && strings.TrimSpace(source) != "" {
						rt.Fatalf("%q became null", source)
					}
					continue
				}
				if !same(v, row, source, schema.plans[i]) {
					rt.Fatalf("%q became %v in %s", source, valueOf(v, row), typeName(schema.Columns[i]))
				}
			}
		}
	})
}

// same compares a value with its text by other means than those of the package.
func same(v *columnar.Vector, row int, text string, p plan) bool {
	switch v.Type {
	case columnar.TypeText:
		return string(v.Text(row)) == text
	case columnar.TypeNumber:
		want, _ := new(big.Rat).SetString(strings.TrimSpace(text))
		got, _ := new(big.Rat).SetString(strconv.FormatFloat(v.Floats[row], 'g', -1, 64))
		return want.Cmp(got) == 0
	case columnar.TypeInteger, columnar.TypeDecimal:
		got := columnar.Int128{}
		if v.Precision > columnar.NarrowDigits {
			got = v.Wide[row]
		} else {
			got = columnar.Int128Of(v.Ints[row])
		}
		plain := strings.NewReplacer("$", "", "€", "", "%", "", " ", "", "(", "-", ")", "", "円", "", "R", "", "١٢٫٥", "12.5", "５", "5", ",-", "").Replace(text)
		if p.decimals == comma {
			plain = strings.NewReplacer(".", "", ",", ".").Replace(plain)
		} else {
			plain = strings.ReplaceAll(plain, ",", "")
		}
		if behind, ok := strings.CutSuffix(plain, "-"); ok {
			plain = "-" + behind
		}
		want, ok := new(big.Rat).SetString(plain)
		have, _ := new(big.Rat).SetString(got.Decimal(v.Scale))
		return ok && want.Cmp(have) == 0
	case columnar.TypeBoolean:
		return strings.EqualFold(text, strconv.FormatBool(v.Ints[row] == 1))
	case columnar.TypeDate, columnar.TypeTimestamp:
		layouts := []string{time.DateOnly, time.RFC3339Nano, "2006-01-02 15:04", "2006年1月2日", "02/01/2006", "02/01/2006 15:04", "02.01.2006"}
		if p.order == monthFirst {
			layouts = []string{"01/02/2006", "01/02/2006 15:04", "01.02.2006"}
		}
		for _, layout := range layouts {
			if at, err := time.Parse(layout, text); err == nil {
				if v.Type == columnar.TypeDate {
					return at.Unix() == v.Ints[row]*24*3600
				}
				return at.UnixMicro() == v.Ints[row]
			}
		}
	}
	return false
}

// FuzzNumber holds numbers against those of math/big.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1", "-1.5", "1e5", "0.10", "00", ".5", "5.", "1,234", "12345678901234567890", "0x10", "1_0", "inf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := newNullTokens("")
		v := tokens.classify(columnar.CellPlain, []byte(text))
		if len(text) > 60 || strings.ContainsFunc(text, isForeign) {
			return
		}
		switch v.shape {
		case shapeExponent:
			if _, err := strconv.ParseFloat(strings.Trim(text, " \u00a0\u202f"), 64); err != nil && !errors.Is(err, strconv.ErrRange) {
				t.Fatalf("%q: %v", text, err)
			}
		case shapeInteger, shapeDecimal:
			rat, ok := new(big.Rat).SetString(strings.Trim(text, " \u00a0\u202f"))
			if !ok {
				t.Fatalf("%q is no number", text)
			}
			c := converter{plan: plan{decimals: point}, cells: &columnar.Cells{Data: []byte(text)}}
			digits, negative, ok := c.exact(columnar.NewCell(columnar.CellPlain, 0, len(text)), v.amount.point.scale)
			if v.amount.point.whole+v.amount.point.scale > columnar.WideDigits {
				return
			}
			if !ok {
				t.Fatalf("%q has no digits", text)
			}
			if negative {
				digits = digits.Neg()
			}
			if got, _ := new(big.Rat).SetString(digits.Decimal(v.amount.point.scale)); got.Cmp(rat) != 0 {
				t.Fatalf("%q is read as %s", text, digits.Decimal(v.amount.point.scale))
			}
		}
	})
}

// FuzzMoment holds times against those of package time.
func FuzzMoment(f *testing.F) {
	for _, seed := range []string{"2026-11-15", "2026-02-29", "2026-11-15T12:00:00Z", "2026-11-15T12:00:00.123456-05:30", "2026-11-15 12:00", "0000-01-01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			if want, err = time.Parse(time.DateOnly, text); err != nil {
				return
			}
		}
		m, ok := parseMoment([]byte(text), 0, len(text))
		if want.Year() < 1 || strings.Contains(text, ",") || len(text) > 12 && text[12] == ':' {
			return // package time is more lenient
		}
		if _, offset := want.Zone(); offset > 18*3600+59*60 || offset < -(18*3600+59*60) {
			return
		}
		if !ok {
			t.Fatalf("%q is not read", text)
		}
		if got := m.unix(nil); got != want.UnixMicro() && !m.overrun {
			t.Fatalf("%q is read as %v", text, time.UnixMicro(got).UTC())
		}
	})
}

// FuzzColumn models lines as the values of one column: none may be lost on the
// way, whatever they are.
func FuzzColumn(f *testing.F) {
	for _, family := range families {
		for kind := columnar.CellPlain; kind <= columnar.CellString; kind++ {
			f.Add(strings.Join(family, "\n"), uint8(kind))
		}
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		if kind < uint8(columnar.CellPlain) || kind > uint8(columnar.CellString) || len(text) > 1<<12 {
			return
		}
		lines := strings.Split(text, "\n")
		cells := &columnar.Cells{Rows: len(lines), Columns: 1}
		for _, line := range lines {
			start := len(cells.Data)
			cells.Data = append(cells.Data, line...)
			cells.Cell = append(cells.Cell, columnar.NewCell(columnar.CellKind(kind), start, len(cells.Data)))
		}
		inference := New(Options{})
		for _, run := range split(cells, 5) {
			inference.Block(run)
		}
		schema, _ := inference.Decide([]string{"a"}, feedmill.Findings{})
		vectors := make([]columnar.Vector, 1)
		if err := schema.Convert(cells, vectors); err != nil {
			t.Fatalf("%q as %s: %v", text, typeName(schema.Columns[0]), err)
		}
		if err := vectors[0].Check(); err != nil {
			t.Fatal(err)
		}
		for row, line := range lines {
			null := vectors[0].Null(row)
			if null != (line == "" && (kind == uint8(columnar.CellPlain) || schema.Columns[0].Type != columnar.TypeText)) {
				t.Fatalf("%q is null: %v", line, null)
			}
			if !null && schema.Columns[0].Type == columnar.TypeText && string(vectors[0].Text(row)) != line {
				t.Fatalf("%q became %q", line, vectors[0].Text(row))
			}
		}
	})
}

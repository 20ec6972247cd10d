package model

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// A column that proves nothing by itself is read as the others prove, or as somebody
// has set, or as the data before was.
func TestWhatProvesHowAColumnIsRead(t *testing.T) {
	set := func(decimal, dates string) Options {
		return Options{Set: feedmill.ReadingOptions{Decimal: decimal, Dates: dates}}
	}
	before := func(proven bool) Options {
		return Options{Before: feedmill.Findings{Decimal: feedmill.Found(",", proven), Dates: feedmill.Found("mdy", proven)}}
	}
	const number, day = `"1,234"`, "01/02/2026"
	for _, c := range []struct {
		options Options
		row     string
		want    string // the type of the first column, its format and its warnings
	}{
		{Options{}, number, "text ambiguous-number"},
		{Options{}, number + `,"1,234.5"`, "integer assumed-locale"},
		{Options{}, number + `,"1,5"`, "decimal(4,3) assumed-locale"},
		{Options{}, number + `,"1,5",0.5`, "text ambiguous-number"},
		{Options{}, number + `,1.5e3`, "text ambiguous-number"},
		{set(".", ""), number, "integer"},
		{set(",", ""), number, "decimal(4,3)"},
		{set(",", ""), "1.5", "text ambiguous-number"},
		{before(true), number, "decimal(4,3) assumed-locale"},
		{before(false), number, "text ambiguous-number"},
		{before(true), number + `,"1,234.5"`, "integer assumed-locale"},
		{Options{}, day, "text ambiguous-date"},
		{Options{}, day + ",31/12/2026", "date dd/mm/yyyy assumed-date-order"},
		{Options{}, day + ",12/31/2026", "date mm/dd/yyyy assumed-date-order"},
		{Options{}, day + ",31/12/2026,12/31/2026", "text ambiguous-date"},
		{Options{}, day + ",31.12.2026", "text ambiguous-date"},
		{set("", "dmy"), day, "date dd/mm/yyyy"},
		{set("", "mdy"), day + ",31/12/2026", "date mm/dd/yyyy"},
		{before(true), day, "date mm/dd/yyyy assumed-date-order"},
		{before(false), day, "text ambiguous-date"},
		{before(true), day + ",31/12/2026,12/31/2026", "text ambiguous-date"},
	} {
		names, cells := tableCells(t, "a,b,c\n"+c.row+"\n")
		inference := New(c.options)
		inference.Block(cells)
		schema, warnings := inference.Decide(names, feedmill.Findings{})
		got := strings.TrimSpace(typeName(schema.Columns[0]) + " " + schema.Columns[0].Format)
		for _, w := range warnings {
			if w.Column == schema.Columns[0].Name {
				got += " " + w.Code
			}
		}
		if got != c.want {
			t.Errorf("%s with %+v is %q, want %q", c.row, c.options, got, c.want)
		}
	}
}

// An order of dates that was set decides over what the values of a column say.
func TestRetypeByTheOrderThatWasSet(t *testing.T) {
	for set, want := range map[string]string{"": "2026-12-31", "dmy": "2026-12-31", "mdy": "misfit"} {
		names, cells := tableCells(t, "d\n31/12/2026\nx\n")
		inference := New(Options{Set: feedmill.ReadingOptions{Dates: set}})
		inference.Block(cells)
		schema, _ := inference.Decide(names, feedmill.Findings{})
		retype(t, schema, cells, columnar.TypeDate)
		vectors := make([]columnar.Vector, 1)
		got := "misfit"
		if misfits := schema.ConvertSorting(cells, vectors); len(misfits) == 1 {
			got = valueOf(&vectors[0], 0).(string)
		}
		if got != want {
			t.Errorf("with %q it is %s, want %s", set, got, want)
		}
	}
}

// What is no decimal has no digits to count.
func TestRetypeFromADecimal(t *testing.T) {
	schema, cells := schemaOf(t, "n\n1.50\n2.25\n")
	retype(t, schema, cells, columnar.TypeNumber)
	if c := schema.Columns[0]; c.Type != columnar.TypeNumber || c.Precision != 0 || c.Scale != 0 {
		t.Errorf("it is %s of %d digits, %d of them behind the point", c.Type, c.Precision, c.Scale)
	}
}

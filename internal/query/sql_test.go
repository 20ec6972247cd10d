package query_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// plain is a dialect with nothing of its own.
type plain struct{ query.Standard }

func (plain) Placeholder(n int) string { return fmt.Sprint("$", n) }
func (plain) Value(_ query.Column, v query.Value, bind func(string) string) string {
	switch v := v.(type) {
	case time.Time:
		return bind(v.Format(time.RFC3339))
	case *big.Rat:
		return bind(query.DecimalText(v))
	}
	return bind(fmt.Sprint(v))
}

func (d plain) Compare(p query.Compare, column string, bind func(string) string) string {
	return column + " " + string(p.Comparison) + " " + d.Value(p.Column, p.Value, bind)
}
func (plain) IsEmpty(_ query.Column, column string) string { return column + " IS EMPTY" }
func (plain) Match(op feedmill.FilterOp, column, text string, caseSensitive bool) string {
	return fmt.Sprint(column, " ", op, " ", text, " ", caseSensitive)
}

func (plain) Aggregate(fn feedmill.Aggregate, column string) string {
	return string(fn) + "(" + column + ")"
}

func (plain) Period(c *query.Calendar, _ query.Column, column string) string {
	return string(c.Unit) + "(" + column + ")"
}

// without is one whose texts have no NUL, and particular one that compares and matches
// in its own way.
type (
	without    struct{ plain }
	particular struct{ plain }
)

func (without) NoNUL() bool { return true }
func (particular) Compare(p query.Compare, column string, bind func(string) string) string {
	return fmt.Sprint("compare(", column, p.Comparison, bind(p.Value.(string)), ")")
}
func (particular) IsNull(_ query.Column, column string) string  { return "none(" + column + ")" }
func (particular) NotNull(_ query.Column, column string) string { return "some(" + column + ")" }
func (particular) MatchText(m query.Match) string               { return "%" + m.Text + "%" }

// TestWriter says what all dialects have in common.
func TestWriter(t *testing.T) {
	column := func(as columnar.Type) query.Column { return query.Column{Column: &feedmill.Column{Type: as}} }
	text, day, stamp := column(columnar.TypeText), column(columnar.TypeDate), column(columnar.TypeTimestamp)
	year := func(n int) time.Time { return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC) }
	inParis := func(n int) time.Time { return time.Date(n, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)) }
	compare := func(of query.Column, c query.Comparison, v query.Value) query.Predicate {
		return query.Compare{Column: of, Comparison: c, Value: v}
	}
	match := query.Match{Column: text, Op: feedmill.OpContains, Text: "a", CaseSensitive: true}
	withNUL := query.Match{Column: text, Op: feedmill.OpContains, Text: "a\x00"}
	anyValue := query.Not{Predicate: query.IsNull{Column: day}}
	const all, none = "(c IS NULL) IS NOT TRUE", "FALSE"
	for i, c := range []struct {
		dialect   query.Dialect
		predicate query.Predicate
		want      string // with the bound values behind it
	}{
		{plain{}, query.All{}, "TRUE"},
		{plain{}, query.Any{}, "FALSE"},
		{plain{}, query.All{match}, "c contains $1 true|a"},
		{plain{}, query.Any{match, query.IsEmpty{Column: text}}, "(c contains $1 true) OR (c IS EMPTY)|a"},
		{plain{}, query.All{match, anyValue}, "(c contains $1 true) AND (" + all + ")|a"},
		{plain{}, query.Range{Column: stamp, From: year(2026), To: year(2027)}, "(c >= $1) AND (c < $2)|2026-01-01T00:00:00Z|2027-01-01T00:00:00Z"},
		{particular{}, query.IsNull{Column: text}, "none(c)"},
		{particular{}, query.Not{Predicate: query.IsNull{Column: text}}, "some(c)"},
		{particular{}, match, "c contains $1 true|%a%"},
		{particular{}, compare(text, query.Equal, "a"), "compare(c=$1)|a"},
		// Every value of a column is from a year between 1 and 9999.
		{plain{}, compare(day, query.Greater, year(0)), all},
		{plain{}, compare(day, query.GreaterOrEqual, year(0)), all},
		{plain{}, compare(day, query.Less, year(0)), none},
		{plain{}, compare(day, query.LessOrEqual, year(0)), none},
		{plain{}, compare(day, query.Equal, year(0)), none},
		{plain{}, compare(day, query.Greater, year(10000)), none},
		{plain{}, compare(day, query.GreaterOrEqual, year(10000)), none},
		{plain{}, compare(day, query.Less, year(10000)), all},
		{plain{}, compare(day, query.LessOrEqual, year(10000)), all},
		{plain{}, compare(day, query.Equal, year(10000)), none},
		{plain{}, compare(day, query.Greater, year(1)), "c > $1|0001-01-01T00:00:00Z"},
		{plain{}, compare(day, query.Less, year(9999)), "c < $1|9999-01-01T00:00:00Z"},
		// The year of a timestamp is that in UTC, and that of a date is where it is.
		{plain{}, compare(stamp, query.Less, inParis(10000)), "c < $1|10000-01-01T00:00:00+01:00"},
		{plain{}, compare(day, query.Less, inParis(10000)), all},
		// No text has NUL: none is equal to one that does, and what comes after it goes
		// on from where the NUL is.
		{plain{}, compare(text, query.Equal, "a\x00b"), "c = $1|a\x00b"},
		{without{}, compare(text, query.Equal, "a\x00b"), none},
		{without{}, compare(text, query.Greater, "a\x00b"), "c > $1|a"},
		{without{}, compare(text, query.GreaterOrEqual, "a\x00b"), "c > $1|a"},
		{without{}, compare(text, query.Less, "a\x00b"), "c <= $1|a"},
		{without{}, compare(text, query.LessOrEqual, "a\x00b"), "c <= $1|a"},
		{without{}, compare(text, query.Equal, "a"), "c = $1|a"},
		{without{}, withNUL, none},
		{without{}, match, "c contains $1 true|a"},
	} {
		w := query.NewWriter(c.dialect, func(query.Column) string { return "c" })
		got := strings.Join(append([]string{w.Predicate(c.predicate)}, w.Args()...), "|")
		if got != c.want {
			t.Errorf("%d: %+v is %q, want %q", i, c.predicate, got, c.want)
		}
	}
}

// Numbers are compared with what a column can hold.
func TestBoundsOfNumbers(t *testing.T) {
	integer := feedmill.Column{Name: "n", Type: columnar.TypeInteger}
	decimal := feedmill.Column{Name: "n", Type: columnar.TypeDecimal, Precision: 3, Scale: 1}
	endless := feedmill.Column{Name: "n", Type: columnar.TypeDecimal}
	const all, none = "(n IS NULL) IS NOT TRUE", "FALSE"
	for _, c := range []struct {
		column feedmill.Column
		op     feedmill.FilterOp
		value  string
		want   string
	}{
		{integer, feedmill.OpGte, "-9223372036854775808", "n >= -9223372036854775808"},
		{integer, feedmill.OpGte, "-9223372036854775809", all},
		{integer, feedmill.OpLt, "-9223372036854775809", none},
		{integer, feedmill.OpLte, "9223372036854775807", "n <= 9223372036854775807"},
		{integer, feedmill.OpLte, "9223372036854775808", all},
		{integer, feedmill.OpGt, "9223372036854775808", none},
		{integer, feedmill.OpGte, "0.5", "n >= 1"},
		{integer, feedmill.OpGt, "0.5", "n > 0"},
		{integer, feedmill.OpLt, "-0.5", "n < 0"},
		{integer, feedmill.OpLte, "-0.5", "n <= -1"},
		{decimal, feedmill.OpLte, "99.9", "n <= 99.9"},
		{decimal, feedmill.OpLte, "100", all},
		{decimal, feedmill.OpGte, "-99.9", "n >= -99.9"},
		{decimal, feedmill.OpGte, "-100", all},
		{decimal, feedmill.OpGt, "1.25", "n > 1.2"},
		{decimal, feedmill.OpGte, "1.25", "n >= 1.3"},
		{endless, feedmill.OpGte, "1.25", "n >= 1.25"},
		{endless, feedmill.OpLte, "1e40", "n <= 1" + strings.Repeat("0", 40)},
	} {
		tree, found := query.Resolve(feedmill.Query{Where: []feedmill.Condition{{
			Name: "n", Filters: []feedmill.Filter{{Op: c.op, Values: values(c.value)}},
		}}}, []feedmill.Column{c.column})
		if err := found.Err(); err != nil {
			t.Errorf("%s %s: %v", c.op, c.value, err)
			continue
		}
		w := query.NewWriter(plain{}, func(of query.Column) string { return of.Name })
		got := w.Predicate(tree.Where)
		for i, arg := range w.Args() {
			got = strings.Replace(got, fmt.Sprint("$", i+1), arg, 1)
		}
		if got != c.want {
			t.Errorf("%s %s on %s is %q, want %q", c.op, c.value, c.column.Type, got, c.want)
		}
	}
}

// A tree needs the columns that it gives, sorts by, filters and tells the latest of,
// and takes over what becomes known of them.
func TestColumnsOfATree(t *testing.T) {
	tree, found := query.Resolve(feedmill.Query{
		Fields: []feedmill.Field{{Name: "status"}, {Name: "items", FilterOnly: true}},
		Where:  []feedmill.Condition{{Name: "items", Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: values("1")}}}},
		Sort:   []feedmill.Sort{{Name: "day"}},
		Since:  &feedmill.Since{Field: "at"},
	}, orders)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	var gives, tests []string
	for i, c := range orders {
		if tree.Gives(i) {
			gives = append(gives, c.Name)
		}
		if tree.Tests(i) {
			tests = append(tests, c.Name)
		}
	}
	if fmt.Sprint(gives, tests) != "[status day at] [items]" {
		t.Errorf("it gives %v and tests %v", gives, tests)
	}
	later := make([]feedmill.Column, len(orders))
	for i := range later {
		later[i] = feedmill.Column{Name: "later " + orders[i].Name, Type: orders[i].Type}
	}
	over := tree.Over(later)
	w := query.NewWriter(plain{}, func(of query.Column) string { return of.Name })
	got := fmt.Sprint(over.Outputs[0].Column.Name, ", ", over.Sort[0].Column.Name, ", ", over.Latest.Name, ", ", w.Predicate(over.Where))
	if got != "later status, later day, later at, later items > $1" || tree.Latest.Name != "at" {
		t.Errorf("over later columns it is about %s", got)
	}
}

// A sum has room for all of its digits.
func TestTypesOfAggregates(t *testing.T) {
	for _, c := range []struct {
		column feedmill.Column
		fn     feedmill.Aggregate
		want   string
	}{
		{orders[2], feedmill.AggregateSum, "decimal(38,0) true"},
		{orders[1], feedmill.AggregateSum, "decimal(38,2) true"},
		{feedmill.Column{Type: columnar.TypeDecimal}, feedmill.AggregateSum, "decimal(0,0) true"},
		{orders[7], feedmill.AggregateSum, "number(0,0) true"},
		{orders[1], feedmill.AggregateMin, "decimal(10,2) true"},
		{orders[1], feedmill.AggregateAvg, "number(0,0) true"},
		{orders[1], feedmill.AggregateCount, "integer(0,0) false"},
		{orders[1], feedmill.AggregateCountDistinct, "integer(0,0) false"},
		{orders[1], "", "decimal(10,2) false"},
	} {
		got := query.Expression{Column: query.Column{Column: &c.column}, Aggregate: c.fn}.Type()
		if text := fmt.Sprintf("%s(%d,%d) %v", got.Type, got.Precision, got.Scale, got.Nullable); text != c.want {
			t.Errorf("%s of %s is %s, want %s", c.fn, c.column.Type, text, c.want)
		}
	}
}

package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
)

var (
	now    = time.Date(2024, 2, 29, 12, 30, 0, 500_000_000, time.UTC)
	berlin = time.FixedZone("", 3600)
)

// The rows that a filter lets through are those that a plain evaluation finds,
// and with its inverse it splits the rows in two.
func TestFiltersAgreeWithPlainEvaluation(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(0, 40).Draw(t, "rows"))
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		for range 4 {
			q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Now: now, WeekStart: time.Monday, Zone: rapid.SampledFrom([]*time.Location{nil, berlin}).Draw(t, "zone")}
			for range rapid.IntRange(1, 2).Draw(t, "conditions") {
				q.Where = append(q.Where, drawCondition(t))
			}
			var want []string
			for _, row := range in.rows {
				if in.passes(&q, row) {
					want = append(want, row[0].(*big.Rat).RatString())
				}
			}
			if got := ids(t, read(t, r, v, q, wire.FormatNDJSON)); !slices.Equal(got, want) {
				t.Fatalf("%+v\nlets through %v, want %v", q.Where, got, want)
			}
		}
	})
}

func TestFilterAndItsInverseSplitTheRows(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, 30)
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		for range 5 {
			c := drawCondition(t)
			c.Filters = c.Filters[:1]
			q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Now: now, Where: []feedmill.Condition{c}}
			all := ids(t, read(t, r, v, q, wire.FormatNDJSON))
			f := c.Filters[0]
			f.Inverted = !f.Inverted
			q.Where = []feedmill.Condition{{Name: c.Name, Filters: []feedmill.Filter{f}}}
			all = append(all, ids(t, read(t, r, v, q, wire.FormatNDJSON))...)
			slices.Sort(all)
			if len(all) != 30 || len(slices.Compact(all)) != 30 {
				t.Fatalf("%+v and its inverse let through %v", c, all)
			}
		}
	})
}

// For every operator and type, a filter and its inverse split the rows in two.
func TestEveryOperatorSplitsTheRows(t *testing.T) {
	r, store := reader(t)
	const rows = 60
	in := rapid.Custom(func(t *rapid.T) *table { return drawTable(t, rows) }).Example(1)
	v := in.write(t, store, "t.parquet")
	for _, c := range kinds {
		for _, op := range query.Operators(c.Type) {
			f := rapid.Custom(func(t *rapid.T) feedmill.Filter { return drawFilter(t, &c, op) }).Example(1)
			passed := make(map[bool][]string)
			for _, inverted := range []bool{false, true} {
				f.Inverted = inverted
				q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Now: now, Where: []feedmill.Condition{{Name: c.Name, Filters: []feedmill.Filter{f}}}}
				passed[inverted] = ids(t, read(t, r, v, q, wire.FormatNDJSON))
			}
			all := slices.Concat(passed[false], passed[true])
			slices.Sort(all)
			if len(all) != rows || len(slices.Compact(all)) != rows {
				t.Errorf("%s of %s passes %v, inverted %v", op, c.Name, passed[false], passed[true])
			}
		}
	}
}

// Pages of any size are the whole in the right order, without gap or overlap.
func TestPagesAreTheWhole(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(0, 40).Draw(t, "rows"))
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Now: now, WeekStart: time.Monday}
		for range rapid.IntRange(0, 3).Draw(t, "keys") {
			c := rapid.SampledFrom(kinds[:len(kinds)-1]).Draw(t, "key")
			q.Sort = append(q.Sort, feedmill.Sort{Name: c.Name, Descending: rapid.Bool().Draw(t, "descending")})
		}
		if rapid.Bool().Draw(t, "filtered") {
			q.Where = append(q.Where, drawCondition(t))
		}
		rows := slices.DeleteFunc(slices.Clone(in.rows), func(row []cell) bool { return !in.passes(&q, row) })
		slices.SortStableFunc(rows, func(a, b []cell) int { return in.order(&q, a, b) })
		var want []string
		for _, row := range rows {
			want = append(want, row[0].(*big.Rat).RatString())
		}
		q.Limit = rapid.Int64Range(1, 12).Draw(t, "limit")
		var got []string
		var after *lake.Cursor
		for {
			var out strings.Builder
			page, err := r.Read(context.Background(), v, q, wire.FormatNDJSON, after, &out)
			if err != nil {
				t.Fatal(err)
			}
			part := ids(t, out.String())
			if int64(len(part)) != page.Rows || page.Rows > q.Limit {
				t.Fatalf("%d rows in a page of %d, limit %d", len(part), page.Rows, q.Limit)
			}
			got = append(got, part...)
			if page.Next == nil {
				break
			}
			if after, err = lake.ParseCursor(page.Next.String()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v\ngives %v, want %v", q, got, want)
		}
	})
}

func ids(t failer, ndjson string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(ndjson) {
		var row struct{ ID json.Number }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, row.ID.String())
	}
	return out
}

func drawCondition(t *rapid.T) feedmill.Condition {
	c := rapid.SampledFrom(kinds).Draw(t, "column")
	out := feedmill.Condition{Name: c.Name, Any: rapid.Bool().Draw(t, "any")}
	for range rapid.IntRange(1, 3).Draw(t, "filters") {
		out.Filters = append(out.Filters, drawFilter(t, &c, rapid.SampledFrom(query.Operators(c.Type)).Draw(t, "op")))
	}
	return out
}

func drawFilter(t *rapid.T, c *feedmill.Column, op feedmill.FilterOp) feedmill.Filter {
	f := feedmill.Filter{Op: op, Inverted: rapid.Bool().Draw(t, "inverted"), CaseSensitive: rapid.Bool().Draw(t, "case")}
	for range arity(t, op) {
		f.Values = append(f.Values, drawValue(t, c, op))
	}
	return f
}

func arity(t *rapid.T, op feedmill.FilterOp) int {
	switch op {
	case feedmill.OpIsNull, feedmill.OpIsEmpty, feedmill.OpIsTrue, feedmill.OpIsFalse:
		return 0
	case feedmill.OpBetween:
		return 2
	case feedmill.OpEq, feedmill.OpContains, feedmill.OpStartsWith, feedmill.OpEndsWith:
		return rapid.IntRange(1, 3).Draw(t, "values")
	}
	return 1
}

func drawValue(t *rapid.T, c *feedmill.Column, op feedmill.FilterOp) feedmill.FilterValue {
	switch op {
	case feedmill.OpMatches:
		return feedmill.FilterValue{Text: firstOf([]string{"^a", "b$", "", "(?i)É", ".y", `\d+%`, "^$", "[[:upper:]]"}).Draw(t, "expression")}
	case feedmill.OpLast, feedmill.OpNext, feedmill.OpCurrent, feedmill.OpToDate:
		units := []feedmill.PeriodUnit{feedmill.UnitDay, feedmill.UnitWeek, feedmill.UnitMonth, feedmill.UnitQuarter, feedmill.UnitYear}
		if c.Type == columnar.TypeTimestamp {
			units = append(units, feedmill.UnitMinute, feedmill.UnitHour)
		}
		return feedmill.FilterValue{Period: &feedmill.Period{
			N: rapid.IntRange(1, 30).Draw(t, "n"), Unit: rapid.SampledFrom(units).Draw(t, "unit"), IncludeCurrent: rapid.Bool().Draw(t, "current"),
		}}
	case feedmill.OpEq:
		if presence.Draw(t, "null") == 0 {
			return feedmill.FilterValue{Null: true}
		}
	}
	words := texts
	switch c.Type {
	case columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber:
		words = numbers
	case columnar.TypeBoolean:
		words = []string{"true", "false"}
	case columnar.TypeDate:
		words = days
	case columnar.TypeTimestamp:
		words = slices.Concat(days, moments, []string{"2024-02-29T00:00:00+01:00", "2024-02-29T13:30:00.5"})
	}
	return feedmill.FilterValue{Text: firstOf(words).Draw(t, "value")}
}

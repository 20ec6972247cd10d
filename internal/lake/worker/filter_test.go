package worker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
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

// Pages of any size are the whole in the right order, without gap or overlap.
func TestPagesAreTheWhole(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(0, 40).Draw(t, "rows"))
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Now: now}
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
		f := feedmill.Filter{
			Op:            rapid.SampledFrom(query.Operators(c.Type)).Draw(t, "op"),
			Inverted:      rapid.Bool().Draw(t, "inverted"),
			CaseSensitive: rapid.Bool().Draw(t, "case"),
		}
		for range arity(t, f.Op) {
			f.Values = append(f.Values, drawValue(t, &c, f.Op))
		}
		out.Filters = append(out.Filters, f)
	}
	return out
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

// passes evaluates the conditions of a query on a row.
func (t *table) passes(q *feedmill.Query, row []cell) bool {
	for _, c := range q.Where {
		i := t.index(c.Name)
		passed := func(f feedmill.Filter) bool { return holds(q, &t.columns[i], f, row[i]) != f.Inverted }
		failed := func(f feedmill.Filter) bool { return !passed(f) }
		if c.Any && !slices.ContainsFunc(c.Filters, passed) || !c.Any && slices.ContainsFunc(c.Filters, failed) {
			return false
		}
	}
	return true
}

func (t *table) index(name string) int {
	return slices.IndexFunc(t.columns, func(c feedmill.Column) bool { return c.Name == name })
}

// order compares rows by the keys of a query, nulls last.
func (t *table) order(q *feedmill.Query, a, b []cell) int {
	for _, s := range q.Sort {
		i := t.index(s.Name)
		switch {
		case a[i] == nil && b[i] == nil:
			continue
		case a[i] == nil:
			return 1
		case b[i] == nil:
			return -1
		}
		if c := compare(a[i], b[i]); c != 0 {
			if s.Descending {
				return -c
			}
			return c
		}
	}
	return 0
}

func compare(a, b cell) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case float64:
		b := b.(float64)
		// As in SQL, what is not a number is greater than all that are.
		return cmp.Or(cmp.Compare(btoi(math.IsNaN(a)), btoi(math.IsNaN(b))), cmp.Compare(a, b))
	case bool:
		return cmp.Compare(btoi(a), btoi(b.(bool)))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	return strings.Compare(a.(string), b.(string))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// holds evaluates a filter that is not inverted.
func holds(q *feedmill.Query, c *feedmill.Column, f feedmill.Filter, value cell) bool {
	if value == nil {
		return f.Op == feedmill.OpIsNull || f.Op == feedmill.OpIsEmpty ||
			f.Op == feedmill.OpEq && slices.ContainsFunc(f.Values, func(v feedmill.FilterValue) bool { return v.Null })
	}
	zone := cmp.Or(q.Zone, time.UTC)
	than := func(i int) int {
		other := parse(c, f.Values[i].Text, zone)
		if n, ok := value.(float64); ok {
			exact, _ := other.(*big.Rat).Float64()
			return compare(n, exact)
		}
		return compare(value, other)
	}
	text, _ := value.(string)
	part := func(test func(whole, part string) bool) bool {
		return slices.ContainsFunc(f.Values, func(v feedmill.FilterValue) bool {
			if f.CaseSensitive {
				return test(text, v.Text)
			}
			return test(strings.ToLower(text), strings.ToLower(v.Text))
		})
	}
	switch f.Op {
	case feedmill.OpIsNull:
		return false
	case feedmill.OpIsEmpty:
		return c.Type == columnar.TypeText && text == "" || c.Type == columnar.TypeJSON && slices.Contains(jsons[:3], text)
	case feedmill.OpIsTrue:
		return value.(bool)
	case feedmill.OpIsFalse:
		return !value.(bool)
	case feedmill.OpEq:
		for i, v := range f.Values {
			if !v.Null && than(i) == 0 {
				return true
			}
		}
		return false
	case feedmill.OpContains:
		return part(strings.Contains)
	case feedmill.OpStartsWith:
		return part(strings.HasPrefix)
	case feedmill.OpEndsWith:
		return part(strings.HasSuffix)
	case feedmill.OpMatches:
		return regexp.MustCompile(f.Values[0].Text).MatchString(text)
	case feedmill.OpGt:
		return than(0) > 0
	case feedmill.OpGte:
		return than(0) >= 0
	case feedmill.OpLt:
		return than(0) < 0
	case feedmill.OpLte:
		return than(0) <= 0
	case feedmill.OpBetween:
		if c.Type == columnar.TypeTimestamp && len(f.Values[1].Text) == len(time.DateOnly) {
			day := parse(c, f.Values[1].Text, zone).(time.Time)
			return than(0) >= 0 && value.(time.Time).Before(day.AddDate(0, 0, 1))
		}
		return than(0) >= 0 && than(1) <= 0
	}
	return within(c, f, value.(time.Time), zone)
}

func parse(c *feedmill.Column, text string, zone *time.Location) cell {
	switch c.Type {
	case columnar.TypeText:
		return text
	case columnar.TypeBoolean:
		return text == "true"
	case columnar.TypeDate:
		return moment(text)
	case columnar.TypeTimestamp:
		for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05"} {
			if t, err := time.ParseInLocation(layout, text, zone); err == nil {
				return t
			}
		}
		return moment(text)
	}
	n, _ := new(big.Rat).SetString(text)
	return n
}

// within walks from the current unit to the unit of a value, one at a time.
func within(c *feedmill.Column, f feedmill.Filter, value time.Time, zone *time.Location) bool {
	p := f.Values[0].Period
	at := now.In(zone)
	local := value.In(zone)
	if c.Type == columnar.TypeDate {
		local = time.Date(value.Year(), value.Month(), value.Day(), 0, 0, 0, 0, zone)
	}
	distance := number(local, p.Unit) - number(at, p.Unit)
	switch f.Op {
	case feedmill.OpCurrent:
		return distance == 0
	case feedmill.OpToDate:
		if c.Type == columnar.TypeDate {
			return distance == 0 && number(local, feedmill.UnitDay) <= number(at, feedmill.UnitDay)
		}
		return distance == 0 && !local.After(at)
	case feedmill.OpLast:
		distance = -distance
	}
	return distance >= 1 && distance <= p.N || p.IncludeCurrent && distance == 0
}

// number counts the units until a time, from some beginning.
func number(t time.Time, unit feedmill.PeriodUnit) int {
	_, offset := t.Zone()
	seconds := t.Unix() + int64(offset)
	day := int(math.Floor(float64(seconds) / 86400))
	switch unit {
	case feedmill.UnitMinute:
		return int(math.Floor(float64(seconds) / 60))
	case feedmill.UnitHour:
		return int(math.Floor(float64(seconds) / 3600))
	case feedmill.UnitDay:
		return day
	case feedmill.UnitWeek:
		return int(math.Floor(float64(day+3) / 7)) // 1970 began on a Thursday
	case feedmill.UnitMonth:
		return t.Year()*12 + int(t.Month())
	case feedmill.UnitQuarter:
		return t.Year()*4 + (int(t.Month())-1)/3
	}
	return t.Year()
}

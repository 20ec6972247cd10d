package lake

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

var orders = &Version{Blob: "v1", Columns: []feedmill.Column{
	{Name: "status", Type: columnar.TypeText},
	{Name: "amount", Type: columnar.TypeDecimal, Precision: 10, Scale: 2},
	{Name: "items", Type: columnar.TypeInteger},
	{Name: "paid", Type: columnar.TypeBoolean},
	{Name: "day", Type: columnar.TypeDate},
	{Name: "at", Type: columnar.TypeTimestamp},
	{Name: "extra", Type: columnar.TypeJSON},
}}

func values(texts ...string) []feedmill.FilterValue {
	var out []feedmill.FilterValue
	for _, t := range texts {
		out = append(out, feedmill.FilterValue{Text: t})
	}
	return out
}

func TestPlan(t *testing.T) {
	q := feedmill.Query{
		Fields: []feedmill.Field{{Name: "items"}, {Name: "status", As: "state"}},
		Where: []feedmill.Condition{
			{Name: "status", Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: values("it's")}}},
			{Name: "amount", Any: true, Filters: []feedmill.Filter{
				{Op: feedmill.OpGt, Values: values("1.005")},
				{Op: feedmill.OpIsNull, Inverted: true},
			}},
			{Name: "day"},
		},
		Limit: 10,
	}
	key := "41"
	after := NextPage(orders, &q, []*string{&key})
	got, err := Plan(orders, "a/it's.parquet", q, wire.FormatCSV, &after)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Request{
		SQL: "SELECT f0, f1, rn FROM (SELECT c2 AS f0, c0 AS f1, nr AS rn" +
			" FROM read_parquet('a/it''s.parquet', file_row_number = true) AS t(c0, c1, c2, c3, c4, c5, c6, nr)" +
			" WHERE ((c0 = $1)) AND ((c1 > CAST($2 AS DECIMAL(10,2))) OR ((c1 IS NULL) IS NOT TRUE)))" +
			" WHERE ((rn > CAST($3 AS BIGINT))) LIMIT 11",
		Args:  []string{"it's", "1.00", "41"},
		Names: []string{"items", "state"}, Format: wire.FormatCSV, Limit: 10,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlanListsAllFaults(t *testing.T) {
	at := func(pointer string) feedmill.Fault { return feedmill.Fault{Pointer: pointer} }
	q := feedmill.Query{
		Fields: []feedmill.Field{
			{Name: "statsu", Place: at("/fields/0")},
			{Name: "items", Place: at("/fields/1")},
			{Name: "items", Place: at("/fields/2")},
			{Name: "status", Aggregate: feedmill.AggregateSum, Place: at("/fields/3")},
			{Name: "paid", Aggregate: "median", Place: at("/fields/4")},
		},
		Where: []feedmill.Condition{
			{Name: "colour", Place: feedmill.Fault{Parameter: "filter"}},
			{Name: "items", Place: feedmill.Fault{Parameter: "filter"}, Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: values("x")}}},
			{Name: "status", Place: at("/fields/5"), Filters: []feedmill.Filter{
				{Op: "like", Values: values("x")},
				{Op: feedmill.OpGt},
				{Op: feedmill.OpEq},
				{Op: feedmill.OpIsNull, Values: values("x")},
				{Op: feedmill.OpMatches, Values: values("(")},
				{Op: feedmill.OpContains, Values: []feedmill.FilterValue{{Text: "a"}, {Null: true}}},
			}},
			{Name: "paid", Place: at("/fields/6"), Filters: []feedmill.Filter{
				{Op: feedmill.OpGt, Values: values("true")},
				{Op: feedmill.OpEq, Values: values("true", "yes")},
			}},
			{Name: "day", Place: at("/fields/7"), Filters: []feedmill.Filter{
				{Op: feedmill.OpEq, Values: values("2024-02-30")},
				{Op: feedmill.OpLast, Values: values("7")},
				{Op: feedmill.OpLast, Values: []feedmill.FilterValue{{Period: &feedmill.Period{N: 1, Unit: feedmill.UnitHour}}}},
				{Op: feedmill.OpLast, Values: []feedmill.FilterValue{{Period: &feedmill.Period{Unit: feedmill.UnitDay}}}},
			}},
			{Name: "amount", Place: at("/fields/8"), Filters: []feedmill.Filter{
				{Op: feedmill.OpBetween, Values: values("1", "1/2")},
				{Op: feedmill.OpEq, Values: values("1e9999999999")},
				{Op: feedmill.OpEq, Values: []feedmill.FilterValue{{Period: &feedmill.Period{}}}},
			}},
			{Name: "at", Place: at("/fields/9"), Filters: []feedmill.Filter{{Op: feedmill.OpLt, Values: values("noon")}}},
			{Name: "extra", Place: at("/fields/10"), Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: values("1")}}},
		},
		Sort: []feedmill.Sort{{Name: "nothing", Place: at("/sort/0")}, {Name: "extra", Place: at("/sort/1")}},
	}
	_, err := Plan(orders, "x", q, wire.FormatCSV, &Cursor{Version: "v0"})
	refused, ok := errors.AsType[*feedmill.Error](err)
	if !ok || !errors.Is(err, feedmill.ErrInvalid) {
		t.Fatal(err)
	}
	var got []string
	for _, f := range refused.Faults {
		got = append(got, f.Pointer+f.Parameter)
		if f.Detail == "" {
			t.Errorf("%+v says nothing", f)
		}
	}
	want := []string{
		"filter", "filter",
		"/fields/5/filters/0", "/fields/5/filters/1", "/fields/5/filters/2", "/fields/5/filters/3", "/fields/5/filters/4/values/0", "/fields/5/filters/5/values/1",
		"/fields/6/filters/0", "/fields/6/filters/1/values/1",
		"/fields/7/filters/0/values/0", "/fields/7/filters/1/values/0", "/fields/7/filters/2/values/0", "/fields/7/filters/3/values/0",
		"/fields/8/filters/0/values/1", "/fields/8/filters/1/values/0", "/fields/8/filters/2/values/0",
		"/fields/9/filters/0/values/0",
		"/fields/10/filters/0",
		"/fields/0", "/fields/2", "/fields/3", "/fields/4",
		"/sort/0", "/sort/1", "cursor",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(refused.Faults[slices.Index(got, "/fields/0")].Detail, "did you mean status?") {
		t.Error(refused.Faults)
	}
}

func TestSortOfGroups(t *testing.T) {
	q := feedmill.Query{
		Fields: []feedmill.Field{{Name: "status"}, {Name: "items", Aggregate: feedmill.AggregateCount}},
		Sort:   []feedmill.Sort{{Name: "amount"}},
	}
	if _, err := Plan(orders, "x", q, wire.FormatCSV, nil); !errors.Is(err, feedmill.ErrInvalid) {
		t.Errorf("sorted by what is no field: %v", err)
	}
}

func TestCursor(t *testing.T) {
	q := feedmill.Query{Sort: []feedmill.Sort{{Name: "items"}}}
	row, items := "7", "3"
	c := NextPage(orders, &q, []*string{&items, &row})
	back, err := ParseCursor(c.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&c, back); diff != "" {
		t.Error(diff)
	}
	if _, err := Plan(orders, "x", q, wire.FormatCSV, back); err != nil {
		t.Error(err)
	}
	other := q
	other.Sort = nil
	for name, plan := range map[string]func() error{
		"another query": func() error { _, err := Plan(orders, "x", other, wire.FormatCSV, back); return err },
		"another version": func() error {
			v := *orders
			v.Blob = "v2"
			_, err := Plan(&v, "x", q, wire.FormatCSV, back)
			return err
		},
	} {
		if err := plan(); !errors.Is(err, feedmill.ErrInvalid) {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	row := "7"
	f.Add(NextPage(orders, &feedmill.Query{}, []*string{&row}).String())
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		if err != nil {
			return
		}
		again, err := ParseCursor(c.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Error(diff)
		}
	})
}

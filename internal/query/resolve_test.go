package query_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

var orders = []feedmill.Column{
	{Name: "status", Type: columnar.TypeText},
	{Name: "amount", Type: columnar.TypeDecimal, Precision: 10, Scale: 2},
	{Name: "items", Type: columnar.TypeInteger},
	{Name: "paid", Type: columnar.TypeBoolean},
	{Name: "day", Type: columnar.TypeDate},
	{Name: "at", Type: columnar.TypeTimestamp},
	{Name: "extra", Type: columnar.TypeJSON},
	{Name: "weight", Type: columnar.TypeNumber},
}

func values(texts ...string) []feedmill.FilterValue {
	var out []feedmill.FilterValue
	for _, t := range texts {
		out = append(out, feedmill.FilterValue{Text: t})
	}
	return out
}

// faults are the places of a refusal and what is wrong there.
func faults(t *testing.T, err error) [][2]string {
	t.Helper()
	refused, ok := errors.AsType[*feedmill.Error](err)
	if !ok || !errors.Is(err, feedmill.ErrInvalid) {
		t.Fatalf("not refused: %v", err)
	}
	var out [][2]string
	for _, f := range refused.Faults {
		out = append(out, [2]string{f.Pointer + f.Parameter, f.Detail})
	}
	return out
}

func TestResolveListsAllFaults(t *testing.T) {
	at := func(pointer string) feedmill.Fault { return feedmill.Fault{Pointer: pointer} }
	period := func(n int, unit feedmill.PeriodUnit) []feedmill.FilterValue {
		return []feedmill.FilterValue{{Period: &feedmill.Period{N: n, Unit: unit}}}
	}
	_, found := query.Resolve(feedmill.Query{
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
				{Op: feedmill.OpIsNull, Values: []feedmill.FilterValue{{Null: true}}},
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
				{Op: feedmill.OpLast, Values: period(1, feedmill.UnitHour)},
				{Op: feedmill.OpLast, Values: period(0, feedmill.UnitDay)},
				{Op: feedmill.OpNext, Values: period(feedmill.MaxPeriod+1, feedmill.UnitDay)},
			}},
			{Name: "amount", Place: at("/fields/8"), Filters: []feedmill.Filter{
				{Op: feedmill.OpBetween, Values: values("1", "1/2")},
				{Op: feedmill.OpBetween, Values: values("1")},
				{Op: feedmill.OpEq, Values: values("1e9999999999")},
				{Op: feedmill.OpEq, Values: period(1, feedmill.UnitDay)},
			}},
			{Name: "at", Place: at("/fields/9"), Filters: []feedmill.Filter{{Op: feedmill.OpLt, Values: values("noon")}}},
			{Name: "extra", Place: at("/fields/10"), Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: values("1")}}},
		},
		Sort: []feedmill.Sort{{Name: "nothing", Place: at("/sort/0")}, {Name: "extra", Place: at("/sort/1")}},
	}, orders)
	want := [][2]string{
		{"filter", `there is no column "colour"`},
		{"filter", "must be a number"},
		{"/fields/5/filters/0/op", `the operator "like" does not apply to a column of type text; use one of between, contains, endsWith, eq, gt, gte, isEmpty, isNull, lt, lte, matches, startsWith`},
		{"/fields/5/filters/1/values", "the operator gt requires 1 value; got 0"},
		{"/fields/5/filters/2/values", "the operator eq requires a value"},
		{"/fields/5/filters/3/values", "the operator isNull requires no values; got 1"},
		{"/fields/5/filters/4/values/0", "not a valid regular expression (RE2): error parsing regexp: missing closing ): `(`"},
		{"/fields/5/filters/5/values/1", "must not be null; use isNull"},
		{"/fields/6/filters/0/op", `the operator "gt" does not apply to a column of type boolean; use one of eq, isEmpty, isFalse, isNull, isTrue`},
		{"/fields/6/filters/1/values/1", "must be true or false"},
		{"/fields/7/filters/0/values/0", "must be a date such as 2026-01-31"},
		{"/fields/7/filters/1/values/0", `must be a period such as {"n": 7, "unit": "day"}`},
		{"/fields/7/filters/2/values/0", "the unit of a period on a column of type date must be one of day, week, month, quarter, year"},
		{"/fields/7/filters/3/values/0", "the n of a period must be between 1 and 10000"},
		{"/fields/7/filters/4/values/0", "the n of a period must be between 1 and 10000"},
		{"/fields/8/filters/0/values/1", "must be a number"},
		{"/fields/8/filters/1/values", "the operator between requires 2 values; got 1"},
		{"/fields/8/filters/2/values/0", "must be a number"},
		{"/fields/8/filters/3/values/0", "must be one value"},
		{"/fields/9/filters/0/values/0", "must be a time such as 2026-01-31T08:30:00Z or a date such as 2026-01-31"},
		{"/fields/10/filters/0/op", `the operator "eq" does not apply to a column of type json; use one of isEmpty, isNull`},
		{"/fields/0", `there is no column "statsu"; did you mean status?`},
		{"/fields/2", `the field "items" is listed twice`},
		{"/fields/3", `"sum" does not apply to a column of type text`},
		{"/fields/4", `"median" does not apply to a column of type boolean`},
		{"/sort/0", `there is no column "nothing"`},
		{"/sort/1", "a column of type json cannot be sorted"},
	}
	if diff := cmp.Diff(want, faults(t, found.Err())); diff != "" {
		t.Error(diff)
	}
}

func TestSortOfGroups(t *testing.T) {
	tree, found := query.Resolve(feedmill.Query{
		Fields: []feedmill.Field{{Name: "status"}, {Name: "extra", Aggregate: feedmill.AggregateCount, As: "n"}},
		Sort:   []feedmill.Sort{{Name: "n"}, {Name: "status"}, {Name: "extra"}, {Name: "amount"}},
	}, orders)
	want := [][2]string{{"", `"amount" is not a field of this query, which groups rows`}}
	if diff := cmp.Diff(want, faults(t, found.Err())); diff != "" || len(tree.Sort) != 3 {
		t.Errorf("%d keys\n%s", len(tree.Sort), diff)
	}
}

// In a URL an operator without values may have its colon all the same.
func TestNothingAfterTheColon(t *testing.T) {
	q := feedmill.Query{Where: []feedmill.Condition{{
		Name: "status", Place: feedmill.Fault{Parameter: "filter"},
		Filters: []feedmill.Filter{{Op: feedmill.OpIsNull, Values: []feedmill.FilterValue{{Null: true}}}},
	}}}
	if _, found := query.Resolve(q, orders); found.Err() != nil {
		t.Error(found.Err())
	}
}

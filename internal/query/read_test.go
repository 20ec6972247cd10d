package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// read reads a query, and the places of what is wrong in it.
func read(text string) (q feedmill.Query, places []string) {
	note := func(pointer, _ string) bool {
		places = append(places, pointer)
		return true
	}
	v, _ := strictjson.Read([]byte(text), strictjson.Part{}, note)
	return query.Read(strictjson.NewObject(&v, "", note), time.Unix(0, 0)), places
}

func TestReadQuery(t *testing.T) {
	got, wrong := read(`{
		"fields": [
			{"field": "status", "as": "State", "filterOption": "any", "filters": [
				{"op": "eq", "values": ["a", null, 5, true], "caseSensitive": true},
				{"op": "isNull", "inverted": true}]},
			{"field": "day", "select": false, "filters": [{"op": "last", "values": [{"n": 7, "unit": "day", "includeCurrent": true}]}]},
			{"field": "at", "filters": [{"op": "current", "values": [{"unit": "week"}]}], "filterOption": "all"},
			{"field": "items", "aggregate": "sum", "filterOption": "whatever"},
			{"field": "amount", "aggregate": [{"fn": "min", "as": "low"}, {"fn": "max", "as": "high"}]},
			{"field": "paid", "aggregate": [{"fn": "count"}], "select": true}],
		"sort": [{"field": "day", "order": "desc"}, {"field": "status", "order": "asc"}, {"field": "items"}],
		"limit": 10, "timezone": "Europe/Paris", "weekStart": "saturday"}`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	at := func(pointer string) feedmill.Fault { return feedmill.Fault{Pointer: pointer} }
	want := feedmill.Query{
		Fields: []feedmill.Field{
			{Name: "status", As: "State", Place: at("/fields/0/field")},
			{Name: "day", FilterOnly: true, Place: at("/fields/1/field")},
			{Name: "at", Place: at("/fields/2/field")},
			{Name: "items", Aggregate: feedmill.AggregateSum, Place: at("/fields/3/field")},
			{Name: "amount", Place: at("/fields/4/field"), Aggregates: []feedmill.NamedAggregate{
				{Fn: feedmill.AggregateMin, As: "low", Place: at("/fields/4/aggregate/0")}, {Fn: feedmill.AggregateMax, As: "high", Place: at("/fields/4/aggregate/1")},
			}},
			{Name: "paid", Place: at("/fields/5/field"), Aggregates: []feedmill.NamedAggregate{{Fn: feedmill.AggregateCount, Place: at("/fields/5/aggregate/0")}}},
		},
		Where: []feedmill.Condition{
			{Name: "status", Any: true, Place: at("/fields/0"), Filters: []feedmill.Filter{
				{Op: feedmill.OpEq, CaseSensitive: true, Values: []feedmill.FilterValue{{Text: "a"}, {Null: true}, {Text: "5"}, {Text: "true"}}},
				{Op: feedmill.OpIsNull, Inverted: true},
			}},
			{Name: "day", Place: at("/fields/1"), Filters: []feedmill.Filter{
				{Op: feedmill.OpLast, Values: []feedmill.FilterValue{{Period: &feedmill.Period{N: 7, Unit: feedmill.UnitDay, IncludeCurrent: true}}}},
			}},
			{Name: "at", Place: at("/fields/2"), Filters: []feedmill.Filter{
				{Op: feedmill.OpCurrent, Values: []feedmill.FilterValue{{Period: &feedmill.Period{N: 1, Unit: feedmill.UnitWeek}}}},
			}},
		},
		Sort: []feedmill.Sort{
			{Name: "day", Descending: true, Place: at("/sort/0/field")}, {Name: "status", Place: at("/sort/1/field")}, {Name: "items", Place: at("/sort/2/field")},
		},
		Limit: 10, Zone: paris, WeekStart: time.Saturday, Now: time.Unix(0, 0),
	}
	sameZone := cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })
	if diff := cmp.Diff(want, got, sameZone); diff != "" {
		t.Errorf("the query differs (-want +got):\n%s", diff)
	}
}

// What is wrong in a query is refused where it stands, and what is at its bound is not.
func TestReadQueryFaults(t *testing.T) {
	// list is an array of n equal elements.
	list := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	field := func(members string) string { return `{"fields":[{"field":"a",` + members + `}]}` }
	value := func(text string) string { return field(`"filters":[{"op":"eq","values":[` + text + `]}]`) }
	for text, want := range map[string]string{
		`{}`:            "",
		`{"fields":[]}`: "/fields",
		`{"fields":{}}`: "/fields",
		`{"fields":` + list(200, `{"field":"a"}`) + `}`: "",
		`{"fields":` + list(201, `{"field":"a"}`) + `}`: "/fields",
		`{"fields":["a"]}`: "/fields/0",
		`{"fields":[{}]}`:  "/fields/0/field",
		`{"sort":[]}`:      "",
		`{"sort":` + list(201, `{"field":"a"}`) + `}`:      "/sort",
		`{"sort":[{"order":"asc"}]}`:                       "/sort/0/field",
		`{"sort":[{"field":"a","order":"up"}]}`:            "/sort/0/order",
		`{"sort":[{"field":"a","by":1}]}`:                  "/sort/0/by",
		`{"limit":0}`:                                      "/limit",
		`{"limit":1}`:                                      "",
		`{"limit":1000000000000}`:                          "",
		`{"limit":1000000000001}`:                          "/limit",
		`{"timezone":"Mars/Base"}`:                         "/timezone",
		`{"timezone":""}`:                                  "/timezone",
		`{"timezone":"Local"}`:                             "/timezone",
		`{"timezone":5}`:                                   "/timezone",
		`{"timezone":"UTC"}`:                               "",
		`{"weekStart":"someday"}`:                          "/weekStart",
		field(`"as":"x","b":1`):                            "/fields/0/b",
		field(`"select":"no"`):                             "/fields/0/select",
		field(`"select":false,"as":"x"`):                   "/fields/0/as",
		field(`"select":false,"aggregate":"sum"`):          "/fields/0/aggregate",
		field(`"aggregate":"median"`):                      "/fields/0/aggregate",
		field(`"aggregate":[]`):                            "/fields/0/aggregate",
		field(`"aggregate":` + list(50, `{"fn":"sum"}`)):   "/fields/0/aggregate",
		field(`"aggregate":["sum"]`):                       "/fields/0/aggregate/0",
		field(`"aggregate":[{"fn":"sum"}]`):                "",
		field(`"aggregate":[{"fn":"sumn"}]`):               "/fields/0/aggregate/0/fn",
		field(`"aggregate":[{"as":"x"}]`):                  "/fields/0/aggregate/0/fn",
		field(`"aggregate":[{"fn":"sum","b":1}]`):          "/fields/0/aggregate/0/b",
		field(`"aggregate":[{"fn":"min"},{"fn":"max"}]`):   "/fields/0/aggregate/0/as /fields/0/aggregate/1/as",
		field(`"as":"x","aggregate":[{"fn":"sum"}]`):       "/fields/0/as",
		field(`"filters":` + list(200, `{"op":"isNull"}`)): "",
		field(`"filters":` + list(201, `{"op":"isNull"}`)): "/fields/0/filters",
		field(`"filters":[{}]`):                            "/fields/0/filters/0/op",
		field(`"filters":[{"op":"eq","b":1}]`):             "/fields/0/filters/0/b",
		field(`"filters":[{"op":"eq","inverted":1}]`):      "/fields/0/filters/0/inverted",
		field(`"filters":[{"op":"eq","caseSensitive":1}]`): "/fields/0/filters/0/caseSensitive",
		field(`"filters":[{"op":"eq","values":"a"}]`):      "/fields/0/filters/0/values",
		value(strings.Trim(list(1000, "1"), "[]")):         "",
		value(strings.Trim(list(1001, "1"), "[]")):         "/fields/0/filters/0/values",
		value(`[1]`):                                         "/fields/0/filters/0/values/0",
		value(`{}`):                                          "/fields/0/filters/0/values/0/unit",
		value(`{"unit":"decade"}`):                           "/fields/0/filters/0/values/0/unit",
		value(`{"unit":"day","n":0}`):                        "/fields/0/filters/0/values/0/n",
		value(`{"unit":"day","n":10000}`):                    "",
		value(`{"unit":"day","n":10001}`):                    "/fields/0/filters/0/values/0/n",
		value(`{"unit":"day","includeCurrent":1}`):           "/fields/0/filters/0/values/0/includeCurrent",
		value(`{"unit":"day","b":1}`):                        "/fields/0/filters/0/values/0/b",
		field(`"filters":[{"op":"x"}],"filterOption":"one"`): "/fields/0/filterOption",
	} {
		if _, got := read(text); strings.Join(got, " ") != want {
			t.Errorf("%.90s is wrong at %q, want %q", text, got, want)
		}
	}
}

// An operator takes as many values as it says, and no others.
func TestHowManyValuesAnOperatorTakes(t *testing.T) {
	const many = 4
	for op, takes := range map[feedmill.FilterOp][2]int{
		feedmill.OpEq: {1, many}, feedmill.OpContains: {1, many}, feedmill.OpStartsWith: {1, many}, feedmill.OpEndsWith: {1, many},
		feedmill.OpMatches: {1, 1}, feedmill.OpGt: {1, 1}, feedmill.OpGte: {1, 1}, feedmill.OpLt: {1, 1}, feedmill.OpLte: {1, 1},
		feedmill.OpBetween: {2, 2}, feedmill.OpIsNull: {}, feedmill.OpIsEmpty: {}, feedmill.OpIsTrue: {}, feedmill.OpIsFalse: {},
		feedmill.OpLast: {1, 1}, feedmill.OpNext: {1, 1}, feedmill.OpCurrent: {1, 1}, feedmill.OpToDate: {1, 1},
	} {
		name, v := "status", feedmill.FilterValue{Text: "x"}
		switch {
		case op == feedmill.OpIsTrue || op == feedmill.OpIsFalse:
			name = "paid"
		case slices.Contains([]feedmill.FilterOp{feedmill.OpLast, feedmill.OpNext, feedmill.OpCurrent, feedmill.OpToDate}, op):
			name, v = "day", feedmill.FilterValue{Period: &feedmill.Period{N: 1, Unit: feedmill.UnitDay}}
		}
		for n := range many + 1 {
			filter := feedmill.Filter{Op: op, Values: slices.Repeat([]feedmill.FilterValue{v}, n)}
			_, found := query.Resolve(feedmill.Query{Where: []feedmill.Condition{{Name: name, Filters: []feedmill.Filter{filter}}}}, orders)
			if taken := found.Err() == nil; taken != (takes[0] <= n && n <= takes[1]) {
				t.Errorf("%s with %d values: %s", op, n, fmt.Sprint(found.Err()))
			}
		}
	}
}

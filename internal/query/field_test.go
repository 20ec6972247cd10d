package query_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// outputs are the columns of the result as texts.
func outputs(tree *query.Tree) (all []string) {
	for _, o := range tree.Outputs {
		all = append(all, fmt.Sprintf("%s=%s(%d)", o.Name, o.Aggregate, o.Column.Index))
	}
	return all
}

func TestOutputs(t *testing.T) {
	lowHigh := []feedmill.NamedAggregate{{Fn: feedmill.AggregateMin, As: "low"}, {Fn: feedmill.AggregateMax, As: "high"}}
	for _, test := range []struct {
		fields  []feedmill.Field
		want    []string
		grouped bool
	}{
		{nil, []string{"status=(0)", "amount=(1)", "items=(2)", "paid=(3)", "day=(4)", "at=(5)", "extra=(6)", "weight=(7)"}, false},
		{[]feedmill.Field{{Name: "items"}, {Name: "status", As: "state"}}, []string{"items=(2)", "state=(0)"}, false},
		{[]feedmill.Field{{Name: "status"}, {Name: "items", Aggregates: lowHigh}}, []string{"status=(0)", "low=min(2)", "high=max(2)"}, true},
		{[]feedmill.Field{{Name: "items", Aggregates: lowHigh[:1]}, {Name: "day", Aggregate: feedmill.AggregateMax}}, []string{"low=min(2)", "day=max(4)"}, true},
	} {
		tree, found := query.Resolve(feedmill.Query{Fields: test.fields}, orders)
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, outputs(tree)); diff != "" || tree.Grouped() != test.grouped {
			t.Errorf("grouped: %v\n%s", tree.Grouped(), diff)
		}
	}
}

func TestAggregatesOfTypes(t *testing.T) {
	for i, c := range orders {
		for _, fn := range feedmill.Aggregates {
			want := true
			switch fn {
			case feedmill.AggregateSum, feedmill.AggregateAvg:
				want = c.Type == columnar.TypeInteger || c.Type == columnar.TypeDecimal || c.Type == columnar.TypeNumber
			case feedmill.AggregateMin, feedmill.AggregateMax, feedmill.AggregateCountDistinct:
				want = c.Type != columnar.TypeJSON
			}
			tree, found := query.Resolve(feedmill.Query{Fields: []feedmill.Field{{Name: c.Name, Aggregates: []feedmill.NamedAggregate{{Fn: fn}}}}}, orders)
			if got := found.Err() == nil; got != want {
				t.Errorf("%s of %s: %v", fn, c.Type, found.Err())
			}
			if want && outputs(tree)[0] != fmt.Sprintf("%s=%s(%d)", c.Name, fn, i) {
				t.Errorf("%s of %s is %s", fn, c.Type, outputs(tree))
			}
		}
	}
}

func TestSortByAggregates(t *testing.T) {
	list := feedmill.Field{Name: "items", Aggregates: []feedmill.NamedAggregate{{Fn: feedmill.AggregateMin, As: "low"}, {Fn: feedmill.AggregateMax, As: "high"}}}
	one := feedmill.Field{Name: "amount", Aggregate: feedmill.AggregateSum, As: "sum"}
	tree, found := query.Resolve(feedmill.Query{
		Fields: []feedmill.Field{list, one},
		Sort:   []feedmill.Sort{{Name: "high", Descending: true}, {Name: "sum"}, {Name: "amount"}, {Name: "items"}},
	}, orders)
	want := [][2]string{{"", `the field "items" has several aggregates; sort by low or high`}}
	if diff := cmp.Diff(want, faults(t, found.Err())); diff != "" {
		t.Error(diff)
	}
	var keys []string
	for _, k := range tree.Sort {
		keys = append(keys, fmt.Sprintf("%s(%s) %v", k.Aggregate, k.Column.Name, k.Descending))
	}
	if diff := cmp.Diff([]string{"max(items) true", "sum(amount) false", "sum(amount) false"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestRepeatedFields(t *testing.T) {
	at := func(pointer string) feedmill.Fault { return feedmill.Fault{Pointer: pointer} }
	low := feedmill.Field{Name: "items", As: "low", Aggregate: feedmill.AggregateMin, Place: at("/fields/0/field")}
	high := feedmill.Field{Name: "items", Place: at("/fields/1/field"), Aggregates: []feedmill.NamedAggregate{{Fn: feedmill.AggregateMax, As: "high", Place: at("/fields/1/aggregate/0")}}}
	plain := feedmill.Field{Name: "items", As: "other", Place: at("/fields/1/field")}
	clash := feedmill.Field{Name: "amount", Place: at("/fields/1/field"), Aggregates: []feedmill.NamedAggregate{{Fn: feedmill.AggregateMax, As: "low", Place: at("/fields/1/aggregate/0")}}}
	taken := feedmill.Field{Name: "amount", As: "low", Place: at("/fields/1/field")}
	summed := feedmill.Field{Name: "status", Aggregate: feedmill.AggregateSum, Place: at("/fields/1/field")}
	unknown := feedmill.Field{Name: "itms", Place: at("/fields/2/field")}
	for _, test := range []struct {
		fields []feedmill.Field
		kind   string
		want   [][2]string
	}{
		{[]feedmill.Field{low, high}, "duplicate-field", [][2]string{
			{"/fields/1/field", `the field "items" is listed twice; list it once, with a list such as "aggregate": [{"fn": "min", "as": "low"}, {"fn": "max", "as": "high"}]`},
		}},
		{[]feedmill.Field{low, plain}, "duplicate-field", [][2]string{{"/fields/1/field", `the field "items" is listed twice`}}},
		{[]feedmill.Field{low, plain, unknown}, "", [][2]string{{"/fields/1/field", `the field "items" is listed twice`}, {"/fields/2/field", `there is no column "itms"; did you mean items?`}}},
		{[]feedmill.Field{low, clash}, "", [][2]string{{"/fields/1/aggregate/0/as", `the field "low" is listed twice`}}},
		{[]feedmill.Field{low, taken}, "", [][2]string{{"/fields/1/as", `the field "low" is listed twice`}}},
		{[]feedmill.Field{low, summed}, "", [][2]string{{"/fields/1/aggregate", `"sum" does not apply to a column of type text`}}},
	} {
		_, found := query.Resolve(feedmill.Query{Fields: test.fields}, orders)
		err := found.Err()
		if diff := cmp.Diff(test.want, faults(t, err)); diff != "" {
			t.Error(diff)
		}
		if refused, _ := errors.AsType[*feedmill.Error](err); refused.Type != test.kind {
			t.Errorf("the problem is %q, want %q", refused.Type, test.kind)
		}
	}
}

package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

func TestSince(t *testing.T) {
	place := feedmill.Fault{Pointer: "/incremental"}
	for _, test := range []struct {
		since  feedmill.Since
		fields []feedmill.Field
		want   query.Value
		faults [][2]string
	}{
		{since: feedmill.Since{Field: "at"}},
		{since: feedmill.Since{Field: "at", From: "2026-01-02T03:04:05.123456Z", Lookback: time.Hour}, want: time.Date(2026, 1, 2, 2, 4, 5, 123456000, time.UTC)},
		{since: feedmill.Since{Field: "day", From: "2026-01-02", Lookback: 36 * time.Hour}, want: time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC)},
		{since: feedmill.Since{Field: "status", From: "b"}, want: "b"},
		{since: feedmill.Since{Field: "items", Lookback: time.Hour}, faults: [][2]string{{"/incremental/lookback", `applies only to dates and timestamps; "items" has the type integer`}}},
		{since: feedmill.Since{Field: "itms"}, faults: [][2]string{{"/incremental/field", `there is no column "itms"; did you mean items?`}}},
		{since: feedmill.Since{Field: "paid"}, faults: [][2]string{{"/incremental/field", "a column of type boolean cannot be used; use one of text, integer, decimal, number, date, timestamp"}}},
		{
			since: feedmill.Since{Field: "at"}, fields: []feedmill.Field{{Name: "items", Aggregate: feedmill.AggregateSum}},
			faults: [][2]string{{"/incremental/field", "a query with aggregates reads all rows and cannot be incremental"}},
		},
	} {
		test.since.Place = place
		tree, found := query.Resolve(feedmill.Query{Fields: test.fields, Since: &test.since}, orders)
		if test.faults != nil {
			if diff := cmp.Diff(test.faults, faults(t, found.Err())); diff != "" {
				t.Error(diff)
			}
			continue
		}
		if err := found.Err(); err != nil || tree.Latest.Name != test.since.Field {
			t.Fatalf("%+v: %v", test.since, err)
		}
		var got query.Value
		if len(tree.Where) == 1 {
			got = tree.Where[0].(query.Compare).Value
		}
		if !cmp.Equal(test.want, got) {
			t.Errorf("from %v, want %v", got, test.want)
		}
	}
}

func TestBounds(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	yesterday := []feedmill.FilterValue{{Period: &feedmill.Period{N: 1, Unit: feedmill.UnitDay}}}
	tree, found := query.Resolve(feedmill.Query{
		Zone: paris, Now: time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC),
		Where: []feedmill.Condition{
			{Name: "at", Filters: []feedmill.Filter{
				{Op: feedmill.OpLast, Values: yesterday, Inverted: true},
				{Op: feedmill.OpBetween, Values: values("2026-03-01T10:00:00Z", "2026-03-01")},
				{Op: feedmill.OpBetween, Values: values("2026-03-01", "2026-03-01T10:00:00Z")},
			}},
			{Name: "day", Filters: []feedmill.Filter{{Op: feedmill.OpLast, Values: yesterday}}},
		},
	}, orders)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	want := []query.Bound{ // the day on which the clocks changed
		{Field: "at", Op: feedmill.OpLast, From: "2026-03-29T00:00:00+01:00", To: "2026-03-30T00:00:00+02:00"},
		{Field: "at", Op: feedmill.OpBetween, From: "2026-03-01T11:00:00+01:00", To: "2026-03-02T00:00:00+01:00"},
		{Field: "day", Op: feedmill.OpLast, From: "2026-03-29", To: "2026-03-30"},
	}
	if diff := cmp.Diff(want, tree.Bounds); diff != "" {
		t.Error(diff)
	}
}

func TestFilterOnly(t *testing.T) {
	hidden := feedmill.Field{Name: "status", FilterOnly: true, Place: feedmill.Fault{Pointer: "/fields/0/field"}}
	tree, found := query.Resolve(feedmill.Query{Fields: []feedmill.Field{hidden, {Name: "items", Aggregate: feedmill.AggregateSum}}}, orders)
	if found.Err() != nil || len(tree.Outputs) != 1 || !tree.Grouped() {
		t.Errorf("%v %v", tree.Outputs, found.Err())
	}
	if c := tree.Columns()[0]; c.Type != columnar.TypeDecimal || c.Precision != columnar.WideDigits || c.Scale != 0 || c.Name != "items" {
		t.Errorf("the sum is %+v", c)
	}
	_, found = query.Resolve(feedmill.Query{Fields: []feedmill.Field{hidden}}, orders)
	if diff := cmp.Diff([][2]string{{"/fields/0/select", `every field has "select": false; select at least one field`}}, faults(t, found.Err())); diff != "" {
		t.Error(diff)
	}
	_, found = query.Resolve(feedmill.Query{Fields: []feedmill.Field{hidden, {Name: "status"}}}, orders)
	if found.Err() == nil {
		t.Error("a field that is named again is taken")
	}
}

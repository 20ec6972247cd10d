package query_test

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

func TestPeriods(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	// A Sunday in Paris, two hours before summer time begins at 01:00 UTC.
	now := time.Date(2024, 3, 30, 23, 0, 30, 5000, time.UTC)
	for _, test := range []struct {
		column   string
		op       feedmill.FilterOp
		period   feedmill.Period
		from, to string
	}{
		{"at", feedmill.OpCurrent, feedmill.Period{Unit: feedmill.UnitMinute}, "2024-03-31T00:00:00+01:00", "2024-03-31T00:01:00+01:00"},
		{"at", feedmill.OpCurrent, feedmill.Period{Unit: feedmill.UnitDay}, "2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00"},
		{"at", feedmill.OpCurrent, feedmill.Period{Unit: feedmill.UnitWeek}, "2024-03-30T00:00:00+01:00", "2024-04-06T00:00:00+02:00"},
		{"at", feedmill.OpLast, feedmill.Period{N: 3, Unit: feedmill.UnitHour}, "2024-03-30T21:00:00+01:00", "2024-03-31T00:00:00+01:00"},
		{"at", feedmill.OpNext, feedmill.Period{N: 3, Unit: feedmill.UnitHour}, "2024-03-31T01:00:00+01:00", "2024-03-31T05:00:00+02:00"},
		{"at", feedmill.OpNext, feedmill.Period{N: 1, Unit: feedmill.UnitDay, IncludeCurrent: true}, "2024-03-31T00:00:00+01:00", "2024-04-02T00:00:00+02:00"},
		{"at", feedmill.OpLast, feedmill.Period{N: 2, Unit: feedmill.UnitMonth, IncludeCurrent: true}, "2024-01-01T00:00:00+01:00", "2024-04-01T00:00:00+02:00"},
		{"at", feedmill.OpLast, feedmill.Period{N: 1, Unit: feedmill.UnitQuarter}, "2023-10-01T00:00:00+02:00", "2024-01-01T00:00:00+01:00"},
		{"at", feedmill.OpToDate, feedmill.Period{Unit: feedmill.UnitYear}, "2024-01-01T00:00:00+01:00", "2024-03-31T00:00:30.000006+01:00"},
		{"day", feedmill.OpLast, feedmill.Period{N: 7, Unit: feedmill.UnitDay}, "2024-03-24", "2024-03-31"},
		{"day", feedmill.OpToDate, feedmill.Period{Unit: feedmill.UnitMonth}, "2024-03-01", "2024-04-01"},
	} {
		q := feedmill.Query{Now: now, Zone: paris, WeekStart: time.Saturday, Where: []feedmill.Condition{{
			Name: test.column, Filters: []feedmill.Filter{{Op: test.op, Values: []feedmill.FilterValue{{Period: &test.period}}}},
		}}}
		tree, found := query.Resolve(q, orders)
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		got := tree.Where[0].(query.All)[0].(query.Range)
		layout := time.RFC3339Nano
		if test.column == "day" {
			layout = time.DateOnly
		}
		if from, to := got.From.Format(layout), got.To.Format(layout); from != test.from || to != test.to {
			t.Errorf("%s %+v is [%s, %s), want [%s, %s)", test.op, test.period, from, to, test.from, test.to)
		}
	}
}

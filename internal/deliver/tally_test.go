package deliver

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

// uncountable is a store that refuses counts for a while.
type uncountable struct {
	*sqlite.DB
	refuses bool
}

func (s *uncountable) WriteDeliveryCounts(ctx context.Context, all []feedmill.DeliveryCount) error {
	if s.refuses {
		return feedmill.ErrUnavailable
	}
	return s.DB.WriteDeliveryCounts(ctx, all)
}

// Counts are the same whether they are in memory, written, or both, and what
// could not be written is written later.
func TestTally(t *testing.T) {
	store := &uncountable{DB: sqlitetest.New(t)}
	d := &Dispatcher{Options: Options{Store: store, Log: slog.New(slog.DiscardHandler)}, tally: newTally()}
	sub := feedmill.NewID(feedmill.PrefixSubscription)
	start := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	count := func(state feedmill.DeliveryState, attempt int, at time.Time) {
		r := feedmill.Result{Verdict: feedmill.VerdictDelivered, Responded: true, Status: 200, Timing: feedmill.Timing{Total: 80 * time.Millisecond}}
		d.tally.count(feedmill.Outcome{Subscription: sub, State: state}, r, attempt, at)
	}
	check := func(when string, want ...[4]int64) {
		t.Helper()
		got, err := d.Counts(t.Context(), sub, start)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d stretches, want %d: %+v", when, len(got), len(want), got)
		}
		totals, err := d.Totals(t.Context(), []feedmill.ID{"sub_other", sub}, start)
		if err != nil {
			t.Fatal(err)
		}
		var delivered, exhausted int64
		for _, w := range want {
			delivered, exhausted = delivered+w[0], exhausted+w[3]
		}
		if c := totals[sub]; c.Delivered != delivered || c.Exhausted != exhausted || totals["sub_other"].Delivered != 0 {
			t.Errorf("%s: in all %+v", when, totals)
		}
		for i, w := range want {
			if c := got[i]; [4]int64{c.Delivered, c.First, c.Failed, c.Exhausted} != w {
				t.Errorf("%s: %+v, want %v", when, c, w)
			}
			if p := got[i].Times.Quantile(0.5); p < 80*time.Millisecond || p > 96*time.Millisecond {
				t.Errorf("%s: p50 %v", when, p)
			}
		}
	}
	flush := func() {
		t.Helper()
		if err := d.flushTally(t.Context(), tallyStep); (err != nil) != store.refuses {
			t.Errorf("the store refuses: %v, and the error is %v", store.refuses, err)
		}
	}
	count(feedmill.DeliveryDelivered, 1, start)
	count(feedmill.DeliveryRetrying, 1, start.Add(time.Minute))
	count(feedmill.DeliveryDelivered, 2, start.Add(2*time.Minute))
	check("in memory", [4]int64{2, 1, 1, 0})
	flush()
	check("written", [4]int64{2, 1, 1, 0})
	store.refuses = true
	count(feedmill.DeliveryExhausted, 3, start.Add(3*time.Minute))
	flush()
	check("not written", [4]int64{2, 1, 2, 1})
	count(feedmill.DeliveryDelivered, 1, start.Add(feedmill.CountStep))
	flush()
	check("in the next stretch", [4]int64{2, 1, 2, 1}, [4]int64{1, 1, 0, 0})
	store.refuses = false
	flush()
	d.tally = newTally() // another process
	check("after a restart", [4]int64{2, 1, 2, 1}, [4]int64{1, 1, 0, 0})
	count(feedmill.DeliveryDelivered, 1, start.Add(feedmill.CountStep))
	flush()
	check("of two processes", [4]int64{2, 1, 2, 1}, [4]int64{2, 2, 0, 0})
}

// However many counts there are, each is written once, few at a time, and those that
// change meanwhile wait for the next time.
func TestManyCountsAreWrittenInSteps(t *testing.T) {
	const subscriptions = 2*tallyStep + 7
	tally := newTally()
	at := time.Now()
	ids := make([]feedmill.ID, subscriptions)
	for i := range ids {
		ids[i] = feedmill.NewID(feedmill.PrefixSubscription)
	}
	count := func(some []feedmill.ID, at time.Time) {
		for _, id := range some {
			tally.count(feedmill.Outcome{Subscription: id, State: feedmill.DeliveryDelivered}, answered200, 1, at)
		}
	}
	count(ids, at)
	count(ids, at)
	count(ids[:3], at.Add(feedmill.CountStep)) // what was before is set aside
	written := make(map[feedmill.ID]int64)
	for _, want := range []int{tallyStep, tallyStep, 10} {
		got := tally.takeCounts(tallyStep)
		if len(got) != want {
			t.Errorf("%d counts at a time, want %d", len(got), want)
		}
		count(ids[:1], at.Add(feedmill.CountStep)) // what was taken stays as it is
		for _, c := range got {
			written[c.Subscription] += c.Delivered
		}
	}
	for i, id := range ids {
		want := int64(2)
		switch {
		case i == 0:
			want = 2 + 1 + 2
		case i < 3:
			want = 2 + 1
		}
		if written[id] != want {
			t.Errorf("%d deliveries of subscription %d were counted, want %d", written[id], i, want)
		}
	}
	if n := tally.waiting(); n != 1 {
		t.Errorf("%d counts wait to be written, want the one that changed", n)
	}
}

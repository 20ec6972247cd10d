package storetest

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// manyListening are subscriptions to all metrics, of which some name the event
// besides.
func manyListening(t *testing.T, s Store, w feedmill.ID, n, twice int) {
	t.Helper()
	subs := make([]feedmill.Subscription, n)
	for i := range subs {
		subs[i] = newSubscription(w, "metric.*")
		if i < twice {
			subs[i].Events = []string{"metric.*", "metric.created"}
		}
	}
	must(t, s.CreateSubscriptions(t.Context(), subs, 0, nil))
}

var manyMatchCases = []testCase{
	{name: "of many subscriptions none is left out where some are found twice", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		const n = 700
		manyListening(t, s, w.ID, n, 300)
		accepted, due := accept(t, s, newEvents(1, w.ID, "metric.created", "")...)
		to := make(map[feedmill.ID]bool)
		for _, d := range due {
			to[d.Subscription] = true
		}
		if accepted[0].Promised || len(due) != n || len(to) != n {
			t.Errorf("%d deliveries to %d subscriptions, want one to each of %d (promised: %v)", len(due), len(to), n, accepted[0].Promised)
		}
	}},
	{name: "events to a few hundred are promised where they are many, and those of the next call are not", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		const n = 600
		manyListening(t, s, w.ID, n, 0)
		many := newEvents(feedmill.MaxMadeAtOnce/500, w.ID, "metric.created", "")
		accepted, due := accept(t, s, append(many, newEvents(1, w.ID, "tag.created", "")...)...)
		for i, a := range accepted {
			if a.Promised != (i < len(many)) {
				t.Errorf("event %d is promised: %v", i, a.Promised)
			}
		}
		if len(due) != 0 {
			t.Errorf("%d deliveries are made at once", len(due))
		}
		few := newEvents(feedmill.MaxMadeAtOnce/n, w.ID, "metric.created", "")
		accepted, due = accept(t, s, few...)
		if len(due) != n*len(few) || accepted[0].Promised {
			t.Errorf("%d deliveries are made at once, want %d", len(due), n*len(few))
		}
		if made := makePromised(t, s, 5000); len(made) != n*len(many) {
			t.Errorf("%d promised deliveries are made, want %d", len(made), n*len(many))
		}
	}},
}

package storetest

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// prune removes what there is to remove a hundred days from now, with thirty
// days of retention.
func prune(t *testing.T, s Store) {
	t.Helper()
	at := now().AddDate(0, 0, 100)
	for range 200 {
		more, err := s.Prune(t.Context(), at, at.AddDate(0, 0, -30))
		must(t, err)
		if !more {
			return
		}
	}
	t.Fatal("pruning does not end")
}

var pruneCases = []testCase{
	{name: "what is old and done goes, with all that belongs to it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, slow := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.updated")
		done, halfDone := named(newEvent(w.ID, "metric.created", ""), "p1"), named(newEvent(w.ID, "metric.updated", ""), "p2")
		waiting, unmatched := newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "tag.created", "")
		_, due := accept(t, s, done, halfDone, waiting, unmatched)
		byEvent := make(map[feedmill.ID]map[feedmill.ID]feedmill.DueDelivery)
		for _, d := range due {
			if byEvent[d.Event] == nil {
				byEvent[d.Event] = make(map[feedmill.ID]feedmill.DueDelivery)
			}
			byEvent[d.Event][d.Subscription] = d
		}
		sent, held := byEvent[done.ID][sub.ID], byEvent[halfDone.ID][slow.ID]
		failure := newOutcome(sent, feedmill.DeliveryExhausted)
		failure.Attempt.Body = []byte("no")
		_, err := s.Settle(ctx, []feedmill.Outcome{failure, newOutcome(byEvent[halfDone.ID][sub.ID], feedmill.DeliveryDelivered)})
		must(t, err)

		prune(t, s)
		for _, e := range []feedmill.Event{done, unmatched} {
			_, err := s.Event(ctx, w.ID, e.ID)
			want(t, err, feedmill.ErrNotFound)
		}
		_, err = s.Delivery(ctx, w.ID, sent.ID)
		want(t, err, feedmill.ErrNotFound)
		attempts, err := s.DeliveryAttempts(ctx, sent.ID)
		must(t, err)
		equal(t, "attempts", nil, attempts)
		for _, e := range []feedmill.Event{halfDone, waiting} {
			got, err := s.Event(ctx, w.ID, e.ID)
			must(t, err)
			equal(t, "kept", stored(e), stored(got))
		}
		again, err := s.Due(ctx, feedmill.DueQuery{Subscription: slow.ID, Now: now(), Limit: 9})
		must(t, err)
		equal(t, "due", []feedmill.DueDelivery{held}, again)

		// What a publisher named is known for ever.
		accepted, _ := accept(t, s, named(newEvent(w.ID, "metric.created", ""), "p1"))
		equal(t, "accepted", []feedmill.Accepted{{ID: done.ID, PublisherID: "p1", Type: "metric.created", Duplicate: true}}, accepted)

		settle(t, s, held, feedmill.DeliveryDelivered)
		prune(t, s)
		_, err = s.Event(ctx, w.ID, halfDone.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.Event(ctx, w.ID, waiting.ID)
		must(t, err)
	}},
	{name: "what is young stays, however old its timestamp", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		e := newEvent(w.ID, "metric.created", "")
		e.Timestamp = now().AddDate(-1, 0, 0)
		accept(t, s, e)
		more, err := s.Prune(ctx, now(), now().Add(-time.Hour))
		must(t, err)
		_, err = s.Event(ctx, w.ID, e.ID)
		must(t, err)
		if more {
			t.Error("there is more to remove where nothing is")
		}
	}},
	{name: "many events go in steps that end, past those that stay", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		accept(t, s, newEvents(1200, w.ID, "metric.created", "")...)
		accept(t, s, newEvents(1200, w.ID, "tag.created", "")...)
		prune(t, s)
		for name, n := range map[string]int{"tag.created": 0, "metric.created": 1200} {
			got, err := s.Events(ctx, w.ID, feedmill.EventQuery{Page: feedmill.Page{Limit: 5000}, Types: []string{name}})
			must(t, err)
			if len(got) != n {
				t.Errorf("%d events of %s are left, want %d", len(got), name, n)
			}
		}
		if n := countStates(t, s, sub); n[feedmill.DeliveryPending] != 1200 {
			t.Errorf("states are %v", n)
		}
		// Room is made for what is published from now on.
		accept(t, s, newEvent(w.ID, "metric.created", ""))
	}},
}

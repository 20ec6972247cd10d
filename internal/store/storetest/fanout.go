package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// FanOuts keep the promises that Accept makes.
type FanOuts interface {
	// StepFanout makes promised deliveries of the event of a workspace that was accepted
	// first, in one transaction, and returns those that are due. size has how many, and
	// is called once the workspace is known: up to limit of them; or all where the event
	// is not begun and has at most whole. Then those of events behind it may be made,
	// too, whole ones only: whole deliveries of feedmill.MaxKeptAtOnce events at most.
	// Workspaces take turns; of several callers one makes each step.
	// It reports whether there was anything to do. A subscription that is
	// deleted or disabled by now, or was disabled at acceptance, has its
	// delivery discarded.
	StepFanout(ctx context.Context, now time.Time, size func(workspace feedmill.ID) (limit, whole int)) (due []feedmill.DueDelivery, worked bool, err error)
	// Fanouts are those of some events whose deliveries are being made, and
	// how many have been.
	Fanouts(ctx context.Context, workspace feedmill.ID, events []feedmill.ID) (map[feedmill.ID]int, error)
}

// UpTo is the size of a step for all workspaces.
func UpTo(limit, whole int) func(feedmill.ID) (int, int) {
	return func(feedmill.ID) (int, int) { return limit, whole }
}

// makePromised makes all promised deliveries in steps and returns what is due.
func makePromised(t *testing.T, s Store, limit int) (due []feedmill.DueDelivery) {
	t.Helper()
	for range 1000 {
		some, worked, err := s.StepFanout(t.Context(), now(), UpTo(limit, 0))
		must(t, err)
		if !worked {
			return due
		}
		due = append(due, some...)
	}
	t.Fatal("the deliveries are never made")
	return nil
}

// acceptPromised accepts so many events at once that the deliveries of the last
// one are promised, and returns that one. It takes 100 subscriptions.
func acceptPromised(t *testing.T, s Store, w feedmill.ID, resource string) feedmill.Event {
	t.Helper()
	events := newEvents(feedmill.MaxMadeAtOnce/100+1, w, "metric.created", resource)
	accepted, due := accept(t, s, events...)
	last := len(events) - 1
	for i, a := range accepted {
		if a.Promised != (i == last) {
			t.Fatalf("event %d of %d is promised: %v", i, len(events), a.Promised)
		}
	}
	if len(due) != feedmill.MaxMadeAtOnce {
		t.Fatalf("%d deliveries are made at once", len(due))
	}
	return events[last]
}

// manySubscriptions are 100 in the order of their ids.
func manySubscriptions(t *testing.T, s Store, w feedmill.ID, change func(int, *feedmill.Subscription)) []feedmill.Subscription {
	t.Helper()
	subs := make([]feedmill.Subscription, 100)
	for i := range subs {
		subs[i] = newSubscription(w, "metric.*")
		change(i, &subs[i])
	}
	must(t, s.CreateSubscriptions(t.Context(), subs, 0, nil))
	return subs
}

var fanoutCases = []testCase{
	{name: "promised deliveries are made in steps, across a restart, for who listened at acceptance", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subs := manySubscriptions(t, s, w.ID, func(i int, sub *feedmill.Subscription) {
			switch i {
			case 90:
				sub.State = feedmill.SubscriptionDisabled
			case 92:
				sub.Delivery.Retries = feedmill.RetrySchedule{time.Second}
			case 93:
				sub.Events, sub.ResourceID = []string{"metric.created", "metric.*", "tag.*"}, "m_1"
			case 5, 97:
				sub.Events = []string{feedmill.EveryEvent}
			case 6, 95:
				sub.Events, sub.ResourceID = []string{feedmill.EveryEvent}, "m_1"
			}
		})
		// Of the first hundred events 92 is disabled in no case; 90 is, so one
		// more delivery fits.
		events := newEvents(feedmill.MaxMadeAtOnce/100+1, w.ID, "metric.created", "m_1")
		accepted, _ := accept(t, s, events...)
		e := events[len(events)-1]
		if !accepted[len(events)-1].Promised || slices.ContainsFunc(accepted[:len(events)-1], func(a feedmill.Accepted) bool { return a.Promised }) {
			t.Fatal("the last event alone is to be promised")
		}
		making, err := s.Fanouts(ctx, w.ID, []feedmill.ID{events[0].ID, e.ID})
		must(t, err)
		equal(t, "making", map[feedmill.ID]int{e.ID: 0}, making)
		due, worked, err := s.StepFanout(ctx, now(), UpTo(30, 0))
		must(t, err)
		if !worked || len(due) != 30 || due[0].Event != e.ID || string(due[0].Payload) != string(e.Payload) {
			t.Fatalf("%d deliveries are made in a step", len(due))
		}
		making, err = s.Fanouts(ctx, w.ID, []feedmill.ID{e.ID})
		must(t, err)
		equal(t, "making", map[feedmill.ID]int{e.ID: 30}, making)
		// What changes meanwhile does not change who is meant.
		late := subscribe(t, s, w.ID, "metric.*")
		must(t, s.DeleteSubscription(ctx, w.ID, subs[95].ID, now()))
		setState(t, s, subs[96], feedmill.SubscriptionDisabled)
		setState(t, s, subs[90], feedmill.SubscriptionActive)
		_, err = s.ChangeSubscription(ctx, w.ID, subs[97].ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			sub.Events = []string{"tag.*"}
			return nil, nil
		})
		must(t, err)
		must(t, s.Close())
		s = open(t)
		due = append(due, makePromised(t, s, 30)...)
		for i, sub := range subs {
			var of []feedmill.Delivery
			for _, d := range deliveries(t, s, sub) {
				if d.Event == e.ID {
					of = append(of, d)
				}
			}
			if len(of) != 1 {
				t.Fatalf("subscription %d has %d deliveries of the event", i, len(of))
			}
			want, attempts := feedmill.DeliveryPending, maxAttempts
			switch i {
			case 90, 95, 96:
				want = feedmill.DeliveryDiscarded
			case 92:
				attempts = 2
			}
			if of[0].State != want || of[0].MaxAttempts != attempts {
				t.Errorf("subscription %d: the delivery is %+v", i, of[0])
			}
		}
		if n := len(deliveries(t, s, late)); n != 0 || len(due) != 97 {
			t.Errorf("%d deliveries are due, and one that was made later has %d", len(due), n)
		}
		making, err = s.Fanouts(ctx, w.ID, []feedmill.ID{e.ID})
		must(t, err)
		equal(t, "making", nil, making)
		routes, err := s.EventRoutes(ctx, w.ID, []feedmill.ID{e.ID}, 200)
		must(t, err)
		equal(t, "routes", 100, len(routes[e.ID]))
	}},
	{name: "what an ordered subscription hears of keeps its place behind what is promised", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subs := manySubscriptions(t, s, w.ID, func(i int, sub *feedmill.Subscription) { sub.Delivery.Ordered = i == 99 })
		first := acceptPromised(t, s, w.ID, "m_1")
		next, other, last := newEvent(w.ID, "metric.created", "m_1"), newEvent(w.ID, "metric.created", "m_2"), newEvent(w.ID, "metric.created", "m_1")
		accepted, _ := accept(t, s, next, other, last)
		if !accepted[0].Promised || accepted[1].Promised || !accepted[2].Promised {
			t.Errorf("accepted as %+v", accepted)
		}
		makePromised(t, s, 30)
		of := deliveries(t, s, subs[99])
		slices.SortFunc(of, func(a, b feedmill.Delivery) int { return int(a.Seq - b.Seq) })
		equal(t, "order", []feedmill.ID{first.ID, next.ID, last.ID}, eventsOf(of[len(of)-3:]))
		accepted, _ = accept(t, s, newEvent(w.ID, "metric.created", "m_1"))
		if accepted[0].Promised {
			t.Error("nothing is promised any more, and an event is")
		}
		_, err := s.Events(ctx, w.ID, feedmill.EventQuery{Page: feedmill.Page{Limit: 1}})
		must(t, err)
	}},
	{name: "a duplicate of what is promised is one, and retention and replays wait for it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subs := manySubscriptions(t, s, w.ID, func(int, *feedmill.Subscription) {})
		e := acceptPromised(t, s, w.ID, "")
		replay := newReplay(subs[50], feedmill.ReplayMissing)
		must(t, s.CreateReplay(ctx, replay, nil))
		for range 9 {
			_, _, err := s.StepReplay(ctx, now(), 500)
			must(t, err)
		}
		for _, sub := range subs {
			due, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: now(), Limit: 1000})
			must(t, err)
			outcomes := make([]feedmill.Outcome, len(due))
			for i, d := range due {
				outcomes[i] = newOutcome(d, feedmill.DeliveryExhausted)
			}
			_, err = s.Settle(ctx, outcomes)
			must(t, err)
		}
		for range 500 {
			more, err := s.Prune(ctx, now(), now().Add(time.Hour))
			must(t, err)
			if !more {
				break
			}
		}
		_, err := s.Event(ctx, w.ID, e.ID)
		must(t, err)
		due := makePromised(t, s, 1000)
		equal(t, "due", 100, len(due))
		finishReplays(t, s, now().Add(time.Minute), 500)
		if got := foundReplay(t, s, replay); got.State != feedmill.ReplayDone || got.Made != 0 {
			t.Errorf("the replay is %+v", got)
		}
	}},
}

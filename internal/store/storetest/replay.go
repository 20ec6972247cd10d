package storetest

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func newReplay(sub feedmill.Subscription, states ...feedmill.DeliveryState) feedmill.Replay {
	return feedmill.Replay{
		ID: feedmill.NewID(feedmill.PrefixReplay), Workspace: sub.Workspace, Subscription: sub.ID, States: states,
		Since: now().Add(-time.Hour), Until: now().Add(time.Hour), CreatedAt: now(),
	}
}

// finishReplays steps until there is nothing to replay.
func finishReplays(t *testing.T, s Store, at time.Time, limit int) {
	t.Helper()
	for range 50 {
		worked, err := s.StepReplay(t.Context(), at, maxAttempts, limit)
		must(t, err)
		if !worked {
			return
		}
	}
	t.Fatal("the replay does not end")
}

// eventsOf are the events of deliveries.
func eventsOf(deliveries []feedmill.Delivery) (ids []feedmill.ID) {
	for _, d := range deliveries {
		ids = append(ids, d.Event)
	}
	return ids
}

var replayCases = []testCase{
	{name: "goes on after a restart, ends, and leaves what it replays alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		subscribe(t, s, w.ID, "metric.*")
		accept(t, s, newEvents(7, w.ID, "metric.created", "m_1")...)
		before := deliveries(t, s, sub)
		// Until lies in the future: the replay must not reach its own work.
		response := newOnce(w.ID, "k1")
		must(t, s.CreateReplay(ctx, newReplay(sub), &response))
		_, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		at := now().Add(time.Minute)
		worked, err := s.StepReplay(ctx, at, maxAttempts, 3)
		must(t, err)
		if n := len(deliveries(t, s, sub)); !worked || n != 10 {
			t.Fatalf("worked is %v and %d deliveries are there after a step, want 10", worked, n)
		}
		must(t, s.Close())
		s = open(t)
		finishReplays(t, s, at, 3)
		after := deliveries(t, s, sub)
		if len(after) != 14 {
			t.Fatalf("%d deliveries are there, want 14", len(after))
		}
		equal(t, "what was there", before, after[:7])
		equal(t, "events", eventsOf(before), eventsOf(after[7:]))
		for i, d := range after[7:] {
			wanted := before[i]
			wanted.ID, wanted.Seq, wanted.DueAt, wanted.CreatedAt = d.ID, d.Seq, at, d.ID.Time()
			equal(t, "new delivery", wanted, d)
			if d.Seq <= after[7+i-1].Seq {
				t.Errorf("delivery %d has seq %d after %d", i, d.Seq, after[7+i-1].Seq)
			}
		}
		due, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at, Limit: 99})
		must(t, err)
		if len(due) != 14 || string(due[13].Payload) != string(due[6].Payload) || len(due[13].Payload) == 0 {
			t.Errorf("%d deliveries are due with their payloads, want 14", len(due))
		}
	}},
	{name: "of the states wanted alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(6, w.ID, "metric.created", "")...)
		for i, state := range []feedmill.DeliveryState{
			feedmill.DeliveryExhausted, feedmill.DeliveryDelivered, feedmill.DeliveryDiscarded, feedmill.DeliveryRetrying, feedmill.DeliveryExhausted,
		} {
			settle(t, s, due[i], state)
		}
		must(t, s.CreateReplay(ctx, newReplay(sub, feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded), nil))
		finishReplays(t, s, now(), 2)
		equal(t, "events", []feedmill.ID{due[0].Event, due[2].Event, due[4].Event}, eventsOf(deliveries(t, s, sub)[6:]))
	}},
	{name: "of the time wanted alone, each replay by itself", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		var due []feedmill.DueDelivery
		for range 4 {
			_, one := accept(t, s, newEvent(w.ID, "metric.created", ""))
			due = append(due, one...)
			nextMillisecond()
		}
		late, early := newReplay(sub), newReplay(sub)
		late.Since, late.Until = due[2].CreatedAt, now()
		early.Since, early.Until = due[0].CreatedAt, due[2].CreatedAt
		must(t, s.CreateReplay(ctx, late, nil))
		finishReplays(t, s, now(), 99)
		equal(t, "events", eventsOf([]feedmill.Delivery{due[2].Delivery, due[3].Delivery}), eventsOf(deliveries(t, s, sub)[4:]))
		must(t, s.CreateReplay(ctx, early, nil))
		finishReplays(t, s, now(), 99)
		equal(t, "events", eventsOf([]feedmill.Delivery{due[0].Delivery, due[1].Delivery}), eventsOf(deliveries(t, s, sub)[6:]))
	}},
	{name: "several are all finished", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		one, two := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		accept(t, s, newEvents(3, w.ID, "metric.created", "")...)
		must(t, s.CreateReplay(ctx, newReplay(one), nil))
		must(t, s.CreateReplay(ctx, newReplay(two), nil))
		finishReplays(t, s, now(), 2)
		for _, sub := range []feedmill.Subscription{one, two} {
			if n := len(deliveries(t, s, sub)); n != 6 {
				t.Errorf("%d deliveries are there, want 6", n)
			}
		}
	}},
	{name: "a subscription that ends, ends its replays", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		for name, end := range map[string]func(feedmill.Subscription){
			"deleted":  func(sub feedmill.Subscription) { must(t, s.DeleteSubscription(ctx, sub.Workspace, sub.ID, now())) },
			"disabled": func(sub feedmill.Subscription) { setState(t, s, sub, feedmill.SubscriptionDisabled) },
		} {
			w := newWorkspace(t, s)
			sub := subscribe(t, s, w.ID, "metric.*")
			accept(t, s, newEvents(3, w.ID, "metric.created", "")...)
			must(t, s.CreateReplay(ctx, newReplay(sub), nil))
			_, err := s.StepReplay(ctx, now(), maxAttempts, 1)
			must(t, err)
			end(sub)
			finishReplays(t, s, now(), 1)
			if n := countStates(t, s, sub); n[feedmill.DeliveryDiscarded] != 4 || len(n) != 1 {
				t.Errorf("%s: states are %v, want 4 discarded", name, n)
			}
		}
	}},
	{name: "undone where its response was kept before", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		want(t, s.CreateReplay(ctx, newReplay(sub), &response), feedmill.ErrIdempotencyKeyUsed)
		worked, err := s.StepReplay(ctx, now(), maxAttempts, 1)
		must(t, err)
		if worked {
			t.Error("a replay that was undone is worked on")
		}
	}},
}

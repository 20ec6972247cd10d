package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Replays are the replays of subscriptions.
type Replays interface {
	// CreateReplay begins a replay of what feedmill.NewReplay made, as far as it
	// has been counted.
	CreateReplay(context.Context, feedmill.Replay, *feedmill.IdempotentResponse) error
	// CountReplay counts the next part of what a replay selects, looking at a
	// number of records that goes by limit, and returns the replay with it. It
	// writes nothing.
	CountReplay(ctx context.Context, r feedmill.Replay, limit int) (feedmill.Replay, error)
	// Replay finds a replay of a subscription.
	Replay(ctx context.Context, workspace, subscription, id feedmill.ID) (feedmill.Replay, error)
	// CancelReplay ends a replay that goes on; one that has ended is
	// feedmill.ErrConflict.
	CancelReplay(ctx context.Context, workspace, subscription, id feedmill.ID, at time.Time) error
	// StepReplay counts a part of one unfinished replay, or makes up to limit
	// new deliveries for it and no more than its rate allows, and notes how far
	// it came, in one transaction. It reports whether there was one whose time
	// has come, and if not, when there will be; zero where all are finished. Of
	// a replay of missing events no event gets a second delivery. One whose
	// subscription is deleted or disabled is cancelled.
	StepReplay(ctx context.Context, now time.Time, limit int) (worked bool, next time.Time, err error)
}

func newReplay(sub feedmill.Subscription, selection feedmill.ReplaySelection) feedmill.Replay {
	return feedmill.NewReplay(feedmill.Replay{
		Workspace: sub.Workspace, Subscription: sub.ID, Selection: selection,
		Since: now().Add(-time.Hour), Until: now().Add(time.Hour), CreatedAt: now(),
	})
}

// finishReplays steps until there is nothing to replay.
func finishReplays(t *testing.T, s Store, at time.Time, limit int) {
	t.Helper()
	for range 50 {
		worked, next, err := s.StepReplay(t.Context(), at, limit)
		must(t, err)
		if !worked {
			if !next.IsZero() {
				t.Fatalf("a replay waits until %v", next)
			}
			return
		}
	}
	t.Fatal("the replay does not end")
}

// foundReplay reads a replay.
func foundReplay(t *testing.T, s Store, r feedmill.Replay) feedmill.Replay {
	t.Helper()
	found, err := s.Replay(t.Context(), r.Workspace, r.Subscription, r.ID)
	must(t, err)
	return found
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
		_, due := accept(t, s, newEvents(7, w.ID, "metric.created", "m_1")...)
		for _, d := range due {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		subscribe(t, s, w.ID, "metric.*")
		before := deliveries(t, s, sub)
		// Until lies in the future: the replay must not reach its own work.
		response := newOnce(w.ID, "k1")
		r := newReplay(sub, feedmill.ReplayDelivered)
		must(t, s.CreateReplay(ctx, r, &response))
		_, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		at := now().Add(time.Minute)
		for range 2 { // it is counted first
			worked, _, err := s.StepReplay(ctx, at, 3)
			must(t, err)
			if !worked {
				t.Fatal("nothing was done")
			}
		}
		if n, got := len(deliveries(t, s, sub)), foundReplay(t, s, r); n != 10 || got.State != feedmill.ReplayRunning || got.Total != 7 || got.Made != 3 {
			t.Fatalf("%d deliveries are there after a step, want 10; the replay is %+v", n, got)
		}
		must(t, s.Close())
		s = open(t)
		finishReplays(t, s, at, 3)
		after := deliveries(t, s, sub)
		if got := foundReplay(t, s, r); len(after) != 14 || got.State != feedmill.ReplayDone || got.Made != 7 || !got.EndedAt.Equal(at) {
			t.Fatalf("%d deliveries are there, want 14; the replay is %+v", len(after), got)
		}
		equal(t, "what was there", before, after[:7])
		equal(t, "events", eventsOf(before), eventsOf(after[7:]))
		for i, d := range after[7:] {
			wanted := due[i].Delivery
			wanted.ID, wanted.Seq, wanted.DueAt, wanted.CreatedAt = d.ID, d.Seq, at, d.ID.Time()
			equal(t, "new delivery", wanted, d)
			if d.Seq <= after[7+i-1].Seq {
				t.Errorf("delivery %d has seq %d after %d", i, d.Seq, after[7+i-1].Seq)
			}
		}
		again, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at, Limit: 99})
		must(t, err)
		if len(again) != 7 || string(again[6].Payload) != string(due[6].Payload) || len(again[6].Payload) == 0 {
			t.Errorf("%d deliveries are due with their payloads, want 7", len(again))
		}
	}},
	{name: "of the states wanted alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		for selection, want := range map[feedmill.ReplaySelection][]int{
			feedmill.ReplayUndelivered: {0, 2, 4}, feedmill.ReplayExhausted: {0, 4}, feedmill.ReplayDiscarded: {2}, feedmill.ReplayDelivered: {1},
		} {
			w := newWorkspace(t, s)
			sub := subscribe(t, s, w.ID, "metric.*")
			_, due := accept(t, s, newEvents(6, w.ID, "metric.created", "")...)
			for i, state := range []feedmill.DeliveryState{
				feedmill.DeliveryExhausted, feedmill.DeliveryDelivered, feedmill.DeliveryDiscarded, feedmill.DeliveryRetrying, feedmill.DeliveryExhausted,
			} {
				settle(t, s, due[i], state)
			}
			var events []feedmill.ID
			for _, i := range want {
				events = append(events, due[i].Event)
			}
			dry := newReplay(sub, selection)
			dry.DryRun = true
			counted, err := s.CountReplay(ctx, dry, 1000)
			must(t, err)
			if counted.State != feedmill.ReplayDone || counted.Total != len(want) {
				t.Errorf("%s: counted to %+v", selection, counted)
			}
			must(t, s.CreateReplay(ctx, dry, nil))
			finishReplays(t, s, now(), 2)
			if got := foundReplay(t, s, dry); got.State != feedmill.ReplayDone || got.Total != len(want) || got.Made != 0 {
				t.Errorf("%s: the dry run is %+v", selection, got)
			}
			must(t, s.CreateReplay(ctx, newReplay(sub, selection), nil))
			finishReplays(t, s, now(), 2)
			equal(t, "events", events, eventsOf(deliveries(t, s, sub)[6:]))
		}
	}},
	{name: "asked again, once of each event, and not of what was delivered since", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(4, w.ID, "metric.created", "")...)
		for _, d := range due {
			settle(t, s, d, feedmill.DeliveryExhausted)
		}
		nextMillisecond()
		end := now()
		nextMillisecond()
		made := func(what string, selection feedmill.ReplaySelection, until time.Time, want ...int) (fresh []feedmill.DueDelivery) {
			t.Helper()
			there := len(deliveries(t, s, sub))
			r := newReplay(sub, selection)
			r.Until = until
			r = feedmill.NewReplay(r)
			counted, err := s.CountReplay(ctx, r, 1000)
			must(t, err)
			must(t, s.CreateReplay(ctx, r, nil))
			finishReplays(t, s, now(), 2)
			var events []feedmill.ID
			for _, i := range want {
				events = append(events, deliveries(t, s, sub)[i].Event)
			}
			equal(t, what, events, eventsOf(deliveries(t, s, sub)[there:]))
			equal(t, what+", counted", len(want), counted.Total)
			nextMillisecond()
			again, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: now(), Limit: 99})
			must(t, err)
			return again
		}
		fresh := made("at first", feedmill.ReplayUndelivered, now(), 0, 1, 2, 3)
		made("while that goes on", feedmill.ReplayUndelivered, now())
		settle(t, s, fresh[0], feedmill.DeliveryDelivered)
		settle(t, s, fresh[1], feedmill.DeliveryDiscarded)
		settle(t, s, fresh[2], feedmill.DeliveryExhausted)
		fresh = made("where it failed again", feedmill.ReplayUndelivered, now(), 1, 2)
		for _, d := range fresh {
			settle(t, s, d, feedmill.DeliveryExhausted)
		}
		fresh = made("of the time in which it failed first", feedmill.ReplayExhausted, end, 1, 2, 3)
		for _, d := range fresh {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		made("when all was delivered", feedmill.ReplayUndelivered, now())
		fresh = made("what was delivered", feedmill.ReplayDelivered, now(), 0, 1, 2, 3)
		for _, d := range fresh {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		made("what was delivered twice", feedmill.ReplayDelivered, now(), 0, 1, 2, 3)
		must(t, s.CreateReplay(ctx, newReplay(other, feedmill.ReplayUndelivered), nil))
		finishReplays(t, s, now(), 2)
		equal(t, "of another subscription", 8, len(deliveries(t, s, other)))
	}},
	{name: "of events that were missed, once", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		var events []feedmill.Event
		for i := range 9 {
			events = append(events, newEvent(w.ID, []string{"metric.created", "tag.created", "metric.updated"}[i%3], []string{"", "m_1"}[i%2]))
		}
		accept(t, s, events...)
		accept(t, s, newEvent(newWorkspace(t, s).ID, "metric.created", ""))
		sub, filtered := subscribe(t, s, w.ID, "metric.*"), newSubscription(w.ID, "metric.updated")
		filtered.ResourceID = "m_1"
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{filtered}, 0, nil))
		_, due := accept(t, s, newEvent(w.ID, "metric.created", "")) // which it has
		settle(t, s, due[0], feedmill.DeliveryDelivered)
		for range 2 { // and asked twice
			must(t, s.CreateReplay(ctx, newReplay(sub, feedmill.ReplayMissing), nil))
			must(t, s.CreateReplay(ctx, newReplay(filtered, feedmill.ReplayMissing), nil))
			finishReplays(t, s, now(), 2)
		}
		of := func(numbers ...int) (ids []feedmill.ID) {
			for _, i := range numbers {
				ids = append(ids, events[i].ID)
			}
			return ids
		}
		equal(t, "of the family", append([]feedmill.ID{due[0].Event}, of(0, 2, 3, 5, 6, 8)...), eventsOf(deliveries(t, s, sub)))
		equal(t, "with a filter", of(5), eventsOf(deliveries(t, s, filtered)))
		// All are those without an open delivery.
		must(t, s.CreateReplay(ctx, newReplay(sub, feedmill.ReplayAll), nil))
		finishReplays(t, s, now(), 2)
		equal(t, "all", []feedmill.ID{due[0].Event}, eventsOf(deliveries(t, s, sub)[7:]))
	}},
	{name: "no faster than it may go", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(10, w.ID, "metric.created", "")...)
		for _, d := range due {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		r := newReplay(sub, feedmill.ReplayDelivered)
		r.Rate = 15
		must(t, s.CreateReplay(ctx, r, nil))
		at := now()
		var made []int
		for len(made) < 5 {
			worked, next, err := s.StepReplay(ctx, at, 500)
			must(t, err)
			got := foundReplay(t, s, r)
			switch {
			case got.State == feedmill.ReplayDone:
				made = append(made, got.Made)
			case worked && got.State == feedmill.ReplayRunning && got.Made > 0:
				made = append(made, got.Made)
			case !worked && next.Sub(at) != 200*time.Millisecond:
				t.Fatalf("the next step is due %v later", next.Sub(at))
			case !worked:
				at = next
			}
		}
		equal(t, "made", []int{3, 6, 9, 10, 10}, made)
	}},
	{name: "cancelled, it makes nothing more", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(4, w.ID, "metric.created", "")...)
		for _, d := range due {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		r := newReplay(sub, feedmill.ReplayDelivered)
		must(t, s.CreateReplay(ctx, r, nil))
		for range 2 {
			_, _, err := s.StepReplay(ctx, now(), 1)
			must(t, err)
		}
		want(t, s.CancelReplay(ctx, newWorkspace(t, s).ID, sub.ID, r.ID, now()), feedmill.ErrConflict)
		must(t, s.CancelReplay(ctx, w.ID, sub.ID, r.ID, now()))
		want(t, s.CancelReplay(ctx, w.ID, sub.ID, r.ID, now()), feedmill.ErrConflict)
		finishReplays(t, s, now(), 9)
		if got := foundReplay(t, s, r); got.State != feedmill.ReplayCancelled || got.Made != 1 || len(deliveries(t, s, sub)) != 5 {
			t.Errorf("the replay is %+v", got)
		}
		_, err := s.Replay(ctx, w.ID, subscribe(t, s, w.ID, "tag.*").ID, r.ID)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "of the time wanted alone, each replay by itself", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		var due []feedmill.DueDelivery
		for range 4 {
			_, one := accept(t, s, newEvent(w.ID, "metric.created", ""))
			due = append(due, one...)
			settle(t, s, one[0], feedmill.DeliveryDelivered)
			nextMillisecond()
		}
		late, early := newReplay(sub, feedmill.ReplayDelivered), newReplay(sub, feedmill.ReplayDelivered)
		late.Since, late.Until = due[2].CreatedAt, now()
		early.Since, early.Until = due[0].CreatedAt, due[2].CreatedAt
		late, early = feedmill.NewReplay(late), feedmill.NewReplay(early)
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
		accept(t, s, newEvents(3, w.ID, "metric.created", "")...)
		one, two := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		must(t, s.CreateReplay(ctx, newReplay(one, feedmill.ReplayMissing), nil))
		must(t, s.CreateReplay(ctx, newReplay(two, feedmill.ReplayMissing), nil))
		finishReplays(t, s, now(), 2)
		for _, sub := range []feedmill.Subscription{one, two} {
			if n := len(deliveries(t, s, sub)); n != 3 {
				t.Errorf("%d deliveries are there, want 3", n)
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
			accept(t, s, newEvents(3, w.ID, "metric.created", "")...)
			sub := subscribe(t, s, w.ID, "metric.*")
			r := newReplay(sub, feedmill.ReplayMissing)
			must(t, s.CreateReplay(ctx, r, nil))
			for range 2 {
				_, _, err := s.StepReplay(ctx, now(), 1)
				must(t, err)
			}
			end(sub)
			finishReplays(t, s, now(), 1)
			if n := countStates(t, s, sub); n[feedmill.DeliveryDiscarded] != 1 || len(n) != 1 {
				t.Errorf("%s: states are %v, want 1 discarded", name, n)
			}
			if got := foundReplay(t, s, r); got.State != feedmill.ReplayCancelled || got.Reason != "the subscription is "+name {
				t.Errorf("%s: the replay is %+v", name, got)
			}
		}
	}},
	{name: "replays take turns, whatever they make", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		busy, idle := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(40, w.ID, "metric.created", "m_1")...)
		for _, d := range due {
			settle(t, s, d, feedmill.DeliveryDelivered)
		}
		making, finding := newReplay(busy, feedmill.ReplayDelivered), newReplay(idle, feedmill.ReplayMissing)
		for _, r := range []feedmill.Replay{making, finding} {
			r.State = feedmill.ReplayRunning
			must(t, s.CreateReplay(ctx, r, nil))
		}
		for i := range 6 {
			_, _, err := s.StepReplay(ctx, now().Add(time.Duration(i+1)*time.Minute), 2)
			must(t, err)
		}
		equal(t, "made in half of six steps", 6, foundReplay(t, s, making).Made)
	}},
	{name: "undone where its response was kept before", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		want(t, s.CreateReplay(ctx, newReplay(sub, feedmill.ReplayDelivered), &response), feedmill.ErrIdempotencyKeyUsed)
		worked, _, err := s.StepReplay(ctx, now(), 1)
		must(t, err)
		if worked {
			t.Error("a replay that was undone is worked on")
		}
	}},
}

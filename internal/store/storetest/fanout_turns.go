package storetest

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// promisedEvents are so many events to so many subscriptions that the deliveries
// of all of them are promised, and none is made at once.
func promisedEvents(t *testing.T, s Store, w feedmill.ID, change func(int, *feedmill.Subscription)) ([]feedmill.Subscription, []feedmill.Event) {
	t.Helper()
	subs := make([]feedmill.Subscription, 501)
	for i := range subs {
		subs[i] = newSubscription(w, "metric.*")
		change(i, &subs[i])
	}
	must(t, s.CreateSubscriptions(t.Context(), subs, 0, nil))
	events := newEvents(feedmill.MaxMadeAtOnce/500, w, "metric.created", "m_1")
	accepted, due := accept(t, s, events...)
	if !accepted[0].Promised || len(due) != 0 {
		t.Fatalf("%d deliveries are made at once", len(due))
	}
	return subs, events
}

// setEvents changes what a subscription listens to.
func setEvents(t *testing.T, s Store, sub feedmill.Subscription, events ...string) {
	t.Helper()
	_, err := s.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		sub.Events = events
		return nil, nil
	})
	must(t, err)
}

var fanoutTurnCases = []testCase{
	{name: "workspaces take turns, however many events are promised to each", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		unchanged := func(int, *feedmill.Subscription) {}
		first, second := newWorkspace(t, s), newWorkspace(t, s)
		promisedEvents(t, s, first.ID, unchanged)
		step := func() feedmill.ID {
			t.Helper()
			var asked feedmill.ID
			due, worked, err := s.StepFanout(t.Context(), now(), func(workspace feedmill.ID) (int, int) {
				asked = workspace
				return 600, 0
			})
			must(t, err)
			if !worked || len(due) != 501 || asked != due[0].Workspace {
				t.Fatalf("%d deliveries are made, and the size of a step was asked for %q", len(due), asked)
			}
			return asked
		}
		step()
		step()
		promisedEvents(t, s, second.ID, unchanged)
		var turns []feedmill.ID
		for range 6 {
			turns = append(turns, step())
		}
		equal(t, "turns", []feedmill.ID{first.ID, second.ID, first.ID, second.ID, first.ID, second.ID}, turns)
	}},
	{name: "events that few hear of and that waited for others are made together", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		large, _ := promisedEvents(t, s, w.ID, func(int, *feedmill.Subscription) {})
		var few []feedmill.Subscription
		for range 3 {
			sub := newSubscription(w.ID, "tag.*")
			sub.Delivery.Ordered = true
			few = append(few, sub)
		}
		must(t, s.CreateSubscriptions(ctx, few, 0, nil))
		waiting := newEvents(feedmill.MaxKeptAtOnce+6, w.ID, "tag.created", "m_1")
		for i := range waiting {
			if accepted, _ := accept(t, s, waiting[i]); !accepted[0].Promised {
				t.Fatal("an event does not wait for those before it")
			}
		}
		step := func(limit, whole int) (events []feedmill.ID) {
			t.Helper()
			due, _, err := s.StepFanout(ctx, now(), UpTo(limit, whole))
			must(t, err)
			for _, d := range due {
				events = append(events, d.Event)
			}
			return events
		}
		for range feedmill.MaxMadeAtOnce / 500 {
			if first, second := step(30, 500), step(600, 500); len(first) != 30 || len(first)+len(second) != len(large) {
				t.Fatalf("%d and %d deliveries are made, of more than may be made whole", len(first), len(second))
			}
		}
		of := func(events ...feedmill.Event) (ids []feedmill.ID) {
			for _, e := range events {
				ids = append(ids, e.ID, e.ID, e.ID)
			}
			return ids
		}
		equal(t, "those for which there is room", of(waiting[:2]...), step(2, 8))
		equal(t, "one that is whole", of(waiting[2]), step(2, 3))
		equal(t, "one in parts", of(waiting[3])[:2], step(2, 2))
		equal(t, "the end of it", of(waiting[3])[:1], step(2, 8))
		const most = 4 + feedmill.MaxKeptAtOnce
		equal(t, "as many as may be in memory", of(waiting[4:most]...), step(2, 1000))
		equal(t, "the last", of(waiting[most:]...), step(2, 1000))
		equal(t, "none", nil, step(2, 8))
		for _, sub := range few {
			var got, want []feedmill.ID
			for _, d := range deliveries(t, s, sub) {
				got = append(got, d.Event)
			}
			for _, e := range waiting {
				want = append(want, e.ID)
			}
			equal(t, "order", want, got)
		}
	}},
	{name: "what was promised is for who listened then, and for none that was disabled since", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		const changed = 40 // and the next ones are special
		subs, events := promisedEvents(t, s, w.ID, func(i int, sub *feedmill.Subscription) {
			sub.Events = []string{"metric.created", "metric.*", "alert.*"}
			if i == changed+4 {
				sub.State = feedmill.SubscriptionDisabled
			}
		})
		for _, sub := range subs[:changed] {
			setEvents(t, s, sub, "tag.*")
		}
		special := subs[changed:]
		setState(t, s, special[0], feedmill.SubscriptionDisabled)
		setState(t, s, special[0], feedmill.SubscriptionActive)
		_, alerts := accept(t, s, newEvent(w.ID, "alert.created", "a_1"))
		for _, d := range alerts {
			if d.Subscription == special[1].ID {
				o := newOutcome(d, feedmill.DeliveryDiscarded)
				o.Disable = feedmill.DisabledGone
				_, err := s.Settle(ctx, []feedmill.Outcome{o})
				must(t, err)
			}
		}
		if got, err := s.Subscription(ctx, w.ID, special[1].ID); err != nil || got.State != feedmill.SubscriptionDisabled {
			t.Fatalf("the subscription is %+v (%v)", got, err)
		}
		setState(t, s, special[1], feedmill.SubscriptionActive)
		setEvents(t, s, special[2], "tag.*")
		setState(t, s, special[2], feedmill.SubscriptionDisabled)
		setState(t, s, special[2], feedmill.SubscriptionActive)
		must(t, s.DeleteSubscription(ctx, w.ID, special[3].ID, now()))
		setState(t, s, special[4], feedmill.SubscriptionActive)
		setState(t, s, special[5], feedmill.SubscriptionPaused)
		setState(t, s, special[5], feedmill.SubscriptionActive)

		made := make(map[feedmill.ID]int)
		for {
			due, _, err := s.StepFanout(ctx, now(), UpTo(30, 0))
			must(t, err)
			for _, d := range due {
				if d.Event == events[0].ID {
					made[d.Subscription]++
				}
			}
			making, err := s.Fanouts(ctx, w.ID, []feedmill.ID{events[0].ID})
			must(t, err)
			if len(making) == 0 {
				break
			}
		}
		for i, sub := range subs {
			want := 1
			if i >= changed && i < changed+5 {
				want = 0
				discarded := 0
				for _, d := range deliveries(t, s, sub) {
					if d.Event == events[0].ID && d.State == feedmill.DeliveryDiscarded {
						discarded++
					}
				}
				equal(t, "discarded", 1, discarded)
			}
			if made[sub.ID] != want {
				t.Errorf("subscription %d has %d deliveries that are due, want %d", i, made[sub.ID], want)
			}
		}
	}},
}

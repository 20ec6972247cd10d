package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Deliveries are the deliveries of events, and their attempts.
type Deliveries interface {
	Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error)
	Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error)
	// DeliveryAttempts lists the attempts of a delivery, first to last.
	// LastAttempts are the last attempts of those deliveries that were tried: when, how
	// long, with which status and error, and without the answers.
	LastAttempts(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID]feedmill.Attempt, error)
	DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error)
	// RetryDelivery makes a delivery pending and due at now with add more
	// attempts allowed than it has made, or as many as its subscription's own
	// schedule makes. respond is as with Accept. One
	// that is pending, or whose subscription is deleted or disabled, is
	// feedmill.ErrConflict.
	RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, respond func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error)
	// HastenRetries makes up to limit deliveries of a subscription that wait
	// for their next attempt, which is later than now, due at now, and reports
	// how many.
	HastenRetries(ctx context.Context, subscription feedmill.ID, now time.Time, limit int) (int, error)
	// Backlogs counts what is open of subscriptions, as far as most of each
	// state.
	Backlogs(ctx context.Context, subscriptions []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error)
	// Undelivered lists what ended without success, newest first, with its errors.
	Undelivered(ctx context.Context, workspace feedmill.ID, q feedmill.UndeliveredQuery) ([]feedmill.Undelivered, error)
}

// newOutcome is the outcome of a first attempt that left d in the state given.
func newOutcome(d feedmill.DueDelivery, state feedmill.DeliveryState) feedmill.Outcome {
	o := feedmill.Outcome{
		Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, Seq: d.Seq, State: state, At: now(),
		Attempt: &feedmill.Attempt{
			ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: d.ID, Number: d.Attempts + 1, At: now(), Status: 500,
			Timing: feedmill.Timing{Total: 1234 * time.Microsecond},
		},
	}
	switch state {
	case feedmill.DeliveryDelivered:
		o.Succeeded, o.Attempt.Status = true, 204
	case feedmill.DeliveryRetrying:
		o.DueAt = o.At.Add(time.Hour)
	default:
		o.Reason = "it did not work"
	}
	return o
}

// settle writes one outcome that changes the delivery's state alone.
func settle(t *testing.T, s Store, d feedmill.DueDelivery, state feedmill.DeliveryState) {
	t.Helper()
	_, err := s.Settle(t.Context(), []feedmill.Outcome{newOutcome(d, state)})
	must(t, err)
}

// deliveries lists all deliveries of a subscription, oldest first.
func deliveries(t *testing.T, s Store, sub feedmill.Subscription) []feedmill.Delivery {
	t.Helper()
	got, err := s.Deliveries(t.Context(), sub.Workspace, feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 10000}})
	must(t, err)
	for i := range len(got) / 2 {
		got[i], got[len(got)-1-i] = got[len(got)-1-i], got[i]
	}
	return got
}

// countStates counts the deliveries of a subscription.
func countStates(t *testing.T, s Store, sub feedmill.Subscription) map[feedmill.DeliveryState]int {
	t.Helper()
	n := make(map[feedmill.DeliveryState]int)
	for _, d := range deliveries(t, s, sub) {
		n[d.State]++
	}
	return n
}

var deliveryCases = []testCase{
	{name: "found in its workspace alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		subscribe(t, s, a.ID, "metric.*")
		_, due := accept(t, s, newEvent(a.ID, "metric.created", "m_1"))
		got, err := s.Delivery(ctx, a.ID, due[0].ID)
		must(t, err)
		equal(t, "found", due[0].Delivery, got)
		for w, id := range map[feedmill.ID]feedmill.ID{b.ID: due[0].ID, a.ID: feedmill.NewID(feedmill.PrefixDelivery)} {
			_, err = s.Delivery(ctx, w, id)
			want(t, err, feedmill.ErrNotFound)
		}
		attempts, err := s.DeliveryAttempts(ctx, due[0].ID)
		must(t, err)
		equal(t, "attempts", nil, attempts)
	}},
	{name: "listed newest first in pages, by subscription, state, type and time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*", "tag.*"), subscribe(t, s, w.ID, "dashboard.*")
		elsewhere := subscribe(t, s, newWorkspace(t, s).ID, "metric.*")
		var all []feedmill.DueDelivery
		add := func(w feedmill.ID, name string, state feedmill.DeliveryState) {
			_, due := accept(t, s, newEvent(w, name, ""))
			if state != feedmill.DeliveryPending {
				settle(t, s, due[0], state)
			}
			all = append(all, due[0])
		}
		add(w.ID, "metric.created", feedmill.DeliveryDelivered) // 0
		add(w.ID, "tag.created", feedmill.DeliveryExhausted)    // 1
		add(w.ID, "metric.created", feedmill.DeliveryDiscarded) // 2
		add(w.ID, "dashboard.shared", feedmill.DeliveryExhausted)
		nextMillisecond()
		add(w.ID, "metric.created", feedmill.DeliveryPending)  // 4
		add(w.ID, "metric.created", feedmill.DeliveryRetrying) // 5
		add(elsewhere.Workspace, "metric.created", feedmill.DeliveryExhausted)
		add(w.ID, "tag.created", feedmill.DeliveryDelivered)    // 7
		add(w.ID, "metric.created", feedmill.DeliveryDelivered) // 8
		since := all[4].CreatedAt
		undelivered := []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}
		delivered := []feedmill.DeliveryState{feedmill.DeliveryDelivered}
		for _, c := range []struct {
			query feedmill.DeliveryQuery
			want  []int
		}{
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}}, []int{8, 7, 5, 4, 2, 1, 0}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 3}}, []int{8, 7, 5}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 3, Before: all[5].ID}}, []int{4, 2, 1}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 3}, After: all[2].ID}, []int{4, 5, 7}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, After: all[0].ID, States: delivered}, []int{7, 8}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, After: all[8].ID}, nil},
			{feedmill.DeliveryQuery{Subscription: other.ID, Page: feedmill.Page{Limit: 9}}, []int{3}},
			{feedmill.DeliveryQuery{Subscription: elsewhere.ID, Page: feedmill.Page{Limit: 9}}, nil},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, States: delivered}, []int{8, 7, 0}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 1, Before: all[8].ID}, States: delivered}, []int{7}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, States: append(delivered, feedmill.DeliveryRetrying)}, []int{8, 7, 5, 0}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, States: []feedmill.DeliveryState{feedmill.DeliveryDelivering}}, nil},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, Type: "tag.created"}, []int{7, 1}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 2}, Type: "metric.created"}, []int{8, 5}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, Type: "metric.created", States: delivered}, []int{8, 0}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, Since: since}, []int{8, 7, 5, 4}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9, Before: all[8].ID}, Since: since, Type: "metric.created"}, []int{5, 4}},
			{feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}, Since: since, Type: "metric.created", States: delivered}, []int{8}},
			{feedmill.DeliveryQuery{Page: feedmill.Page{Limit: 9}, States: undelivered}, []int{3, 2, 1}},
			{feedmill.DeliveryQuery{Page: feedmill.Page{Limit: 1, Before: all[3].ID}, States: undelivered}, []int{2}},
			{feedmill.DeliveryQuery{Page: feedmill.Page{Limit: 9}, States: undelivered, Type: "tag.created"}, []int{1}},
			{feedmill.DeliveryQuery{Page: feedmill.Page{Limit: 9}, States: undelivered, Since: since}, nil},
		} {
			got, err := s.Deliveries(ctx, w.ID, c.query)
			must(t, err)
			var wanted, ids []feedmill.ID
			for _, i := range c.want {
				wanted = append(wanted, all[i].ID)
			}
			for _, d := range got {
				ids = append(ids, d.ID)
			}
			equal(t, fmt.Sprintf("%+v", c.query), wanted, ids)
		}
	}},
	{name: "undelivered ones with their errors, newest first, by subscription, state and time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "tag.*")
		elsewhere := subscribe(t, s, newWorkspace(t, s).ID, "metric.*")
		var all []feedmill.DueDelivery
		add := func(w feedmill.ID, name string, state feedmill.DeliveryState, reason, last string) {
			_, due := accept(t, s, newEvent(w, name, ""))
			first := newOutcome(due[0], feedmill.DeliveryRetrying)
			first.Attempt.Error = "the first attempt failed"
			_, err := s.Settle(ctx, []feedmill.Outcome{first})
			must(t, err)
			o := newOutcome(due[0], state)
			o.Attempt.Number, o.Attempt.Error, o.Reason, o.At = 2, last, reason, now().Add(time.Minute)
			_, err = s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
			all = append(all, due[0])
		}
		add(w.ID, "metric.created", feedmill.DeliveryExhausted, feedmill.AttemptsFailed(2), "the endpoint returned 503") // 0
		add(w.ID, "tag.created", feedmill.DeliveryExhausted, "the endpoint returned 400", "the endpoint returned 400")   // 1
		add(w.ID, "metric.created", feedmill.DeliveryDiscarded, feedmill.DiscardedDisabled, "the endpoint returned 500") // 2
		nextMillisecond()
		add(w.ID, "metric.created", feedmill.DeliveryDelivered, "", "")
		add(w.ID, "metric.created", feedmill.DeliveryExhausted, feedmill.AttemptsFailed(2), "the connection was refused") // 4
		add(elsewhere.Workspace, "metric.created", feedmill.DeliveryExhausted, feedmill.AttemptsFailed(2), "elsewhere")
		accept(t, s, newEvent(w.ID, "metric.created", ""))
		errors := map[int]string{0: "the endpoint returned 503", 1: "the endpoint returned 400", 2: feedmill.DiscardedDisabled, 4: "the connection was refused"}
		exhausted, page := []feedmill.DeliveryState{feedmill.DeliveryExhausted}, feedmill.Page{Limit: 9}
		for _, c := range []struct {
			query feedmill.UndeliveredQuery
			want  []int
		}{
			{feedmill.UndeliveredQuery{Page: page}, []int{4, 2, 1, 0}},
			{feedmill.UndeliveredQuery{Page: feedmill.Page{Limit: 2}}, []int{4, 2}},
			{feedmill.UndeliveredQuery{Page: feedmill.Page{Limit: 2, Before: all[2].ID}}, []int{1, 0}},
			{feedmill.UndeliveredQuery{Page: page, States: exhausted}, []int{4, 1, 0}},
			{feedmill.UndeliveredQuery{Page: page, States: []feedmill.DeliveryState{feedmill.DeliveryDiscarded}}, []int{2}},
			{feedmill.UndeliveredQuery{Page: page, States: []feedmill.DeliveryState{feedmill.DeliveryDelivered}}, nil},
			{feedmill.UndeliveredQuery{Page: page, Subscription: sub.ID}, []int{4, 2, 0}},
			{feedmill.UndeliveredQuery{Page: feedmill.Page{Limit: 1, Before: all[4].ID}, Subscription: sub.ID, States: exhausted}, []int{0}},
			{feedmill.UndeliveredQuery{Page: page, Subscription: other.ID}, []int{1}},
			{feedmill.UndeliveredQuery{Page: page, Subscription: elsewhere.ID}, nil},
			{feedmill.UndeliveredQuery{Page: page, Since: all[4].CreatedAt}, []int{4}},
		} {
			got, err := s.Undelivered(ctx, w.ID, c.query)
			must(t, err)
			var want []feedmill.Undelivered
			for _, i := range c.want {
				d, err := s.Delivery(ctx, w.ID, all[i].ID)
				must(t, err)
				want = append(want, feedmill.Undelivered{ID: d.ID, Subscription: d.Subscription, State: d.State, Error: errors[i], EndedAt: d.EndedAt})
			}
			equal(t, fmt.Sprintf("%+v", c.query), want, got)
		}
	}},
	{name: "retrying ones of a paused subscription are held as pending, in steps", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(4, w.ID, "metric.created", "")...)
		for _, d := range due {
			if d.Subscription == other.ID || d.Event != due[0].Event {
				settle(t, s, d, feedmill.DeliveryRetrying)
			}
		}
		before := deliveries(t, s, sub)
		for _, wanted := range []int{2, 1, 0} {
			got, err := s.HoldOpen(ctx, sub.ID, 2)
			must(t, err)
			if got != wanted {
				t.Errorf("held %d, want %d", got, wanted)
			}
		}
		for i := range before {
			before[i].State = feedmill.DeliveryPending
		}
		equal(t, "held deliveries", before, deliveries(t, s, sub))
		if n := countStates(t, s, other); n[feedmill.DeliveryRetrying] != 4 {
			t.Errorf("states of another subscription are %v", n)
		}
	}},
	{name: "open ones of a subscription that ends are discarded in steps", run: func(t *testing.T, open func(*testing.T) Store) {
		ends := []struct {
			name   string
			end    func(*testing.T, Store, feedmill.Subscription, feedmill.DueDelivery, time.Time)
			reason string
		}{
			{"deleted", func(t *testing.T, s Store, sub feedmill.Subscription, _ feedmill.DueDelivery, at time.Time) {
				must(t, s.DeleteSubscription(t.Context(), sub.Workspace, sub.ID, at))
			}, "the subscription is deleted"},
			{"disabled by a change", func(t *testing.T, s Store, sub feedmill.Subscription, _ feedmill.DueDelivery, at time.Time) {
				_, err := s.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
					sub.State, sub.DisabledReason, sub.UpdatedAt = feedmill.SubscriptionDisabled, feedmill.DisabledByUser, at
					return nil, nil
				})
				must(t, err)
			}, "the subscription is disabled"},
			{"disabled by an outcome", func(t *testing.T, s Store, sub feedmill.Subscription, d feedmill.DueDelivery, at time.Time) {
				o := newOutcome(d, feedmill.DeliveryRetrying)
				o.Disable, o.At = feedmill.DisabledGone, at
				_, err := s.Settle(t.Context(), []feedmill.Outcome{o})
				must(t, err)
			}, "the subscription is disabled"},
		}
		s, ctx := open(t), t.Context()
		for _, c := range ends {
			w := newWorkspace(t, s)
			sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "tag.*")
			accept(t, s, newEvent(w.ID, "tag.created", ""))
			_, due := accept(t, s, newEvents(feedmill.DiscardStep+4, w.ID, "metric.created", "m_1")...)
			settle(t, s, due[0], feedmill.DeliveryDelivered)
			at := now().Add(time.Minute)
			c.end(t, s, sub, due[1], at)
			n := countStates(t, s, sub)
			if n[feedmill.DeliveryDelivered] != 1 || n[feedmill.DeliveryDiscarded] != feedmill.DiscardStep {
				t.Errorf("%s: states are %v, want one delivered and %d discarded", c.name, n, feedmill.DiscardStep)
			}
			for _, wanted := range []int{2, 1, 0} {
				got, err := s.DiscardOpen(ctx, sub.ID, c.reason, at, 2)
				must(t, err)
				if got != wanted {
					t.Errorf("%s: discarded %d, want %d", c.name, got, wanted)
				}
			}
			for _, d := range deliveries(t, s, sub)[1:] {
				if d.State != feedmill.DeliveryDiscarded || d.Reason != c.reason || !d.EndedAt.Equal(at) {
					t.Errorf("%s: delivery is %+v", c.name, d)
					break
				}
			}
			if n := countStates(t, s, other); n[feedmill.DeliveryPending] != 1 {
				t.Errorf("%s: another subscription's states are %v", c.name, n)
			}
		}
	}},
	{name: "of a subscription that is active again nothing is discarded", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		for _, state := range []feedmill.SubscriptionState{feedmill.SubscriptionActive, feedmill.SubscriptionPaused} {
			setState(t, s, sub, feedmill.SubscriptionDisabled)
			setState(t, s, sub, state)
			accept(t, s, newEvents(2, w.ID, "metric.created", "")...)
			n, err := s.DiscardOpen(ctx, sub.ID, "by who has not heard of it", now(), 10)
			must(t, err)
			equal(t, "discarded", 0, n)
			equal(t, "pending", 2, countStates(t, s, sub)[feedmill.DeliveryPending])
		}
	}},
}

package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

var retryCases = []testCase{
	{name: "by hand: due again with more attempts", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		states := []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDelivered, feedmill.DeliveryDiscarded, feedmill.DeliveryRetrying}
		_, due := accept(t, s, newEvents(len(states), w.ID, "metric.created", "m_1")...)
		at := now().Add(time.Minute)
		for i, state := range states {
			settle(t, s, due[i], state)
			response := newOnce(w.ID, string(state))
			wanted := due[i]
			wanted.State, wanted.Attempts, wanted.MaxAttempts, wanted.DueAt = feedmill.DeliveryPending, 1, 5, at
			got, err := s.RetryDelivery(ctx, w.ID, due[i].ID, 4, at, func(d feedmill.Delivery) *feedmill.IdempotentResponse {
				equal(t, "given to keep", wanted.Delivery, d)
				return &response
			})
			must(t, err)
			equal(t, string(state), wanted, got)
			found, err := s.Delivery(ctx, w.ID, due[i].ID)
			must(t, err)
			equal(t, string(state)+": found", wanted.Delivery, found)
			_, err = s.KeptResponse(ctx, w.ID, owner, string(state), now())
			must(t, err)
		}
		again, err := s.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at, Limit: 9})
		must(t, err)
		if len(again) != len(states) {
			t.Errorf("%d are due again, want %d", len(again), len(states))
		}
	}},
	{name: "refused where it would mean nothing", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		ended := func(name string) (feedmill.Subscription, feedmill.DueDelivery) {
			sub := subscribe(t, s, w.ID, name)
			_, due := accept(t, s, newEvent(w.ID, name, ""))
			settle(t, s, due[0], feedmill.DeliveryExhausted)
			return sub, due[0]
		}
		disabled, ofDisabled := ended("metric.created")
		setState(t, s, disabled, feedmill.SubscriptionDisabled)
		deleted, ofDeleted := ended("metric.updated")
		must(t, s.DeleteSubscription(ctx, w.ID, deleted.ID, now()))
		paused, ofPaused := ended("metric.deleted")
		setState(t, s, paused, feedmill.SubscriptionPaused)
		subscribe(t, s, w.ID, "tag.created")
		_, pending := accept(t, s, newEvent(w.ID, "tag.created", ""))
		for _, c := range []struct {
			name      string
			workspace feedmill.ID
			id        feedmill.ID
			want      error
			why       string
		}{
			{"pending", w.ID, pending[0].ID, feedmill.ErrConflict, "already pending"},
			{"disabled", w.ID, ofDisabled.ID, feedmill.ErrConflict, "is disabled"},
			{"deleted", w.ID, ofDeleted.ID, feedmill.ErrConflict, "is deleted"},
			{"not there", w.ID, feedmill.NewID(feedmill.PrefixDelivery), feedmill.ErrNotFound, ""},
			{"of another workspace", newWorkspace(t, s).ID, ofPaused.ID, feedmill.ErrNotFound, ""},
			{"paused", w.ID, ofPaused.ID, nil, ""},
		} {
			_, err := s.RetryDelivery(ctx, c.workspace, c.id, 1, now(), nil)
			if c.want == nil {
				must(t, err)
			} else {
				want(t, err, c.want)
			}
			if refusal, ok := errors.AsType[*feedmill.Error](err); c.why != "" && (!ok || refusal.Type != "not-retryable" || !strings.Contains(refusal.Detail, c.why)) {
				t.Errorf("%s: refused with %v", c.name, err)
			}
		}
	}},
	{name: "undone where its response was kept before", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		settle(t, s, due[0], feedmill.DeliveryExhausted)
		before := deliveries(t, s, sub)[0]
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		_, err := s.RetryDelivery(ctx, w.ID, due[0].ID, 1, now(), func(feedmill.Delivery) *feedmill.IdempotentResponse { return &response })
		want(t, err, feedmill.ErrIdempotencyKeyUsed)
		equal(t, "delivery", before, deliveries(t, s, sub)[0])
	}},
	{name: "a schedule of the subscription's own says how many attempts there are", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		budgets := func() (n []int) {
			for _, d := range deliveries(t, s, sub) {
				n = append(n, d.MaxAttempts)
			}
			return n
		}
		accept(t, s, newEvent(w.ID, "metric.created", ""))
		_, err := s.ChangeSubscription(ctx, w.ID, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			sub.Delivery.Retries = feedmill.RetrySchedule{time.Second, time.Minute}
			return nil, nil
		})
		must(t, err)
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		equal(t, "budgets", []int{maxAttempts, 3}, budgets())
		equal(t, "budget of what is due", 3, due[0].MaxAttempts)
		settle(t, s, due[0], feedmill.DeliveryExhausted)
		must(t, s.CreateReplay(ctx, newReplay(sub, feedmill.ReplayExhausted), nil))
		finishReplays(t, s, now(), 9)
		retried, err := s.RetryDelivery(ctx, w.ID, due[0].ID, maxAttempts, now(), nil)
		must(t, err)
		equal(t, "budget of a retry by hand", 1+3, retried.MaxAttempts)
		equal(t, "budgets", []int{maxAttempts, 4, 3}, budgets())
	}},
	{name: "of a whole subscription: what waits is due, and nothing else changes", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(5, w.ID, "metric.created", "")...)
		for _, d := range due {
			o := newOutcome(d, feedmill.DeliveryRetrying)
			o.DueAt = now().Add(time.Hour)
			_, err := s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
		}
		at := now()
		for _, step := range []struct{ limit, want int }{{3, 3}, {3, 2}, {3, 0}} {
			n, err := s.HastenRetries(ctx, sub.ID, at, step.limit)
			must(t, err)
			equal(t, "hastened", step.want, n)
		}
		for id, want := range map[feedmill.ID]int{sub.ID: 5, other.ID: 0} {
			found, err := s.Due(ctx, feedmill.DueQuery{Subscription: id, Now: at, Limit: 9})
			must(t, err)
			equal(t, "due", want, len(found))
			for _, d := range found {
				if d.State != feedmill.DeliveryRetrying || d.Attempts != 1 || !d.DueAt.Equal(at) {
					t.Errorf("hastened to %+v", d.Delivery)
				}
			}
		}
	}},
	{name: "backlogs of subscriptions", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "tag.*")
		check := func(when string, most int, want feedmill.SubscriptionBacklog) {
			t.Helper()
			found, err := s.Backlogs(ctx, []feedmill.ID{other.ID, sub.ID}, most)
			must(t, err)
			equal(t, when, want, found[sub.ID])
			equal(t, "the other's", feedmill.SubscriptionBacklog{}, found[other.ID])
		}
		check("of a new one", 9, feedmill.SubscriptionBacklog{})
		_, due := accept(t, s, newEvents(6, w.ID, "metric.created", "")...)
		for i, state := range []feedmill.DeliveryState{
			feedmill.DeliveryDelivered, feedmill.DeliveryRetrying, feedmill.DeliveryExhausted, feedmill.DeliveryRetrying,
		} {
			settle(t, s, due[i], state)
		}
		check("of one that was used", 9, feedmill.SubscriptionBacklog{Pending: 2, Retrying: 2, Oldest: due[1].CreatedAt})
		check("counted no further", 1, feedmill.SubscriptionBacklog{Pending: 1, Retrying: 1, Oldest: due[1].CreatedAt})
		setState(t, s, sub, feedmill.SubscriptionDisabled)
		check("of one without work", 9, feedmill.SubscriptionBacklog{})
	}},
}

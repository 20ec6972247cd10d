package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Subscriptions are the subscriptions of a store.
type Subscriptions interface {
	// CreateSubscriptions adds all of them or none. With most, which is for
	// subscriptions or for listeners and not for both together, their
	// workspace has no more than that in the end, whoever else adds some at the
	// same time; else that is a feedmill.QuotaError.
	CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error
	// Subscription finds one that is not deleted.
	Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	// Subscriptions lists those that are not deleted, newest first.
	Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error)
	SubscriptionStandings(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.SubscriptionStanding, error)
	// ChangeSubscription changes one that is not deleted, alone with it. It
	// writes every field but the id, the workspace, CreatedAt and DeletedAt. An
	// error of change leaves everything as it was. A subscription that becomes
	// disabled has up to feedmill.DiscardStep of its open deliveries discarded in the
	// same transaction, ended at its UpdatedAt.
	ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error)
	// DeleteSubscription deletes one and discards up to feedmill.DiscardStep of its
	// open deliveries. The record stays, with DeletedAt, for its deliveries.
	DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	// SubscriptionForDelivery finds one in any workspace, deleted or not.
	SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error)
	// SubscriptionsForDelivery are those of some ids that are there, in any
	// workspace, deleted or not.
	SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error)
	// StoredSubscriptions are up to limit of all workspaces, deleted ones and
	// listeners among them, behind an id and in the order of their ids.
	StoredSubscriptions(ctx context.Context, after feedmill.ID, limit int) ([]feedmill.Subscription, error)
	// ReplaceURLs writes URLs in another form, where they are what they were, and
	// changes nothing else.
	ReplaceURLs(ctx context.Context, changes []feedmill.URLChange) error
}

// newSubscription is an active subscription with every field set that a fresh
// one can have.
func newSubscription(w feedmill.ID, events ...string) feedmill.Subscription {
	at := now()
	return feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w, Name: "a subscription",
		Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com/hook", Method: "POST"},
		Events:      events, State: feedmill.SubscriptionActive,
		Delivery: feedmill.DeliverySettings{Timeout: feedmill.DefaultTimeout, Concurrency: feedmill.DefaultConcurrency},
		Secrets:  []byte{0, 1, 255}, CreatedAt: at, UpdatedAt: at,
	}
}

// subscribe creates a subscription of the workspace.
func subscribe(t *testing.T, s Store, w feedmill.ID, events ...string) feedmill.Subscription {
	t.Helper()
	sub := newSubscription(w, events...)
	must(t, s.CreateSubscriptions(t.Context(), []feedmill.Subscription{sub}, 0, nil))
	return sub
}

// setState changes the state of a subscription.
func setState(t *testing.T, s Store, sub feedmill.Subscription, state feedmill.SubscriptionState) {
	t.Helper()
	_, err := s.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		sub.State = state
		return nil, nil
	})
	must(t, err)
}

var subscriptionCases = []testCase{
	{name: "several to be sent to", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		subs := []feedmill.Subscription{subscribe(t, s, a.ID, "metric.*"), subscribe(t, s, b.ID, "tag.*"), subscribe(t, s, a.ID, "tag.*")}
		subscribe(t, s, a.ID, "metric.*") // nobody asks for this one
		subs[1].DeletedAt = now()
		must(t, s.DeleteSubscription(ctx, b.ID, subs[1].ID, subs[1].DeletedAt))
		got, err := s.SubscriptionsForDelivery(ctx, []feedmill.ID{subs[0].ID, "sub_unknown", subs[1].ID, subs[2].ID, subs[2].ID})
		must(t, err)
		slices.SortFunc(got, func(x, y feedmill.Subscription) int { return strings.Compare(string(x.ID), string(y.ID)) })
		slices.SortFunc(subs, func(x, y feedmill.Subscription) int { return strings.Compare(string(x.ID), string(y.ID)) })
		equal(t, "subscriptions", subs, got)
		got, err = s.SubscriptionsForDelivery(ctx, nil)
		must(t, err)
		equal(t, "of none", 0, len(got))
	}},
	{name: "all that are stored, and their URLs in another form", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		subs := []feedmill.Subscription{subscribe(t, s, a.ID, "metric.*"), subscribe(t, s, b.ID, "tag.*"), subscribe(t, s, a.ID, "tag.*")}
		deleted := now()
		must(t, s.DeleteSubscription(ctx, b.ID, subs[1].ID, deleted))
		subs[1].DeletedAt = deleted
		var changes []feedmill.URLChange
		for i := range subs {
			changes = append(changes, feedmill.URLChange{Subscription: subs[i].ID, From: subs[i].Destination.URL, To: "written otherwise"})
		}
		changes[2].From = "https://example.com/before" // somebody was faster
		must(t, s.ReplaceURLs(ctx, changes))
		subs[0].Destination.URL, subs[1].Destination.URL = "written otherwise", "written otherwise"
		first, err := s.StoredSubscriptions(ctx, "", 2)
		must(t, err)
		rest, err := s.StoredSubscriptions(ctx, first[1].ID, 2)
		must(t, err)
		equal(t, "stored", subs, append(first, rest...))
	}},
	{name: "created, found and counted, each in its workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		one, two := newSubscription(a.ID, "metric.created", "tag.*"), newSubscription(a.ID, "datasource.*")
		one.Destination.Method, one.ResourceID, one.State, one.DisabledReason = "GET", "m 1/ü", feedmill.SubscriptionDisabled, feedmill.DisabledGone
		one.Destination.Config, one.Destination.ConfigNames, one.Destination.Shown = []byte("sealed"), []string{"X-One", "X-Two"}, []byte("shown")
		one.Delivery = feedmill.DeliverySettings{
			Timeout: 1500 * time.Millisecond, RateLimit: 7, RatePer: time.Minute, Concurrency: 3, Ordered: true,
			Retries: feedmill.RetrySchedule{1500 * time.Millisecond, time.Minute, 24 * time.Hour}, DisableAfter: feedmill.NeverDisable,
			Batch: feedmill.Batch{MaxEvents: 7, MaxWait: 1500 * time.Millisecond},
		}
		one.FailingSince, one.Failures = now().Add(-2*time.Hour), 3
		one.LastSuccessAt, one.WarnedAt = now().Add(-time.Hour), now().Add(-time.Minute)
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{one, two}, 0, nil))
		for _, sub := range []feedmill.Subscription{one, two} {
			got, err := s.Subscription(ctx, a.ID, sub.ID)
			must(t, err)
			equal(t, "found", sub, got)
			got, err = s.SubscriptionForDelivery(ctx, sub.ID)
			must(t, err)
			equal(t, "found for delivery", sub, got)
			_, err = s.Subscription(ctx, b.ID, sub.ID)
			want(t, err, feedmill.ErrNotFound)
		}
		for w, n := range map[feedmill.ID]int{a.ID: 2, b.ID: 0} {
			counts(t, s, w, n, 0)
		}
		_, err := s.SubscriptionForDelivery(ctx, feedmill.NewID(feedmill.PrefixSubscription))
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "listed newest first in pages, without the deleted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subscribe(t, s, newWorkspace(t, s).ID, "metric.*")
		var made []feedmill.Subscription
		for range 5 {
			made = append(made, subscribe(t, s, w.ID, "metric.*"))
		}
		must(t, s.DeleteSubscription(ctx, w.ID, made[2].ID, now()))
		made = slices.Delete(made, 2, 3)
		slices.Reverse(made)
		var listed []feedmill.Subscription
		for page := (feedmill.Page{Limit: 3}); ; page.Before = listed[len(listed)-1].ID {
			part, err := s.Subscriptions(ctx, w.ID, page)
			must(t, err)
			if len(part) == 0 {
				break
			}
			listed = append(listed, part...)
		}
		equal(t, "listed", made, listed)
		_, err := s.ChangeSubscription(ctx, w.ID, made[1].ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			sub.State, sub.DisabledReason = feedmill.SubscriptionDisabled, feedmill.DisabledGone
			return nil, nil
		})
		must(t, err)
		standings, err := s.SubscriptionStandings(ctx, w.ID, 3)
		must(t, err)
		equal(t, "standings", []feedmill.SubscriptionStanding{
			{ID: made[0].ID, State: feedmill.SubscriptionActive},
			{ID: made[1].ID, State: feedmill.SubscriptionDisabled, DisabledReason: feedmill.DisabledGone},
			{ID: made[2].ID, State: feedmill.SubscriptionActive},
		}, standings)
	}},
	{name: "all are created or none", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		one, two := newSubscription(w.ID, "metric.*"), newSubscription(w.ID, "tag.*")
		want(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{one, two, one}, 0, nil), feedmill.ErrConflict)
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		want(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{one, two}, 0, &response), feedmill.ErrIdempotencyKeyUsed)
		_, err := s.Subscription(ctx, w.ID, two.ID)
		want(t, err, feedmill.ErrNotFound)
		if _, due := accept(t, s, newEvent(w.ID, "metric.created", "")); len(due) != 0 {
			t.Errorf("a subscription that was never created has %d deliveries", len(due))
		}
		response = newOnce(w.ID, "k2")
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{one, two}, 0, &response))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k2", now())
		must(t, err)
	}},
	{name: "a change writes all but what never changes", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		old := subscribe(t, s, w.ID, "metric.*")
		changed := newSubscription(newWorkspace(t, s).ID, "tag.created", "dashboard.*")
		changed.Name, changed.ResourceID = "new", "d_1"
		changed.Destination = feedmill.Destination{Kind: "another", URL: "https://example.org/", Method: "GET", Config: []byte("h"), ConfigNames: []string{"A"}, Shown: []byte("s")}
		changed.State, changed.DisabledReason = feedmill.SubscriptionDisabled, feedmill.DisabledByUser
		changed.Delivery = feedmill.DeliverySettings{
			Timeout: time.Second, RateLimit: 2, RatePer: time.Hour, Concurrency: 1, Ordered: true,
			Retries: feedmill.RetrySchedule{time.Second}, DisableAfter: 7 * 24 * time.Hour,
			Batch: feedmill.Batch{MaxEvents: 100, MaxWait: time.Minute},
		}
		changed.Secrets = []byte("s")
		changed.CreatedAt, changed.UpdatedAt = now().Add(time.Hour), now().Add(time.Minute)
		changed.LastSuccessAt, changed.WarnedAt, changed.FailingSince, changed.Failures = now(), now(), now(), 1
		response := newOnce(w.ID, "k1")
		got, err := s.ChangeSubscription(ctx, w.ID, old.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			equal(t, "given to change", old, *sub)
			*sub = changed
			return &response, nil
		})
		must(t, err)
		wanted := changed
		wanted.ID, wanted.Workspace, wanted.CreatedAt = old.ID, old.Workspace, old.CreatedAt
		equal(t, "returned", wanted, got)
		got, err = s.Subscription(ctx, w.ID, old.ID)
		must(t, err)
		equal(t, "found", wanted, got)
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
	}},
	{name: "a change moves what is matched", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.created", "tag.*")
		change := func(resource string, events ...string) {
			_, err := s.ChangeSubscription(ctx, w.ID, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
				sub.Events, sub.ResourceID = events, resource
				return nil, nil
			})
			must(t, err)
		}
		matched := func(wanted ...string) {
			t.Helper()
			_, due := accept(t, s, newEvent(w.ID, "metric.created", "m_1"), newEvent(w.ID, "metric.created", "m_2"), newEvent(w.ID, "tag.created", "m_1"))
			var got []string
			for _, d := range due {
				got = append(got, d.Type+" "+d.ResourceID)
			}
			equal(t, "matched", wanted, got)
		}
		matched("metric.created m_1", "metric.created m_2", "tag.created m_1")
		change("m_1", "metric.created", "tag.*")
		matched("metric.created m_1", "tag.created m_1")
		change("m_2", "metric.*")
		matched("metric.created m_2")
		change("", "tag.created")
		matched("tag.created m_1")
	}},
	{name: "a change of state decides what becomes of events from then on", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		for _, c := range []struct {
			state feedmill.SubscriptionState
			want  feedmill.DeliveryState
		}{
			{feedmill.SubscriptionDisabled, feedmill.DeliveryDiscarded},
			{feedmill.SubscriptionPaused, feedmill.DeliveryPending},
			{feedmill.SubscriptionDisabled, feedmill.DeliveryDiscarded},
			{feedmill.SubscriptionActive, feedmill.DeliveryPending},
		} {
			setState(t, s, sub, c.state)
			accept(t, s, newEvent(w.ID, "metric.created", ""))
			all := deliveries(t, s, sub)
			if got := all[len(all)-1].State; got != c.want {
				t.Errorf("while %s a delivery is %s, want %s", c.state, got, c.want)
			}
		}
	}},
	{name: "a change that fails leaves all as it was", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		old := subscribe(t, s, w.ID, "metric.*")
		accept(t, s, newEvent(w.ID, "metric.created", ""))
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		refused := errors.New("refused")
		for _, c := range []struct {
			response *feedmill.IdempotentResponse
			err      error
			want     error
		}{{nil, refused, refused}, {&response, nil, feedmill.ErrIdempotencyKeyUsed}} {
			_, err := s.ChangeSubscription(ctx, w.ID, old.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
				sub.Name, sub.State, sub.Events[0] = "changed", feedmill.SubscriptionDisabled, "tag.*"
				return c.response, c.err
			})
			want(t, err, c.want)
			got, err := s.Subscription(ctx, w.ID, old.ID)
			must(t, err)
			equal(t, "found", old, got)
		}
		if _, due := accept(t, s, newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "tag.created", "")); len(due) != 1 {
			t.Errorf("%d deliveries are due, want that of metric.* alone", len(due))
		}
		if open, _, err := s.OpenWork(ctx, now()); err != nil || open != 2 {
			t.Errorf("%d deliveries are open (%v), want 2", open, err)
		}
	}},
	{name: "changes of one subscription follow each other", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		sub := subscribe(t, s, newWorkspace(t, s).ID, "metric.*")
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				_, err := s.ChangeSubscription(ctx, sub.Workspace, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
					sub.Delivery.Concurrency++
					return nil, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got, err := s.Subscription(ctx, sub.Workspace, sub.ID)
		must(t, err)
		if n := got.Delivery.Concurrency - sub.Delivery.Concurrency; n != 16 {
			t.Errorf("%d of 16 changes are left", n)
		}
	}},
	{name: "deleted once, kept for its deliveries alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		at := now().Add(time.Minute)
		want(t, s.DeleteSubscription(ctx, other.ID, sub.ID, at), feedmill.ErrNotFound)
		must(t, s.DeleteSubscription(ctx, w.ID, sub.ID, at))
		want(t, s.DeleteSubscription(ctx, w.ID, sub.ID, at), feedmill.ErrNotFound)
		_, err := s.Subscription(ctx, w.ID, sub.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.ChangeSubscription(ctx, w.ID, sub.ID, func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			t.Error("a deleted subscription was given to change")
			return nil, nil
		})
		want(t, err, feedmill.ErrNotFound)
		counts(t, s, w.ID, 0, 0)
		got, err := s.SubscriptionForDelivery(ctx, sub.ID)
		must(t, err)
		sub.DeletedAt = at
		got.UpdatedAt = sub.UpdatedAt
		equal(t, "found for delivery", sub, got)
	}},
	{name: "one of another workspace cannot be changed", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		sub := subscribe(t, s, newWorkspace(t, s).ID, "metric.*")
		_, err := s.ChangeSubscription(t.Context(), newWorkspace(t, s).ID, sub.ID, func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			t.Error("another workspace's subscription was given to change")
			return nil, nil
		})
		want(t, err, feedmill.ErrNotFound)
	}},
}

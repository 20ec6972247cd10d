package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Listeners are subscriptions without a URL.
type Listeners interface {
	// Listener finds one that is not deleted. A listener is a subscription
	// that no other method for subscriptions finds, changes, counts or
	// deletes, but for CreateSubscriptions and SubscriptionForDelivery.
	Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	// ExtendListener moves the end of a listener in any workspace, never to an
	// earlier time. One that is deleted is feedmill.ErrNotFound.
	ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error
	// ConnectListener records a connection, in place of an earlier one, until ReleasePermit.
	// ListenerConnection returns it, empty if there is none.
	ConnectListener(ctx context.Context, id feedmill.ID, connection string, until time.Time) error
	ListenerConnection(ctx context.Context, id feedmill.ID) (string, error)
	// DeleteListener deletes one as DeleteSubscription does.
	DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	// ExpireListeners deletes up to limit listeners, in any workspace, whose end
	// is not after now, and reports how many.
	ExpireListeners(ctx context.Context, now time.Time, limit int) (int, error)
}

// listen creates a listener of the workspace that ends at a time.
func listen(t *testing.T, s Store, w feedmill.ID, until time.Time, events ...string) feedmill.Subscription {
	t.Helper()
	sub := newSubscription(w, events...)
	sub.Destination, sub.ListenUntil = feedmill.Destination{Kind: feedmill.DestinationListener, Method: "POST"}, until
	must(t, s.CreateSubscriptions(t.Context(), []feedmill.Subscription{sub}, 0, nil))
	return sub
}

// counts holds how many subscriptions and listeners a workspace has.
func counts(t *testing.T, s Store, w feedmill.ID, subscriptions, listeners int) {
	t.Helper()
	wantLeft(t, s, newSubscription(w), subscriptions+1, 1)
	listener := newSubscription(w)
	listener.ListenUntil = now().Add(time.Minute)
	wantLeft(t, s, listener, listeners+1, 1)
}

var listenerCases = []testCase{
	{name: "the last connection of a listener is known", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		until := now().Add(time.Hour)
		one, two := listen(t, s, w.ID, until, "metric.*"), listen(t, s, w.ID, until, "metric.*")
		last := func(id feedmill.ID, want string) {
			t.Helper()
			got, err := s.ListenerConnection(ctx, id)
			must(t, err)
			equal(t, string(id), want, got)
		}
		last(one.ID, "")
		must(t, s.ConnectListener(ctx, one.ID, "c1", until))
		must(t, s.ConnectListener(ctx, two.ID, "c2", until))
		must(t, s.ConnectListener(ctx, one.ID, "c3", until))
		must(t, s.ReleasePermit(ctx, "c1")) // it is the connection no more
		last(one.ID, "c3")
		last(two.ID, "c2")
		must(t, s.ReleasePermit(ctx, "c3"))
		last(one.ID, "")
		must(t, s.DeleteListener(ctx, w.ID, two.ID, now()))
		_, err := s.ListenerConnection(ctx, two.ID)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "a listener is found as one, and nowhere as a subscription", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, listener := subscribe(t, s, w.ID, "metric.*"), listen(t, s, w.ID, now().Add(time.Minute), "metric.*")
		got, err := s.Listener(ctx, w.ID, listener.ID)
		must(t, err)
		equal(t, "found", listener, got)
		got, err = s.SubscriptionForDelivery(ctx, listener.ID)
		must(t, err)
		equal(t, "found for delivery", listener, got)
		counts(t, s, w.ID, 1, 1)

		_, err = s.Listener(ctx, newWorkspace(t, s).ID, listener.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.Listener(ctx, w.ID, sub.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.Subscription(ctx, w.ID, listener.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.ChangeSubscription(ctx, w.ID, listener.ID, func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			t.Error("a listener is changed")
			return nil, nil
		})
		want(t, err, feedmill.ErrNotFound)
		listed, err := s.Subscriptions(ctx, w.ID, feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "listed", []feedmill.Subscription{sub}, listed)
		want(t, s.DeleteSubscription(ctx, w.ID, listener.ID, now()), feedmill.ErrNotFound)
		want(t, s.DeleteListener(ctx, w.ID, sub.ID, now()), feedmill.ErrNotFound)
		want(t, s.DeleteListener(ctx, newWorkspace(t, s).ID, listener.ID, now()), feedmill.ErrNotFound)
		counts(t, s, w.ID, 1, 1)
	}},
	{name: "events of both kinds come to a listener, filtered where its filter is of their kind", run: func(t *testing.T, open func(*testing.T) Store) {
		s, until := open(t), now().Add(time.Minute)
		w := newWorkspace(t, s)
		source, feed, other := feedmill.NewID(feedmill.PrefixDataSource), feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixDataFeed)
		for _, c := range []struct {
			name, filter                       string
			metric, otherMetric, of, ofAnother int
		}{
			{"none", "", 1, 1, 1, 1},
			{"of a metric", "m_1", 1, 0, 1, 1},
			{"of a feed", feedmill.InternalFilter(source, feed), 1, 1, 1, 0},
		} {
			sub := newSubscription(w.ID, "metric.*", "datasource.*")
			sub.Destination, sub.ListenUntil, sub.ResourceID = feedmill.Destination{Kind: feedmill.DestinationListener}, until, c.filter
			must(t, s.CreateSubscriptions(t.Context(), []feedmill.Subscription{sub}, 0, nil))
			fromFeed := func(feed feedmill.ID) feedmill.Event {
				e := newEvent(w.ID, "datafeed.source.refreshed", string(feed))
				e.Source = source
				return e
			}
			for i, e := range []feedmill.Event{
				newEvent(w.ID, "metric.created", "m_1"), newEvent(w.ID, "metric.created", "m_2"), fromFeed(feed), fromFeed(other),
			} {
				_, due := accept(t, s, e)
				if wanted := []int{c.metric, c.otherMetric, c.of, c.ofAnother}[i]; len(due) != wanted {
					t.Errorf("filter %s: event %d has %d deliveries, want %d", c.name, i, len(due), wanted)
				}
			}
			must(t, s.DeleteListener(t.Context(), w.ID, sub.ID, now()))
		}
	}},
	{name: "the end of a listener moves, but never back", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, until := newWorkspace(t, s), now().Add(time.Minute)
		listener := listen(t, s, w.ID, until, "metric.*")
		for _, c := range []struct{ to, end time.Time }{
			{until.Add(time.Minute), until.Add(time.Minute)},
			{until, until.Add(time.Minute)},
		} {
			must(t, s.ExtendListener(ctx, listener.ID, c.to))
			got, err := s.Listener(ctx, w.ID, listener.ID)
			must(t, err)
			listener.ListenUntil = c.end
			equal(t, "the listener", listener, got)
		}
		want(t, s.ExtendListener(ctx, subscribe(t, s, w.ID, "metric.*").ID, until), feedmill.ErrNotFound)
		must(t, s.DeleteListener(ctx, w.ID, listener.ID, now()))
		want(t, s.ExtendListener(ctx, listener.ID, until), feedmill.ErrNotFound)
	}},
	{name: "a deleted listener hears no more, and what is open is discarded", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		listener := listen(t, s, w.ID, now().Add(time.Minute), "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		must(t, s.DeleteListener(ctx, w.ID, listener.ID, now()))
		want(t, s.DeleteListener(ctx, w.ID, listener.ID, now()), feedmill.ErrNotFound)
		_, err := s.Listener(ctx, w.ID, listener.ID)
		want(t, err, feedmill.ErrNotFound)
		counts(t, s, w.ID, 0, 0)
		discarded(t, s, due[0])
		if _, due := accept(t, s, newEvent(w.ID, "metric.created", "")); len(due) != 0 {
			t.Error("a deleted listener has a delivery")
		}
	}},
	{name: "listeners expire at their end, a few at a time, and nothing else does", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		w := newWorkspace(t, s)
		subscribe(t, s, w.ID, "tag.*")
		stays := listen(t, s, w.ID, at.Add(time.Millisecond), "tag.*")
		for i := range 3 {
			listen(t, s, w.ID, at.Add(-time.Duration(i)*time.Second), "metric.*")
		}
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		for _, expired := range []int{2, 1, 0} {
			n, err := s.ExpireListeners(ctx, at, 2)
			must(t, err)
			if n != expired {
				t.Errorf("%d listeners have expired, want %d", n, expired)
			}
		}
		counts(t, s, w.ID, 1, 1)
		_, err := s.Listener(ctx, w.ID, stays.ID)
		must(t, err)
		for _, d := range due {
			discarded(t, s, d)
		}
		if _, due := accept(t, s, newEvent(w.ID, "metric.created", "")); len(due) != 0 {
			t.Error("an expired listener has a delivery")
		}
	}},
}

// discarded holds that a delivery ended with its subscription.
func discarded(t *testing.T, s Store, d feedmill.DueDelivery) {
	t.Helper()
	got, err := s.Delivery(t.Context(), d.Workspace, d.ID)
	must(t, err)
	if got.State != feedmill.DeliveryDiscarded {
		t.Errorf("the delivery is %s, want discarded", got.State)
	}
}

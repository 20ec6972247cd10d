package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Events are the events of a store.
type Events interface {
	// Accept writes events and, for each, a delivery to every subscription
	// that matches: pending and due at once with the number of attempts
	// that the store was opened with, or that of the subscription's own schedule, or discarded where the subscription is disabled. An event
	// whose DedupeKey is known, from before or from earlier in the same call,
	// is a duplicate and written nowhere. respond, where not nil, makes the
	// response to keep, in the transaction; where that is tried again it is
	// called again, and the last time counts. The deliveries that are due are
	// returned in the order of their Seq. A delivery's CreatedAt is the time in
	// its id; the events of one call get their deliveries in the order given.
	//
	// Where a call would make more than feedmill.MaxMadeAtOnce, some events are
	// written with the promise of their deliveries, which StepFanout makes for
	// the subscriptions that there were at acceptance. An event that an ordered
	// subscription hears of is promised, too, while one before it of the same
	// resource is.
	Accept(ctx context.Context, events []feedmill.Event, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error)
	// Events lists events, newest first, with their payloads.
	Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error)
	Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error)
	// EventRoutes are the first limit deliveries of each event, oldest first.
	EventRoutes(ctx context.Context, workspace feedmill.ID, events []feedmill.ID, limit int) (map[feedmill.ID][]feedmill.EventRoute, error)
	// CountEvents counts the events that were accepted from a time to another by their internal
	// types, the newest limit of them.
	CountEvents(ctx context.Context, workspace feedmill.ID, from, to time.Time, limit int) (map[string]int, error)
	// CountSubscribers counts the subscriptions that receive an internal type, up to limit.
	// Disabled ones and listeners are not counted.
	CountSubscribers(ctx context.Context, workspace feedmill.ID, name string, limit int) (int, error)
}

// maxAttempts is how many attempts a delivery of the suite may make; not the default.
const maxAttempts = 9

// newEvent is an event that no event before it is a duplicate of.
func newEvent(w feedmill.ID, name, resource string) feedmill.Event {
	id := feedmill.NewID(feedmill.PrefixEvent)
	return feedmill.Event{
		ID: id, Workspace: w, Type: name, ResourceID: resource, Timestamp: now(),
		Payload: fmt.Appendf(nil, `{"id":%q}`, id),
	}
}

// newEvents are n of them.
func newEvents(n int, w feedmill.ID, name, resource string) []feedmill.Event {
	events := make([]feedmill.Event, n)
	for i := range events {
		events[i] = newEvent(w, name, resource)
	}
	return events
}

// named gives an event a publisher's id to be known by.
func named(e feedmill.Event, id string) feedmill.Event {
	e.PublisherID, e.DedupeKey = id, "key of "+id
	return e
}

func accept(t *testing.T, s Store, events ...feedmill.Event) ([]feedmill.Accepted, []feedmill.DueDelivery) {
	t.Helper()
	accepted, due, err := s.Accept(t.Context(), events, nil)
	must(t, err)
	return accepted, due
}

// stored is an event as it is read again: without the key.
func stored(e feedmill.Event) feedmill.Event {
	e.DedupeKey = ""
	return e
}

// nextMillisecond waits until what is made has a later time than what was.
func nextMillisecond() {
	for t := now(); !now().After(t); {
	}
}

var eventCases = []testCase{
	{name: "counted by type, with their subscribers", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		subscribe(t, s, w.ID, "metric.*")
		subscribe(t, s, w.ID, "metric.*", "metric.created")
		subscribe(t, s, w.ID, feedmill.EveryEvent)
		setState(t, s, subscribe(t, s, w.ID, "metric.created"), feedmill.SubscriptionDisabled)
		deleted := subscribe(t, s, w.ID, "metric.created")
		must(t, s.DeleteSubscription(ctx, w.ID, deleted.ID, now()))
		subscribe(t, s, w.ID, "datasource.*")
		subscribe(t, s, other.ID, "metric.created")
		for name, want := range map[string]int{"metric.created": 3, "tag.created": 1, "datasource.refreshed": 1} {
			got, err := s.CountSubscribers(ctx, w.ID, name, 10)
			must(t, err)
			equal(t, name, want, got)
		}
		most, err := s.CountSubscribers(ctx, w.ID, "metric.created", 2)
		must(t, err)
		equal(t, "at most", 2, most)

		from := now()
		accept(t, s, newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "tag.created", ""), newEvent(other.ID, "tag.deleted", ""))
		nextMillisecond()
		to := now()
		accept(t, s, newEvent(w.ID, "tag.updated", ""))
		for _, c := range []struct {
			from, to time.Time
			limit    int
			want     map[string]int
		}{
			{from, to, 10, map[string]int{"metric.created": 2, "tag.created": 1}},
			{from, to.Add(time.Hour), 2, map[string]int{"tag.updated": 1, "tag.created": 1}},
			{to.Add(time.Hour), to.Add(2 * time.Hour), 10, map[string]int{}},
		} {
			got, err := s.CountEvents(ctx, w.ID, c.from, c.to, c.limit)
			must(t, err)
			equal(t, fmt.Sprint(c.from, c.to, c.limit), c.want, got)
		}
	}},
	{name: "accepted, found and routed, each in its workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		var subs []feedmill.ID
		for range 3 {
			subs = append(subs, subscribe(t, s, a.ID, "metric.*").ID)
		}
		one, two := named(newEvent(a.ID, "metric.created", "m ü"), "p1"), newEvent(b.ID, "metric.created", "")
		one.Timestamp = now().Add(-24 * time.Hour)
		three := newEvent(a.ID, "datafeed.source.refreshed", string(aFeed))
		three.Source, three.Payload = aSource, []byte("{}\x00\xff")
		accepted, due := accept(t, s, one, two, three)
		equal(t, "accepted", []feedmill.Accepted{
			{ID: one.ID, PublisherID: "p1", Type: "metric.created"},
			{ID: two.ID, Type: "metric.created"},
			{ID: three.ID, Type: "datafeed.source.refreshed"},
		}, accepted)
		for _, e := range []feedmill.Event{one, two, three} {
			got, err := s.Event(ctx, e.Workspace, e.ID)
			must(t, err)
			equal(t, "found", stored(e), stored(got))
		}
		_, err := s.Event(ctx, b.ID, one.ID)
		want(t, err, feedmill.ErrNotFound)

		routesOf := func(w feedmill.ID, limit int, events ...feedmill.ID) map[feedmill.ID][]feedmill.EventRoute {
			t.Helper()
			routes, err := s.EventRoutes(ctx, w, events, limit)
			must(t, err)
			return routes
		}
		var wanted []feedmill.EventRoute
		for _, d := range due {
			wanted = append(wanted, feedmill.EventRoute{Delivery: d.ID, Subscription: d.Subscription, State: feedmill.DeliveryPending})
		}
		equal(t, "routes", map[feedmill.ID][]feedmill.EventRoute{one.ID: wanted}, routesOf(a.ID, 9, two.ID, one.ID, three.ID))
		var routed []feedmill.ID
		for _, r := range wanted {
			routed = append(routed, r.Subscription)
		}
		slices.Sort(routed)
		equal(t, "routed to", subs, routed)
		equal(t, "first routes", wanted[:2], routesOf(a.ID, 2, one.ID)[one.ID])
		for w, e := range map[feedmill.ID]feedmill.Event{b.ID: one, a.ID: three} {
			equal(t, "no routes", nil, routesOf(w, 9, e.ID))
		}
	}},
	{name: "a known key is a duplicate, in one call and over several", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		subscribe(t, s, a.ID, "metric.*")
		subscribe(t, s, b.ID, "metric.*")
		first, again := named(newEvent(a.ID, "metric.created", ""), "p1"), named(newEvent(a.ID, "metric.created", ""), "p1")
		elsewhere := named(newEvent(b.ID, "metric.created", ""), "p1")
		free, alsoFree := newEvent(a.ID, "metric.created", ""), newEvent(a.ID, "metric.created", "")
		accepted, due := accept(t, s, first, free, again, elsewhere, alsoFree)
		equal(t, "accepted", []feedmill.Accepted{
			{ID: first.ID, PublisherID: "p1", Type: "metric.created"},
			{ID: free.ID, Type: "metric.created"},
			{ID: first.ID, PublisherID: "p1", Type: "metric.created", Duplicate: true},
			{ID: elsewhere.ID, PublisherID: "p1", Type: "metric.created"},
			{ID: alsoFree.ID, Type: "metric.created"},
		}, accepted)
		var sent []feedmill.ID
		for i, d := range due {
			sent = append(sent, d.Event)
			if i > 0 && d.Seq <= due[i-1].Seq {
				t.Errorf("delivery %d has seq %d after %d", i, d.Seq, due[i-1].Seq)
			}
		}
		equal(t, "delivered", []feedmill.ID{first.ID, free.ID, elsewhere.ID, alsoFree.ID}, sent)

		// Each workspace is told its own event, not the one that the other has under the key.
		later, laterElsewhere := named(newEvent(a.ID, "metric.created", ""), "p1"), named(newEvent(b.ID, "metric.created", ""), "p1")
		for _, call := range [][]feedmill.Event{{later}, {laterElsewhere}, {later, laterElsewhere}, {laterElsewhere, later}} {
			var wanted []feedmill.Accepted
			for _, e := range call {
				holder := map[feedmill.ID]feedmill.ID{a.ID: first.ID, b.ID: elsewhere.ID}[e.Workspace]
				wanted = append(wanted, feedmill.Accepted{ID: holder, PublisherID: "p1", Type: "metric.created", Duplicate: true})
			}
			accepted, due = accept(t, s, call...)
			equal(t, "accepted", wanted, accepted)
			equal(t, "delivered", nil, due)
		}
		for _, e := range []feedmill.Event{again, later, laterElsewhere} {
			_, err := s.Event(ctx, e.Workspace, e.ID)
			want(t, err, feedmill.ErrNotFound)
		}
	}},
	{name: "of concurrent events under one key exactly one is accepted", run: func(t *testing.T, open func(*testing.T) Store) {
		concurrentDuplicates(t, open(t), nil)
	}},
	{name: "of concurrent events under one key on two replicas exactly one is accepted", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		concurrentDuplicates(t, open(t), open(t))
	}},
	{name: "the response is kept with the events or both are undone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		first := named(newEvent(w.ID, "metric.created", ""), "p1")
		accept(t, s, first)
		events := []feedmill.Event{named(newEvent(w.ID, "metric.created", ""), "p1"), named(newEvent(w.ID, "metric.created", ""), "p2")}
		wanted := []feedmill.Accepted{
			{ID: first.ID, PublisherID: "p1", Type: "metric.created", Duplicate: true},
			{ID: events[1].ID, PublisherID: "p2", Type: "metric.created"},
		}
		keep := func(key string) func([]feedmill.Accepted) *feedmill.IdempotentResponse {
			return func(accepted []feedmill.Accepted) *feedmill.IdempotentResponse {
				equal(t, "given to keep", wanted, accepted)
				response := newOnce(w.ID, key)
				return &response
			}
		}
		must(t, s.KeepResponse(ctx, newOnce(w.ID, "taken")))
		accepted, due, err := s.Accept(ctx, events, keep("taken"))
		want(t, err, feedmill.ErrIdempotencyKeyUsed)
		if len(accepted)+len(due) != 0 {
			t.Errorf("what was undone is returned: %+v %+v", accepted, due)
		}
		_, err = s.Event(ctx, w.ID, events[1].ID)
		want(t, err, feedmill.ErrNotFound)
		deliveries, err := s.Deliveries(ctx, w.ID, feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}})
		must(t, err)
		if len(deliveries) != 1 {
			t.Errorf("%d deliveries are there, want that of the first event alone", len(deliveries))
		}

		// The publisher's id was undone too: it is free.
		accepted, due, err = s.Accept(ctx, events, keep("free"))
		must(t, err)
		equal(t, "accepted", wanted, accepted)
		if len(due) != 1 {
			t.Errorf("%d deliveries are due, want 1", len(due))
		}
		_, err = s.KeptResponse(ctx, w.ID, owner, "free", now())
		must(t, err)
		_, _, err = s.Accept(ctx, newEvents(1, w.ID, "metric.created", ""), func([]feedmill.Accepted) *feedmill.IdempotentResponse { return nil })
		must(t, err)
	}},
	{name: "accepted in a crowd: each event is there or reported", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		must(t, s.KeepResponse(ctx, newOnce(w.ID, "taken")))
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex
			seqs = make(map[int64]bool)
		)
		for range 50 {
			wg.Go(func() {
				_, due, err := s.Accept(ctx, newEvents(4, w.ID, "metric.created", "m_1"), nil)
				if err != nil || len(due) != 4 {
					t.Errorf("%d deliveries, %v; want 4", len(due), err)
				}
				mu.Lock()
				for _, d := range due {
					seqs[d.Seq] = true
				}
				mu.Unlock()
				// Half of the crowd fails, and takes nobody with it.
				_, _, err = s.Accept(ctx, newEvents(4, w.ID, "metric.created", "m_1"), func([]feedmill.Accepted) *feedmill.IdempotentResponse {
					response := newOnce(w.ID, "taken")
					return &response
				})
				if !errors.Is(err, feedmill.ErrIdempotencyKeyUsed) {
					t.Errorf("error is %v, want ErrIdempotencyKeyUsed", err)
				}
			})
		}
		wg.Wait()
		listed, err := s.Events(ctx, w.ID, feedmill.EventQuery{Page: feedmill.Page{Limit: 500}})
		must(t, err)
		deliveries, err := s.Deliveries(ctx, w.ID, feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 500}})
		must(t, err)
		if len(listed) != 200 || len(deliveries) != 200 || len(seqs) != 200 {
			t.Errorf("%d events, %d deliveries, %d seqs; want 200 each", len(listed), len(deliveries), len(seqs))
		}
	}},
	{name: "a list ends behind the bytes that are wanted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		events := newEvents(100, w.ID, "metric.created", "m_1")
		for i := range events {
			events[i].Payload = []byte(strings.Repeat("x", 1000))
		}
		accept(t, s, events...)
		for bytes, want := range map[int]int{0: 100, 1: 2, 1000: 2, 1001: 3, 80_000: 81, 99_000: 100, 1_000_000: 100} {
			q := feedmill.EventQuery{Page: feedmill.Page{Limit: 200}, MaxBytes: bytes}
			got, err := s.Events(ctx, w.ID, q)
			must(t, err)
			if len(got) != want || q.Fit(got) != want && q.Fit(got) != want-1 {
				t.Errorf("%d bytes: %d events, of which %d fit, want %d", bytes, len(got), q.Fit(got), want)
			}
			for i := range got {
				if i > 0 && got[i].ID >= got[i-1].ID {
					t.Errorf("%s comes behind %s", got[i].ID, got[i-1].ID)
				}
			}
		}
	}},
	{name: "listed newest first in pages, by type, resource and time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		accept(t, s, newEvent(newWorkspace(t, s).ID, "metric.created", "m_1"))
		var all []feedmill.Event
		add := func(name, resource string) { all = append(all, newEvent(w.ID, name, resource)) }
		add("metric.created", "m_1")
		add("tag.created", "m_1")
		add("metric.created", "")
		nextMillisecond()
		add("metric.created", "m_2")
		add("tag.created", "")
		add("metric.created", "m_1")
		accept(t, s, all...)
		since := all[3].ID.Time()
		for _, c := range []struct {
			query feedmill.EventQuery
			want  []int
		}{
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}}, []int{5, 4, 3, 2, 1, 0}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 4}}, []int{5, 4, 3, 2}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 4, Before: all[2].ID}}, []int{1, 0}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Types: []string{"metric.created"}}, []int{5, 3, 2, 0}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 2, Before: all[5].ID}, Types: []string{"metric.created"}}, []int{3, 2}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Types: []string{"tag.created", "metric.deleted", "metric.created"}}, []int{5, 4, 3, 2, 1, 0}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, ResourceID: "m_1"}, []int{5, 1, 0}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9, Before: all[5].ID}, ResourceID: "m_1", Types: []string{"tag.created"}}, []int{1}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Since: since}, []int{5, 4, 3}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9, Before: all[5].ID}, Since: since, Types: []string{"metric.created"}}, []int{3}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Since: since.Add(time.Hour)}, nil},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 4}, Oldest: true}, []int{0, 1, 2, 3}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Oldest: true, After: all[3].ID}, []int{4, 5}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Oldest: true, Since: since, Types: []string{"metric.created"}}, []int{3, 5}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Oldest: true, MaxBytes: len(all[0].Payload) + 1, ResourceID: "m_1"}, []int{0, 1, 5}},
			{feedmill.EventQuery{Page: feedmill.Page{Limit: 9}, Oldest: true, MaxBytes: 1}, []int{0, 1}},
		} {
			var wanted []feedmill.Event
			for _, i := range c.want {
				wanted = append(wanted, all[i])
			}
			got, err := s.Events(ctx, w.ID, c.query)
			must(t, err)
			equal(t, fmt.Sprintf("%+v", c.query), wanted, got)
		}
	}},
}

// concurrentDuplicates publishes one publisher's id from many goroutines, half
// of them on the other handle where there is one.
func concurrentDuplicates(t *testing.T, s, other Store) {
	if other == nil {
		other = s
	}
	ctx := t.Context()
	w := newWorkspace(t, s)
	sub := subscribe(t, s, w.ID, "metric.*")
	var (
		wg    sync.WaitGroup
		fresh atomic.Int32
		ids   sync.Map
	)
	for i := range 16 {
		wg.Go(func() {
			handle := s
			if i%2 == 1 {
				handle = other
			}
			accepted, _, err := handle.Accept(ctx, []feedmill.Event{named(newEvent(w.ID, "metric.created", ""), "p1")}, nil)
			if err != nil || len(accepted) != 1 {
				t.Errorf("accepted %+v, %v", accepted, err)
				return
			}
			ids.Store(accepted[0].ID, true)
			if !accepted[0].Duplicate {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	var different int
	ids.Range(func(any, any) bool { different++; return true })
	deliveries, err := s.Deliveries(ctx, w.ID, feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 99}})
	must(t, err)
	if fresh.Load() != 1 || different != 1 || len(deliveries) != 1 {
		t.Errorf("%d were fresh, %d ids were returned, %d deliveries are there; want one of each", fresh.Load(), different, len(deliveries))
	}
}

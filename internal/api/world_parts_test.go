package api

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// watchedStore is the real store. It notes what a test cannot read again, and
// does what a test orders between two steps of a request.
type watchedStore struct {
	*sqlite.DB
	replays []feedmill.Replay
	// meanwhile, where not nil, is done to a subscription before a change.
	meanwhile func(*feedmill.Subscription)
}

func (s *watchedStore) CreateReplay(ctx context.Context, r feedmill.Replay, kept *feedmill.IdempotentResponse) error {
	s.replays = append(s.replays, r)
	return s.DB.CreateReplay(ctx, r, kept)
}

func (s *watchedStore) ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error) {
	if s.meanwhile != nil {
		_, err := s.DB.ChangeSubscription(ctx, workspace, id, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			s.meanwhile(sub)
			return nil, nil
		})
		if err != nil {
			return feedmill.Subscription{}, err
		}
	}
	return s.DB.ChangeSubscription(ctx, workspace, id, change)
}

// everybody holds every scope in one workspace.
type everybody struct{ workspace feedmill.ID }

func (e everybody) Authenticate(context.Context, string) (feedmill.Principal, error) {
	return feedmill.Principal{Workspace: e.workspace, Subject: "key_test", Scopes: feedmill.Scopes}, nil
}

func (everybody) Forget(feedmill.ID) {}

// revocable lets everybody in until there is an error.
type revocable struct {
	everybody
	err atomic.Pointer[error]
}

func (r *revocable) fail(err error) { r.err.Store(&err) }

func (r *revocable) Authenticate(ctx context.Context, authorization string) (feedmill.Principal, error) {
	if err := r.err.Load(); err != nil {
		return feedmill.Principal{}, *err
	}
	return r.everybody.Authenticate(ctx, authorization)
}

// notedDispatcher sends nothing and notes what it is told.
type notedDispatcher struct {
	mu       sync.Mutex
	changed  []feedmill.ID
	inFlight map[feedmill.ID]bool
	offered  []feedmill.DueDelivery
	woken    int
	pinged   feedmill.Attempt
	tested   feedmill.NewEvent
	breakers []feedmill.OpenBreaker
	breaker  feedmill.BreakerState
	totals   map[feedmill.ID]feedmill.DeliveryCount
}

func (d *notedDispatcher) Changed(id feedmill.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = append(d.changed, id)
}
func (d *notedDispatcher) InFlight(id feedmill.ID) bool { return d.inFlight[id] }
func (d *notedDispatcher) UnderWay(feedmill.ID) (ids []feedmill.ID) {
	for id, flies := range d.inFlight {
		if flies {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *notedDispatcher) Offer(due []feedmill.DueDelivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.offered = append(d.offered, due...)
}
func (d *notedDispatcher) Wake() { d.woken++ }
func (d *notedDispatcher) Counts(_ context.Context, id feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error) {
	return []feedmill.DeliveryCount{{Subscription: id, From: now().UTC().Truncate(feedmill.CountStep), Delivered: 3, First: 2, Failed: 2, Exhausted: 1, Times: feedmill.AnswerTimes{4}}}, nil
}

func (d *notedDispatcher) Totals(context.Context, []feedmill.ID, time.Time) (map[feedmill.ID]feedmill.DeliveryCount, error) {
	return d.totals, nil
}

func (d *notedDispatcher) OpenBreakers() []feedmill.OpenBreaker { return d.breakers }
func (d *notedDispatcher) Breaker(feedmill.ID) feedmill.BreakerState {
	return cmp.Or(d.breaker, feedmill.BreakerClosed)
}

func (d *notedDispatcher) Test(_ context.Context, _ feedmill.Subscription, e feedmill.NewEvent) (feedmill.Attempt, error) {
	d.tested = e
	return d.pinged, nil
}

// silentPublisher accepts everything and keeps nothing.
type silentPublisher struct{}

func (silentPublisher) Publish(_ context.Context, _ feedmill.ID, events []feedmill.NewEvent, _ func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error) {
	accepted := make([]feedmill.Accepted, len(events))
	for i, e := range events {
		accepted[i] = feedmill.Accepted{ID: "evt_01arz3ndektsv4rrffq69g5fav", PublisherID: e.PublisherID, Type: e.Type}
	}
	return accepted, nil
}

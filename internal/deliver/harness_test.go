package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

const (
	leaseTime   = defaultLeaseTime
	leaseEvery  = leaseTime / leaseRenewals
	leaseBefore = leaseTime / leaseMargin // its end
)

// harness is a dispatcher on a real store, whose endpoints and whose faults a test
// decides.
type harness struct {
	*testing.T
	store      *troubledStore
	dispatcher *Dispatcher
	ws         feedmill.ID
	began      time.Time
	stop       context.CancelFunc
	done       chan struct{}

	mu   sync.Mutex
	sent []sent
}

// troubledStore is the real store with the trouble that a test orders.
type troubledStore struct {
	*sqlite.DB
	noSlots, leaseHangs, releaseFails, dueFails              atomic.Bool
	settleAway, settleRefuses                                atomic.Bool
	released, releasedAll, reads, targets, rewinds, settling atomic.Int64
	passes                                                   atomic.Int64 // that read of all resources
	mostOutcomes, mostSettling                               atomic.Int64
	readTakes, targetTakes, settleTakes                      time.Duration
	pollTakes                                                atomic.Int64 // a time.Duration
	// silentWrites is how many more are not answered before answers is closed.
	silentWrites atomic.Int64
	answers      chan struct{}

	// noSlots says that this replica may have none. given are those that it
	// gave back since, and left that it has left the replicas.
	slotsMu sync.Mutex
	// lockedSub is the subscription whose deliveries somebody has locked.
	lockedSub atomic.Value
	given     slotSet
	left      atomic.Bool
}

func (s *troubledStore) LeaveReplicas(context.Context, string) error {
	s.left.Store(true)
	return nil
}

// givenBack is how many slots were given back.
func (s *troubledStore) givenBack() (n int) {
	s.slotsMu.Lock()
	defer s.slotsMu.Unlock()
	for _, given := range s.given {
		n += count(given)
	}
	return n
}

func (s *troubledStore) LeaseSlots(ctx context.Context, replica string, ttl time.Duration) (held []int, share int, err error) {
	if s.leaseHangs.Load() {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	s.slotsMu.Lock()
	defer s.slotsMu.Unlock()
	if !s.noSlots.Load() {
		s.given = slotSet{}
		return s.DB.LeaseSlots(ctx, replica, ttl)
	}
	for slot, given := range s.given {
		if !given {
			held = append(held, slot)
		}
	}
	return held, 0, nil
}

func (s *troubledStore) ReleaseSlots(_ context.Context, _ string, slots []int) error {
	if s.releaseFails.Load() {
		return feedmill.ErrUnavailable
	}
	s.slotsMu.Lock()
	defer s.slotsMu.Unlock()
	for _, slot := range slots {
		s.given[slot] = true
	}
	s.releasedAll.Add(int64(count(len(slots) == 0)))
	s.released.Add(int64(len(slots)))
	return nil
}

func (s *troubledStore) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	s.reads.Add(1)
	s.passes.Add(int64(count(q.Heads && q.After == nil && len(q.Resources) == 0 && !q.Retries)))
	if s.dueFails.Load() {
		return nil, feedmill.ErrUnavailable
	}
	defer time.Sleep(s.readTakes)
	return s.DB.Due(ctx, q)
}

func (s *troubledStore) DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	time.Sleep(time.Duration(s.pollTakes.Load()))
	return s.DB.DueSubscriptions(ctx, slots, now, after, limit)
}

func (s *troubledStore) Rewind(ctx context.Context, slots []int, now time.Time, after feedmill.RetryPosition, limit int) (feedmill.RetryPosition, bool, error) {
	s.rewinds.Add(1)
	return s.DB.Rewind(ctx, slots, now, after, limit)
}

func (s *troubledStore) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	s.targets.Add(1)
	defer time.Sleep(s.targetTakes)
	return s.DB.SubscriptionForDelivery(ctx, id)
}

func (s *troubledStore) SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error) {
	defer time.Sleep(s.targetTakes)
	return s.DB.SubscriptionsForDelivery(ctx, ids)
}

func (s *troubledStore) Settle(ctx context.Context, o []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	s.mostOutcomes.Store(max(s.mostOutcomes.Load(), int64(len(o))))
	s.mostSettling.Store(max(s.mostSettling.Load(), s.settling.Add(1)))
	defer s.settling.Add(-1)
	time.Sleep(s.settleTakes)
	if s.silentWrites.Add(-1) >= 0 {
		<-s.answers
	}
	switch {
	case s.settleAway.Load():
		return nil, feedmill.ErrUnavailable
	case s.settleRefuses.Load():
		return nil, errors.New("this cannot be written")
	}
	locked := make(map[feedmill.ID]struct{})
	sub, _ := s.lockedSub.Load().(feedmill.ID)
	free := slices.DeleteFunc(slices.Clone(o), func(o feedmill.Outcome) bool {
		if o.Subscription == sub {
			locked[o.Delivery] = struct{}{}
		}
		return o.Subscription == sub
	})
	due, err := s.DB.Settle(ctx, free)
	if err == nil && len(locked) > 0 {
		err = &feedmill.LockedError{Deliveries: locked}
	}
	return due, err
}

type endpoint func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result

// What endpoints answer.
var (
	answered200 = feedmill.Result{Verdict: feedmill.VerdictDelivered, Responded: true, Status: 200}
	answered410 = feedmill.Result{Verdict: feedmill.VerdictGone, Responded: true, Status: 410, Error: "410"}
	answered500 = feedmill.Result{Verdict: feedmill.VerdictRetry, Responded: true, Status: 500, Class: "5xx", Error: "500"}
)

// noAnswer is what comes of an attempt that gets none.
func noAnswer(reason string) feedmill.Result {
	return feedmill.Result{Verdict: feedmill.VerdictRetry, Error: reason}
}

// kinds are those of which webhooks are sent to the endpoint.
func kinds(to endpoint) map[feedmill.DestinationKind]Kind {
	return map[feedmill.DestinationKind]Kind{feedmill.DestinationWebhook: to}
}

func (f endpoint) Open(sub feedmill.Subscription, _ []byte) (feedmill.Endpoint, error) {
	return opened{f, sub}, nil
}

// opened is an endpoint as a subscription has it.
type opened struct {
	endpoint
	sub feedmill.Subscription
}

func (o opened) Send(ctx context.Context, m feedmill.Message) feedmill.Result {
	return o.endpoint(ctx, o.sub, m)
}

// slow is an endpoint that takes its time and answers 200.
func slow(d time.Duration) endpoint {
	return func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		time.Sleep(d)
		return answered200
	}
}

// runDispatcher runs a test on a harness in simulated time.
func runDispatcher(t *testing.T, o Options, to endpoint, test func(*harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { runDispatcherHere(t, o, to, test) })
}

// runDispatcherHere is runDispatcher where time is simulated already.
func runDispatcherHere(t *testing.T, o Options, to endpoint, test func(*harness)) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"), feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{T: t, store: &troubledStore{DB: db, answers: make(chan struct{})}, began: time.Now(), done: make(chan struct{})}
	h.newWorkspace()
	o.Store, o.Vault, o.Metrics, o.Replica = h.store, plainVault{}, prometheus.NewRegistry(), "one"
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Kinds = kinds(func(ctx context.Context, t feedmill.Subscription, m feedmill.Message) feedmill.Result {
		h.mu.Lock()
		h.sent = append(h.sent, sent{sub: t.ID, delivery: m.Delivery, began: time.Now()})
		h.mu.Unlock()
		return to(ctx, t, m)
	})
	h.dispatcher = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	go func() {
		defer close(h.done)
		h.dispatcher.Run(ctx)
	}()
	synctest.Wait()
	test(h)
	synctest.Wait()
	checkInvariants(t, h.dispatcher)
	cancel()
	<-h.done
	h.must(db.Close())
}

func (h *harness) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// subscribe makes a subscription to all events of metrics, as change leaves it.
func (h *harness) subscribe(settings feedmill.DeliverySettings, change ...func(*feedmill.Subscription)) feedmill.ID {
	h.Helper()
	secrets, err := json.Marshal(feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()})
	h.must(err)
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: h.ws, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com", Method: "POST"}, Events: []string{"metric.*"},
		State: feedmill.SubscriptionActive, Secrets: secrets, CreatedAt: time.Now(), UpdatedAt: time.Now(), Delivery: settings,
	}
	for _, c := range change {
		c(&s)
	}
	h.must(h.store.CreateSubscriptions(h.Context(), []feedmill.Subscription{s}, 0, nil))
	return s.ID
}

// subscription is how a subscription stands in the store.
func (h *harness) subscription(id feedmill.ID) feedmill.Subscription {
	h.Helper()
	s, err := h.store.Subscription(h.Context(), h.ws, id)
	h.must(err)
	return s
}

// delivery is how a delivery stands in the store.
func (h *harness) delivery(id feedmill.ID) feedmill.Delivery {
	h.Helper()
	d, err := h.store.Delivery(h.Context(), h.ws, id)
	h.must(err)
	return d
}

// accept accepts n events, of one resource where it is named, else of n.
func (h *harness) accept(n int, resource string) (due []feedmill.DueDelivery) {
	h.Helper()
	events := make([]feedmill.Event, n)
	for i := range events {
		events[i] = h.newEvent(resource, `{}`)
		if resource == "" {
			events[i].ResourceID = fmt.Sprint("r", i)
		}
	}
	return h.acceptEvents(events...)
}

// acceptPayload accepts an event with a payload of its own.
func (h *harness) acceptPayload(resource, payload string) []feedmill.DueDelivery {
	h.Helper()
	return h.acceptEvents(h.newEvent(resource, payload))
}

func (h *harness) newEvent(resource, payload string) feedmill.Event {
	return feedmill.Event{
		ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: h.ws, Type: "metric.created", Timestamp: time.Now(),
		ResourceID: resource, Payload: []byte(payload),
	}
}

func (h *harness) acceptEvents(events ...feedmill.Event) []feedmill.DueDelivery {
	h.Helper()
	_, due, err := h.store.Accept(h.Context(), events, nil)
	h.must(err)
	return due
}

// attempts are those that were begun so far.
func (h *harness) attempts() []sent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}

// sentTo counts the attempts that were begun for a subscription.
func (h *harness) sentTo(sub feedmill.ID) (n int) {
	for _, s := range h.attempts() {
		n += count(s.sub == sub)
	}
	return n
}

// sentSince counts the attempts that were begun after a time.
func (h *harness) sentSince(at time.Time) (n int) {
	for _, s := range h.attempts() {
		n += count(s.began.After(at))
	}
	return n
}

// newWorkspace makes another workspace, for what is made from now on.
func (h *harness) newWorkspace() {
	h.Helper()
	h.ws = feedmill.NewID(feedmill.PrefixWorkspace)
	h.must(h.store.CreateWorkspace(h.Context(), feedmill.Workspace{ID: h.ws, Name: string(h.ws), CreatedAt: time.Now()}, nil))
}

// change changes a subscription in the store, and tells nobody.
func (h *harness) change(sub feedmill.ID, do func(*feedmill.Subscription)) {
	h.Helper()
	_, err := h.store.ChangeSubscription(h.Context(), h.ws, sub, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		do(s)
		return nil, nil
	})
	h.must(err)
}

// open counts the deliveries in the store that have not ended.
func (h *harness) open() int64 {
	h.Helper()
	n, _, err := h.store.OpenWork(h.Context(), time.Now())
	h.must(err)
	return n
}

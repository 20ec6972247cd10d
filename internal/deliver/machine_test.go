package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
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

// TestMachine lets random things happen to subscriptions, endpoints, clocks and
// processes, over days, and then checks whether anything got lost.
func TestMachine(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newMachine(t, seed).play() })
		})
	}
}

// machine is a world with one dispatcher at a time on one real store.
type machine struct {
	*testing.T
	random *rand.Rand
	store  *sqlite.DB
	ws     feedmill.ID
	subs   []feedmill.ID
	world  *world

	dispatcher *Dispatcher
	faulty     *faultyStore
	stop       context.CancelFunc
	done       chan struct{}
	// owed are the deliveries of acknowledged events.
	owed []feedmill.DueDelivery
}

// world is what stands behind the endpoints.
type world struct {
	mu      sync.Mutex
	random  *rand.Rand
	healthy bool
	sent    []sent
}

type sent struct {
	sub      feedmill.ID
	delivery feedmill.ID
	ok       bool
	began    time.Time
	ended    time.Time
}

// Send stands for an endpoint: it takes its time and answers as it likes.
func (w *world) Send(ctx context.Context, t feedmill.Subscription, m feedmill.Message) feedmill.Result {
	w.mu.Lock()
	began := time.Now()
	wait := time.Duration(w.random.IntN(2000)) * time.Millisecond
	r := answered200
	if !w.healthy {
		switch w.random.IntN(10) {
		case 0, 1:
			r = answered500
		case 2:
			r = feedmill.Result{Verdict: feedmill.VerdictRetry, Responded: true, Status: 503, Error: "503", RetryAfter: time.Minute}
		case 3:
			r, wait = noAnswer("timeout"), m.Timeout
		case 4:
			r = noAnswer("refused")
		case 5:
			if w.random.IntN(20) == 0 {
				r = answered410
			}
		}
	}
	w.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		r = noAnswer("broken off")
	}
	w.mu.Lock()
	w.sent = append(w.sent, sent{t.ID, m.Delivery, r.Delivered(), began, time.Now()})
	w.mu.Unlock()
	return r
}

// plainVault seals nothing: this test is not about secrets.
type plainVault struct{}

func (plainVault) Unseal(_ context.Context, sealed []byte, _ string) ([]byte, error) {
	return sealed, nil
}

// faultyStore is the real store until its process dies: then nothing that the
// dead process still tries has any effect.
type faultyStore struct {
	*sqlite.DB
	dead atomic.Bool

	t      *testing.T
	mu     sync.Mutex
	readAt time.Time
	reads  int // at that moment
}

var errDead = errors.New("the process is dead")

// maxReadsAtOnce is how many reads may be made before any time passes. If they led to
// nothing, they would have no end, and time would stand still.
const maxReadsAtOnce = 1000

func (s *faultyStore) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	if s.countRead() > maxReadsAtOnce {
		s.t.Errorf("%s is read over and over", q.Subscription)
		return nil, feedmill.ErrUnavailable
	}
	return s.DB.Due(ctx, q)
}

// countRead counts a read, and returns how many there were at this moment.
func (s *faultyStore) countRead() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); !now.Equal(s.readAt) {
		s.readAt, s.reads = now, 0
	}
	s.reads++
	return s.reads
}

func (s *faultyStore) Settle(ctx context.Context, o []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	if s.dead.Load() {
		return nil, errDead
	}
	return s.DB.Settle(ctx, o)
}

func (s *faultyStore) DiscardOpen(ctx context.Context, sub feedmill.ID, reason string, at time.Time, limit int) (int, error) {
	if s.dead.Load() {
		return 0, errDead
	}
	return s.DB.DiscardOpen(ctx, sub, reason, at, limit)
}

func newMachine(t *testing.T, seed uint64) *machine {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"), feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{
		T: t, random: rand.New(rand.NewPCG(seed, 1)), store: store, ws: feedmill.NewID(feedmill.PrefixWorkspace),
		world: &world{random: rand.New(rand.NewPCG(seed, 2))},
	}
	m.must(store.CreateWorkspace(t.Context(), feedmill.Workspace{ID: m.ws, Name: "w", CreatedAt: time.Now()}, nil))
	for i := range 4 {
		m.subscribe(i%2 == 0)
	}
	return m
}

func (m *machine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *machine) subscribe(ordered bool) {
	secrets, err := json.Marshal(feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()})
	m.must(err)
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: m.ws, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com", Method: "POST"},
		Events: []string{"metric.*"}, State: feedmill.SubscriptionActive, Secrets: secrets, CreatedAt: time.Now(), UpdatedAt: time.Now(),
		Delivery: feedmill.DeliverySettings{Timeout: 15 * time.Second, Concurrency: 3, Ordered: ordered},
	}
	m.must(m.store.CreateSubscriptions(m.Context(), []feedmill.Subscription{s}, 0, nil))
	m.subs = append(m.subs, s.ID)
}

func (m *machine) start() {
	m.faulty = &faultyStore{DB: m.store, t: m.T}
	m.dispatcher = New(Options{
		Store: m.faulty, Vault: plainVault{}, Kinds: kinds(m.world.Send), Log: slog.New(slog.DiscardHandler),
		Metrics: prometheus.NewRegistry(), Replica: "one", MaxQueued: 20, MaxLane: 8, PollEvery: time.Minute, LeaseTime: time.Hour,
	})
	ctx, cancel := context.WithCancel(context.Background())
	m.stop, m.done = cancel, make(chan struct{})
	go func() {
		defer close(m.done)
		m.dispatcher.Run(ctx)
	}()
}

// restart ends the process, by a signal or by kill -9, and starts another.
func (m *machine) restart(kill bool) {
	m.faulty.dead.Store(kill)
	m.stop()
	<-m.done
	m.start()
}

func (m *machine) publish(n int) {
	events := make([]feedmill.Event, n)
	for i := range events {
		id := feedmill.NewID(feedmill.PrefixEvent)
		events[i] = feedmill.Event{
			ID: id, Workspace: m.ws, Type: "metric.created", Timestamp: time.Now(),
			ResourceID: fmt.Sprint("r", m.random.IntN(3)), Payload: []byte(`{}`),
		}
	}
	_, due, err := m.store.Accept(m.Context(), events, nil)
	m.must(err)
	m.owed = append(m.owed, due...)
	m.dispatcher.Offer(due)
}

func (m *machine) change(id feedmill.ID, do func(*feedmill.Subscription)) {
	_, err := m.store.ChangeSubscription(m.Context(), m.ws, id, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		do(s)
		s.UpdatedAt = time.Now()
		return nil, nil
	})
	if !errors.Is(err, feedmill.ErrNotFound) {
		m.must(err)
	}
	m.dispatcher.Changed(id)
}

func (m *machine) set(id feedmill.ID, state feedmill.SubscriptionState) {
	m.change(id, func(s *feedmill.Subscription) {
		s.State, s.DisabledReason = state, ""
		if state == feedmill.SubscriptionActive {
			s.LastSuccessAt, s.WarnedAt = time.Now(), time.Time{}
		}
	})
}

// play lets things happen, then lets everything get well, and checks.
func (m *machine) play() {
	m.start()
	for range 120 {
		sub := m.subs[m.random.IntN(len(m.subs))]
		switch m.random.IntN(14) {
		case 0, 1, 2, 3, 4:
			m.publish(1 + m.random.IntN(12))
		case 5:
			m.set(sub, feedmill.SubscriptionPaused)
		case 6, 7:
			m.set(sub, feedmill.SubscriptionActive)
		case 8:
			if m.random.IntN(4) == 0 {
				m.set(sub, feedmill.SubscriptionDisabled)
			}
		case 9:
			m.change(sub, func(s *feedmill.Subscription) { s.Delivery.Concurrency = 1 + m.random.IntN(5) })
		case 10:
			m.restart(false)
		case 11:
			m.restart(true)
		case 12:
			if m.random.IntN(8) == 0 && len(m.subs) > 2 {
				m.must(m.store.DeleteSubscription(m.Context(), m.ws, sub, time.Now()))
				m.dispatcher.Changed(sub)
				m.subs = slices.DeleteFunc(m.subs, func(id feedmill.ID) bool { return id == sub })
				m.subscribe(m.random.IntN(2) == 0)
			}
		case 13:
			time.Sleep(time.Duration(m.random.IntN(int(10 * time.Hour))))
		}
		time.Sleep(time.Duration(m.random.IntN(int(5 * time.Second))))
		checkInvariants(m.T, m.dispatcher)
	}
	// Everything gets well, and there is time enough for all of it: the longest wait
	// is a day.
	m.world.mu.Lock()
	m.world.healthy = true
	m.world.mu.Unlock()
	for _, id := range m.subs {
		m.set(id, feedmill.SubscriptionActive)
	}
	time.Sleep(3 * 24 * time.Hour)
	checkInvariants(m.T, m.dispatcher)
	m.check()
	m.stop()
	<-m.done
	m.must(m.store.Close())
}

func (m *machine) check() {
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	got := make(map[feedmill.ID]int) // successful sends
	for _, s := range m.world.sent {
		if s.ok {
			got[s.delivery]++
		}
	}
	counts := make(map[feedmill.DeliveryState]int)
	bySub := make(map[feedmill.ID][]feedmill.Delivery)
	for _, due := range m.owed {
		d, err := m.store.Delivery(m.Context(), m.ws, due.ID)
		m.must(err)
		counts[d.State]++
		bySub[d.Subscription] = append(bySub[d.Subscription], d)
		switch d.State {
		case feedmill.DeliveryDelivered:
			if got[d.ID] == 0 {
				m.Errorf("%s is called delivered and never arrived", d.ID)
			}
			attempts, err := m.store.DeliveryAttempts(m.Context(), d.ID)
			m.must(err)
			if len(attempts) != d.Attempts || len(attempts) == 0 || attempts[len(attempts)-1].Status != 200 {
				m.Errorf("%s has %d attempts in the log and %d counted", d.ID, len(attempts), d.Attempts)
			}
		case feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded:
		default:
			m.Errorf("%s is still %s with %d attempts, due %v (now %v)", d.ID, d.State, d.Attempts, d.DueAt, time.Now())
		}
	}
	if counts[feedmill.DeliveryDelivered] == 0 {
		m.Error("nothing was delivered")
	}
	for sub, deliveries := range bySub {
		s, err := m.store.SubscriptionForDelivery(m.Context(), sub)
		m.must(err)
		if s.Delivery.Ordered {
			m.checkOrder(deliveries)
		}
	}
}

// checkOrder holds that no delivery was tried before all earlier ones of its
// resource had ended.
func (m *machine) checkOrder(deliveries []feedmill.Delivery) {
	first, last := make(map[feedmill.ID]time.Time), make(map[feedmill.ID]time.Time)
	for _, s := range m.world.sent {
		if at, ok := first[s.delivery]; !ok || s.began.Before(at) {
			first[s.delivery] = s.began
		}
		if s.ended.After(last[s.delivery]) {
			last[s.delivery] = s.ended
		}
	}
	before := make(map[string]feedmill.Delivery)
	slices.SortFunc(deliveries, func(a, b feedmill.Delivery) int { return int(a.Seq - b.Seq) })
	for _, d := range deliveries {
		if at, ok := first[d.ID]; ok {
			if prev, ok := before[d.ResourceID]; ok && at.Before(last[prev.ID]) {
				m.Errorf("%s (%s) was begun at %v, while %s before it went on until %v", d.ID, d.ResourceID, at, prev.ID, last[prev.ID])
			}
			before[d.ResourceID] = d
		}
	}
}

package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/postgres"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// hotStore is what the test of a hot resource needs of a store.
type hotStore interface {
	Store
	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error
	Accept(ctx context.Context, events []feedmill.Event, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error)
	Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error)
	ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error)
	Close() error
}

// killedStore is the store of a process until that is killed.
type killedStore struct {
	hotStore
	dead atomic.Bool
}

func (s *killedStore) Settle(ctx context.Context, o []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	if s.dead.Load() {
		return nil, errDead
	}
	return s.hotStore.Settle(ctx, o)
}

func (s *killedStore) ReleaseSlots(ctx context.Context, replica string, slots []int) error {
	if s.dead.Load() {
		return errDead
	}
	return s.hotStore.ReleaseSlots(ctx, replica, slots)
}

func (s *killedStore) LeaveReplicas(ctx context.Context, replica string) error {
	if s.dead.Load() {
		return errDead
	}
	return s.hotStore.LeaveReplicas(ctx, replica)
}

// hotWorld are processes that send to one ordered subscription, and its endpoint.
type hotWorld struct {
	*testing.T
	db       hotStore
	ws, sub  feedmill.ID
	replicas []*hotReplica
	started  int

	mu     sync.Mutex
	random *rand.Rand
	// before is the delivery of the same resource before each, and last the last of
	// each resource.
	before  map[feedmill.ID]feedmill.ID
	last    map[string]feedmill.ID
	left    map[feedmill.ID]bool // to arrive
	arrives *sync.Cond           // one does
}

type hotReplica struct {
	*Dispatcher
	store *killedStore
	stop  context.CancelFunc
	done  chan struct{}
}

// A resource with many events, beside others with few, arrives in order and whole,
// through failures, a pause, and processes that end, are killed, and take over from
// each other.
func TestAHotResourceArrivesInOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		replicas int
		open     func(*testing.T) (hotStore, error)
	}{
		{"sqlite", 1, func(t *testing.T) (hotStore, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"), feedmill.StoreOptions{})
		}},
		{"postgres", 2, func(t *testing.T) (hotStore, error) {
			return postgres.Open(t.Context(), pgtest.New(t), feedmill.StoreOptions{})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := c.open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			w := newHotWorld(t, db)
			for range c.replicas {
				w.start()
			}
			w.publish("hot", 150)
			for n := range 20 {
				w.publish(fmt.Sprint("cold", n), 3)
			}
			for _, kill := range []bool{false, true} {
				w.await(30)
				w.set(feedmill.SubscriptionPaused)
				w.publish("hot", 10)
				w.set(feedmill.SubscriptionActive)
				w.await(30)
				w.end(0, kill)
				w.start()
			}
			w.await(len(w.before))
			for len(w.replicas) > 0 {
				w.end(0, false)
			}
		})
	}
}

func newHotWorld(t *testing.T, db hotStore) *hotWorld {
	w := &hotWorld{
		T: t, db: db, ws: feedmill.NewID(feedmill.PrefixWorkspace), sub: feedmill.NewID(feedmill.PrefixSubscription), random: rand.New(rand.NewPCG(1, 2)),
		before: make(map[feedmill.ID]feedmill.ID), last: make(map[string]feedmill.ID), left: make(map[feedmill.ID]bool),
	}
	w.arrives = sync.NewCond(&w.mu)
	w.must(db.CreateWorkspace(t.Context(), feedmill.Workspace{ID: w.ws, Name: "w", CreatedAt: time.Now()}, nil))
	secrets, err := json.Marshal(feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()})
	w.must(err)
	w.must(db.CreateSubscriptions(t.Context(), []feedmill.Subscription{{
		ID: w.sub, Workspace: w.ws, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com", Method: "POST"}, Events: []string{"metric.*"}, Secrets: secrets,
		State: feedmill.SubscriptionActive, CreatedAt: time.Now(), UpdatedAt: time.Now(), Delivery: feedmill.DeliverySettings{Ordered: true},
	}}, 0, nil))
	return w
}

func (w *hotWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *hotWorld) start() {
	w.started++
	r := &hotReplica{store: &killedStore{hotStore: w.db}, done: make(chan struct{})}
	r.Dispatcher = New(Options{
		Store: r.store, Vault: plainVault{}, Kinds: kinds(w.send), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Replica: fmt.Sprint("replica ", w.started), LeaseTime: 3 * time.Second, PollEvery: 100 * time.Millisecond,
		Schedule: slices.Repeat(feedmill.RetrySchedule{20 * time.Millisecond}, 20),
	})
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		defer close(r.done)
		r.Run(ctx)
	}()
	w.replicas = append(w.replicas, r)
}

// end ends a process, or kills it.
func (w *hotWorld) end(n int, kill bool) {
	r := w.replicas[n]
	r.store.dead.Store(kill)
	r.stop()
	<-r.done
	w.replicas = slices.Delete(w.replicas, n, n+1)
}

// publish accepts events of a resource, one request after the other.
func (w *hotWorld) publish(resource string, n int) {
	w.Helper()
	for first := 0; first < n; first += 100 {
		events := make([]feedmill.Event, min(100, n-first))
		for i := range events {
			events[i] = feedmill.Event{
				ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ws, Type: "metric.created", Timestamp: time.Now(),
				ResourceID: resource, Payload: []byte(`{}`),
			}
		}
		w.mu.Lock() // nothing is sent before it is noted
		_, due, err := w.db.Accept(w.Context(), events, nil)
		for _, d := range due {
			w.before[d.ID], w.last[resource], w.left[d.ID] = w.last[resource], d.ID, true
		}
		w.mu.Unlock()
		w.must(err)
		w.replicas[0].Offer(due)
	}
}

// set makes the subscription paused or active.
func (w *hotWorld) set(state feedmill.SubscriptionState) {
	w.Helper()
	_, err := w.db.ChangeSubscription(w.Context(), w.ws, w.sub, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		s.State = state
		return nil, nil
	})
	w.must(err)
	for _, r := range w.replicas {
		r.Changed(w.sub)
	}
}

// await waits until so many more have arrived, or all.
func (w *hotWorld) await(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for until := max(len(w.left)-n, 0); len(w.left) > until; {
		w.arrives.Wait()
	}
}

// send is the endpoint. It holds every attempt to the order of its resource.
func (w *hotWorld) send(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.before[m.Delivery]; before != "" {
		if d, err := w.db.Delivery(context.Background(), w.ws, before); err != nil || d.State.Open() {
			w.Errorf("%s is sent, and %s before it is %s (%v)", m.Delivery, before, d.State, err)
		}
	}
	if w.random.IntN(20) == 0 {
		return answered500
	}
	delete(w.left, m.Delivery)
	w.arrives.Broadcast()
	return answered200
}

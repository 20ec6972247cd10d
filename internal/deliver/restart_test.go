package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/postgres"
)

// farStore takes its time to put right what waits: until all of it is sent.
type farStore struct {
	*postgres.DB
	sent <-chan struct{}
	// single counts the subscriptions that are read by themselves.
	single *atomic.Int64
}

func (s farStore) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	s.single.Add(1)
	return s.DB.SubscriptionForDelivery(ctx, id)
}

func (s farStore) Rewind(ctx context.Context, slots []int, now time.Time, after feedmill.RetryPosition, limit int) (feedmill.RetryPosition, bool, error) {
	select {
	case <-s.sent:
	case <-ctx.Done():
		return after, false, ctx.Err()
	}
	return s.DB.Rewind(ctx, slots, now, after, limit)
}

// After a start all that the store holds is sent, however many subscriptions it
// is for, and nothing waits until times are put right. Subscriptions are read together.
func TestStoredWorkIsSentAfterAStart(t *testing.T) {
	n := 1000
	if os.Getenv("FEEDMILL_LONG") != "" {
		n = 20_000
	}
	db, err := postgres.Open(t.Context(), pgtest.New(t), feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stored := storeWork(t, db, n)

	var mu sync.Mutex
	var single atomic.Int64
	all := make(chan struct{})
	sentAll := sync.OnceFunc(func() { close(all) }) // what is sent may come again
	d := New(Options{
		Store: farStore{db, all, &single}, Vault: plainVault{}, TargetAge: time.Hour, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Replica: "one",
		Kinds: kinds(func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
			mu.Lock()
			defer mu.Unlock()
			if delete(stored, m.Delivery); len(stored) == 0 {
				sentAll()
			}
			return answered200
		}),
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	select {
	case <-all:
	case <-time.After(10 * time.Minute):
		t.Error("what was stored has not been sent")
	}
	stop()
	<-done
	if got := single.Load(); got > 0 {
		t.Errorf("%d of %d subscriptions were read one by one", got, n)
	}
}

// storeWork makes n subscriptions, each with a delivery.
func storeWork(t *testing.T, db *postgres.DB, n int) map[feedmill.ID]bool {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: time.Now()}
	must(db.CreateWorkspace(t.Context(), w, nil))
	secrets, err := json.Marshal(feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()})
	must(err)
	stored := make(map[feedmill.ID]bool, n)
	for i := 0; i < n; i += 500 {
		subs := make([]feedmill.Subscription, 500)
		resource := fmt.Sprint("m_", i)
		for j := range subs {
			subs[j] = feedmill.Subscription{
				ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com", Method: "POST"}, Events: []string{"metric.*"},
				ResourceID: resource, State: feedmill.SubscriptionActive, Secrets: secrets, CreatedAt: time.Now(), UpdatedAt: time.Now(),
			}
		}
		must(db.CreateSubscriptions(t.Context(), subs, 0, nil))
		_, due, err := db.Accept(t.Context(), []feedmill.Event{{
			ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: "metric.created", Timestamp: time.Now(), ResourceID: resource, Payload: []byte(`{}`),
		}}, nil)
		must(err)
		for _, d := range due {
			stored[d.ID] = true
		}
	}
	if len(stored) != n {
		t.Fatalf("%d deliveries are stored, want %d", len(stored), n)
	}
	return stored
}

package sqlite_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

// TestHugeFanOut accepts events that go to very many subscriptions, and holds the
// memory that this takes to what the steps need and not to what there is.
func TestHugeFanOut(t *testing.T) {
	subscriptions, events := feedmill.MaxMadeAtOnce+1, 1
	if os.Getenv("FEEDMILL_LONG") != "" {
		subscriptions, events = 100_000, 20
	}
	db, ctx := sqlitetest.New(t), t.Context()
	at := time.Now().UTC().Truncate(time.Millisecond)
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: at}
	if err := db.CreateWorkspace(ctx, w, nil); err != nil {
		t.Fatal(err)
	}
	subs := make([]feedmill.Subscription, subscriptions)
	for i := range subs {
		subs[i] = feedmill.Subscription{
			ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com/", Method: "POST"}, Events: []string{"metric.*"},
			State: feedmill.SubscriptionActive, CreatedAt: at, UpdatedAt: at,
		}
	}
	if err := db.CreateSubscriptions(ctx, subs, 0, nil); err != nil {
		t.Fatal(err)
	}
	subs = nil
	accept := func(kind string) time.Duration {
		batch := make([]feedmill.Event, events)
		for i := range batch {
			batch[i] = feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: kind, Timestamp: at, Payload: []byte(`{}`)}
		}
		began := time.Now()
		_, due, err := db.Accept(ctx, batch, nil)
		if err != nil || len(due) != 0 {
			t.Fatalf("%d deliveries are made at once (%v)", len(due), err)
		}
		return time.Since(began)
	}
	accept("tag.created")
	matched, unmatched := accept("metric.created"), accept("tag.created")
	t.Logf("accepted in %v, without a match in %v", matched, unmatched)
	if os.Getenv("FEEDMILL_LONG") != "" && matched > 5*unmatched+50*time.Millisecond { // to make them takes many seconds
		t.Errorf("accepted in %v, without a match in %v", matched, unmatched)
	}

	var most uint64
	made, began := 0, time.Now()
	for step := 0; ; step++ {
		due, worked, err := db.StepFanout(ctx, time.Now(), storetest.UpTo(250, 0))
		if err != nil {
			t.Fatal(err)
		}
		if !worked {
			break
		}
		if made += len(due); step%200 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	t.Logf("%d deliveries made in %v with %d MB", made, time.Since(began), most>>20)
	if made != subscriptions*events {
		t.Errorf("%d deliveries are made, want %d", made, subscriptions*events)
	}
	if most > 64<<20 {
		t.Errorf("%d MB are held", most>>20)
	}
}

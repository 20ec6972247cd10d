package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// collector is a queue that remembers.
type collector struct{ due []feedmill.DueDelivery }

func (c *collector) Wake() {}

func (c *collector) Offer(due []feedmill.DueDelivery) { c.due = append(c.due, due...) }

type fixture struct {
	*Publisher
	store *sqlite.DB
	queue *collector
	ws    feedmill.ID
}

func newFixture(t *testing.T, own ...feedmill.EventType) fixture {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"), feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	catalogue, err := feedmill.NewCatalogue(own, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{store: store, queue: new(collector), ws: feedmill.NewID(feedmill.PrefixWorkspace)}
	if err := store.CreateWorkspace(t.Context(), feedmill.Workspace{ID: f.ws, Name: "w", CreatedAt: time.Now()}, nil); err != nil {
		t.Fatal(err)
	}
	f.Publisher = New(Options{Store: store, Queue: f.queue, Catalogue: catalogue, Metrics: prometheus.NewRegistry()})
	return f
}

func (f fixture) subscribe(t *testing.T, events ...string) feedmill.ID {
	t.Helper()
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: f.ws, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com", Method: "POST"},
		Events: events, State: feedmill.SubscriptionActive, Secrets: []byte("sealed"), CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	if err := f.store.CreateSubscriptions(t.Context(), []feedmill.Subscription{s}, 0, nil); err != nil {
		t.Fatal(err)
	}
	return s.ID
}

func TestPublishedIsDurableAndOffered(t *testing.T) {
	f := newFixture(t)
	sub := f.subscribe(t, "metric.*")
	accepted, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{
		{Type: "metric.created", ResourceID: "m_1", Data: []byte(`{"b": 1.50, "1": "x"}`)},
		{Type: "tag.created"},
	}, nil)
	if err != nil || len(accepted) != 2 {
		t.Fatalf("accepted %+v, %v", accepted, err)
	}
	if len(f.queue.due) != 1 || f.queue.due[0].Subscription != sub || f.queue.due[0].Event != accepted[0].ID {
		t.Fatalf("offered %+v", f.queue.due)
	}
	event, err := f.store.Event(t.Context(), f.ws, accepted[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"id":%q,"type":"metric.created","timestamp":%q,"resourceId":"m_1","data":{"1":"x","b":1.5}}`,
		event.ID, event.Timestamp.Format(feedmill.TimestampFormat))
	if string(event.Payload) != want || string(f.queue.due[0].Payload) != want {
		t.Errorf("payload is %s, want %s", event.Payload, want)
	}
}

func TestTimestamps(t *testing.T) {
	f := newFixture(t)
	given := time.Date(2026, 11, 15, 13, 0, 0, 987_654_321, time.FixedZone("", 3600))
	accepted, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{{Type: "tag.created", Timestamp: given}, {Type: "tag.created"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Time{time.Date(2026, 11, 15, 12, 0, 0, 987_000_000, time.UTC), accepted[1].ID.Time()} {
		event, err := f.store.Event(t.Context(), f.ws, accepted[i].ID)
		if err != nil || !event.Timestamp.Equal(want) || !strings.Contains(string(event.Payload), want.UTC().Format(feedmill.TimestampFormat)) {
			t.Errorf("event %d is of %v with %s, want %v (%v)", i, event.Timestamp, event.Payload, want, err)
		}
	}
}

func TestEventsAreCounted(t *testing.T) {
	f := newFixture(t)
	f.subscribe(t, "metric.*")
	f.subscribe(t, "metric.created")
	event := feedmill.NewEvent{Type: "metric.created", PublisherID: "1", DedupeKey: "1"}
	for range 2 {
		if _, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{event, {Type: "tag.created"}, {Type: "tag.created"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	families, err := f.Metrics.(*prometheus.Registry).Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, family := range families {
		got[family.GetName()] = family.GetMetric()[0].GetCounter().GetValue()
	}
	want := map[string]float64{"feedmill_events_accepted_total": 5, "feedmill_events_duplicate_total": 1, "feedmill_events_matched_total": 2}
	if !maps.Equal(got, want) {
		t.Errorf("counted are %v, want %v", got, want)
	}
}

// failingStore accepts nothing.
type failingStore struct{}

var errStore = errors.New("the disk is full")

func (failingStore) Accept(context.Context, []feedmill.Event, func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	return nil, nil, errStore
}

func TestAStoreThatFails(t *testing.T) {
	f := newFixture(t)
	f.Store = failingStore{}
	if accepted, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{{Type: "metric.created"}}, nil); !errors.Is(err, errStore) || accepted != nil {
		t.Errorf("accepted %+v, %v", accepted, err)
	}
}

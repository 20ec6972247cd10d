package publish

import (
	"errors"
	"fmt"
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

func (c *collector) Offer(due []feedmill.DueDelivery) { c.due = append(c.due, due...) }

type fixture struct {
	*Publisher
	store *sqlite.DB
	queue *collector
	ws    feedmill.ID
}

func newFixture(t *testing.T, own ...feedmill.EventType) fixture {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "f.db"))
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
	f.Publisher = New(Options{Store: store, Queue: f.queue, Catalogue: catalogue, Attempts: 10, Metrics: prometheus.NewRegistry()})
	return f
}

func (f fixture) subscribe(t *testing.T, events ...string) feedmill.ID {
	t.Helper()
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: f.ws, URL: "https://example.com", Method: "POST",
		Events: events, State: feedmill.SubscriptionActive, Secrets: []byte("sealed"), CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	if err := f.store.CreateSubscriptions(t.Context(), []feedmill.Subscription{s}, nil); err != nil {
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

func TestRefusedTogetherAndNothingIsKept(t *testing.T) {
	f := newFixture(t)
	_, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{
		{Type: "metric.created"},
		{Type: "metric.creatd"},
		{Type: "datafeed.source.refreshed"},
		{Type: "tag.created", Data: []byte(`{"a":{"b":1,"b":2}}`)},
		{Type: "tag.created", Data: []byte(`"\ud800"`)},
	}, nil)
	var refusal *feedmill.Error
	if !errors.As(err, &refusal) || !errors.Is(err, feedmill.ErrInvalid) {
		t.Fatalf("error is %v", err)
	}
	var at []string
	for _, fault := range refusal.Faults {
		at = append(at, fault.Pointer)
	}
	if got, want := strings.Join(at, " "), "/1/type /2/type /3/data/a/b /4/data"; got != want {
		t.Errorf("faults at %s, want %s", got, want)
	}
	if events, err := f.store.Events(t.Context(), f.ws, feedmill.EventQuery{Page: feedmill.Page{Limit: 10}}); err != nil || len(events) != 0 {
		t.Errorf("%d events are there, %v", len(events), err)
	}
}

func TestTooLarge(t *testing.T) {
	f := newFixture(t)
	data := []byte(`"` + strings.Repeat("x", feedmill.MaxPayloadBytes) + `"`)
	_, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{{Type: "tag.created"}, {Type: "tag.created", Data: data}}, nil)
	var refusal *feedmill.Error
	if !errors.Is(err, feedmill.ErrTooLarge) || !errors.As(err, &refusal) || refusal.Faults[0].Pointer != "/1" {
		t.Errorf("error is %v", err)
	}
}

func TestSchemas(t *testing.T) {
	own := feedmill.EventType{Name: "order.paid", Schema: []byte(`{"type":"object","required":["total"],"properties":{"total":{"type":"number"},"lines":{"type":"array","items":{"type":"string"}}}}`)}
	f := newFixture(t, own)
	schemas, err := NewSchemas(f.Catalogue)
	if err != nil {
		t.Fatal(err)
	}
	f.Schemas = schemas
	for data, want := range map[string]string{
		`{"total":1}`:                        "",
		`{"total":"1","lines":["a",2]}`:      "/0/data/lines/1 /0/data/total",
		`{}`:                                 "/0/data",
		``:                                   "/0/data",
		`[]`:                                 "/0/data",
		`{"total":12345678901234567890.125}`: "",
	} {
		_, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{{Type: "order.paid", Data: []byte(data)}}, nil)
		var at []string
		var refusal *feedmill.Error
		if errors.As(err, &refusal) {
			for _, fault := range refusal.Faults {
				at = append(at, fault.Pointer)
			}
		}
		if got := strings.Join(at, " "); got != want || (err == nil) != (want == "") {
			t.Errorf("%s: faults at %q (%v), want %q", data, got, err, want)
		}
	}
}

func TestSchemasFetchNothing(t *testing.T) {
	c, err := feedmill.NewCatalogue([]feedmill.EventType{{Name: "order.paid", Schema: []byte(`{"$ref":"http://127.0.0.1:1/other.json"}`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSchemas(c); err == nil || !strings.Contains(err.Error(), "order.paid") {
		t.Errorf("error is %v", err)
	}
}

func TestSourceEvents(t *testing.T) {
	f := newFixture(t)
	source := feedmill.NewID(feedmill.PrefixDataSource)
	feeds := []feedmill.ID{feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixDataFeed)}
	f.subscribe(t, "datasource.refreshed")
	events, err := SourceEvents(feedmill.SourceEvent{Workspace: f.ws, Type: "datasource.refreshed", Source: source, Feeds: feeds, Data: map[string]any{"rows": 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, made, err := f.store.Accept(t.Context(), events, 10, nil)
	if err != nil || len(made) != 2 {
		t.Fatalf("made %+v, %v", made, err)
	}
	for i, due := range made {
		if due.ResourceID != string(feeds[i]) || due.Type != "datafeed.source.refreshed" || strings.Contains(string(due.Payload), "ds_") {
			t.Errorf("made %+v %s", due.Delivery, due.Payload)
		}
	}
}

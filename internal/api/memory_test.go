package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// eventsWorld is a server for the events half over parts that live in memory.
type eventsWorld struct {
	*Server
	store      *memoryStore
	dispatcher *memoryDispatcher
}

func newEventsWorld(t testing.TB) *eventsWorld {
	t.Helper()
	catalogue, err := feedmill.NewCatalogue([]feedmill.EventType{{Name: "order.paid"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := &memoryStore{
		feeds: make(map[feedmill.ID]feedmill.ID), subs: make(map[feedmill.ID]feedmill.Subscription), idempotent: make(map[string]feedmill.IdempotentResponse),
		seen: make(map[string]feedmill.Accepted), attempts: make(map[feedmill.ID][]feedmill.Attempt),
	}
	dispatcher := &memoryDispatcher{inFlight: make(map[feedmill.ID]bool)}
	return &eventsWorld{
		Server: New(Options{
			Store: store, Auth: everybody{}, Vault: labelVault{}, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
			Publisher: memoryPublisher{store, catalogue}, Dispatcher: dispatcher, Catalogue: catalogue, URLs: testPolicy{},
		}),
		store: store, dispatcher: dispatcher,
	}
}

// addFeed makes a data feed and answers its id.
func (w *eventsWorld) addFeed() feedmill.ID {
	feed := feedmill.NewID(feedmill.PrefixDataFeed)
	w.store.feeds[feed] = feedmill.NewID(feedmill.PrefixDataSource)
	return feed
}

// do sends a request and holds its answer to what holds for all of them.
func (w *eventsWorld) do(t testing.TB, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := ask(w.Server, method, path, body, header...)
	if text := r.Body.String(); strings.Contains(text, "datasource") || regexp.MustCompile(`\bds_`).MatchString(text) {
		t.Errorf("%s %s: the answer shows what is internal: %s", method, path, text)
	}
	return r
}

// makeSubscription makes one and answers its id and secret.
func (w *eventsWorld) makeSubscription(t testing.TB, body string) (id feedmill.ID, secret string) {
	t.Helper()
	a := w.do(t, "POST", "/events/subscriptions", body)
	if a.Code != http.StatusCreated {
		t.Fatalf("%d: %s", a.Code, a.Body)
	}
	return feedmill.ID(regexp.MustCompile(`sub_[0-9a-z]{26}`).FindString(a.Body.String())), regexp.MustCompile(`whsec_[^"]+`).FindString(a.Body.String())
}

var (
	anyID        = regexp.MustCompile(`\b(sub|evt|dlv|att|rpl|df)_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)
	anySecret    = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)
	anyTimestamp = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
)

// normal is an answer with its ids numbered in the order in which they appear,
// its secrets and times by a word each.
func normal(text string) string {
	var ids []string
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		prefix, _, _ := strings.Cut(id, "_")
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		n := 0
		for _, other := range ids[:slices.Index(ids, id)+1] {
			if strings.HasPrefix(other, prefix+"_") {
				n++
			}
		}
		return fmt.Sprintf("%s_%d", prefix, n)
	})
	return anyTimestamp.ReplaceAllString(anySecret.ReplaceAllString(text, "SECRET"), `"TIME"`)
}

// unindent takes the line breaks and the spaces around them out of JSON that is
// written over several lines.
func unindent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}

// labelVault seals by writing the record's name before what it holds.
type labelVault struct{}

func (labelVault) Seal(plain []byte, record string) ([]byte, error) {
	return []byte(record + "\n" + string(plain)), nil
}

func (labelVault) Unseal(_ context.Context, sealed []byte, record string) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(record+"\n"))
	if !ok {
		return nil, errors.New("sealed for another record")
	}
	return plain, nil
}

// testPolicy allows https to names, and http to hook.internal.
type testPolicy struct{}

func (testPolicy) CheckURL(u *url.URL) error {
	switch host := u.Hostname(); {
	case host == "" || u.Opaque != "":
		return errors.New("the URL is not absolute")
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("scheme %q is neither https nor http", u.Scheme)
	case host == "localhost" || regexp.MustCompile(`^[0-9.]+$|:`).MatchString(host):
		return fmt.Errorf("%s is forbidden by the egress policy", host)
	case u.Scheme == "http" && host != "hook.internal":
		return fmt.Errorf("plain http to %s is forbidden by the egress policy", host)
	}
	return nil
}

// memoryDispatcher notes what it is told.
type memoryDispatcher struct {
	mu       sync.Mutex
	changed  []feedmill.ID
	inFlight map[feedmill.ID]bool
	offered  []feedmill.DueDelivery
	woken    int
	pinged   feedmill.Attempt
}

func (d *memoryDispatcher) Changed(id feedmill.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = append(d.changed, id)
}
func (d *memoryDispatcher) InFlight(id feedmill.ID) bool     { return d.inFlight[id] }
func (d *memoryDispatcher) Offer(due []feedmill.DueDelivery) { d.offered = append(d.offered, due...) }
func (d *memoryDispatcher) Wake()                            { d.woken++ }
func (d *memoryDispatcher) Ping(context.Context, feedmill.Subscription) (feedmill.Attempt, error) {
	return d.pinged, nil
}

// memoryPublisher accepts events into the store in memory.
type memoryPublisher struct {
	store     *memoryStore
	catalogue *feedmill.Catalogue
}

func (p memoryPublisher) Publish(_ context.Context, workspace feedmill.ID, events []feedmill.NewEvent, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) (accepted []feedmill.Accepted, err error) {
	for i, e := range events {
		var refusal *feedmill.Error
		if errors.As(p.catalogue.CheckPublished(e.Type), &refusal) {
			placed := *refusal
			placed.Faults = []feedmill.Fault{{Pointer: fmt.Sprintf("/%d/type", i), Detail: refusal.Detail}}
			return nil, &placed
		}
		if seen, ok := p.store.seen[e.DedupeKey]; ok && e.DedupeKey != "" {
			seen.Duplicate = true
			accepted = append(accepted, seen)
			continue
		}
		event := feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: workspace, PublisherID: e.PublisherID, Type: e.Type, Timestamp: e.Timestamp, ResourceID: e.ResourceID}
		if event.Timestamp.IsZero() {
			event.Timestamp = now()
		}
		if event.Payload, err = feedmill.RenderPayload(event, e.Data); err != nil {
			return nil, err
		}
		p.store.events = append(p.store.events, event)
		a := feedmill.Accepted{ID: event.ID, PublisherID: e.PublisherID, Type: e.Type}
		p.store.seen[e.DedupeKey] = a
		accepted = append(accepted, a)
	}
	if keep != nil {
		p.store.keep(keep(accepted))
	}
	return accepted, nil
}

// memoryStore is a store without a disk, for one workspace.
type memoryStore struct {
	Store      // what the events half does not use
	feeds      map[feedmill.ID]feedmill.ID
	subs       map[feedmill.ID]feedmill.Subscription
	events     []feedmill.Event
	seen       map[string]feedmill.Accepted
	deliveries []feedmill.Delivery
	attempts   map[feedmill.ID][]feedmill.Attempt
	replays    []feedmill.Replay
	idempotent map[string]feedmill.IdempotentResponse
	// meanwhile, where not nil, is done to a subscription before a change.
	meanwhile func(*feedmill.Subscription)
}

func (m *memoryStore) keep(o *feedmill.IdempotentResponse) {
	if o != nil {
		m.idempotent[o.Key] = *o
	}
}

func (m *memoryStore) KeepResponse(_ context.Context, o feedmill.IdempotentResponse) error {
	m.keep(&o)
	return nil
}

func (m *memoryStore) KeptResponse(_ context.Context, _ feedmill.ID, key string, _ time.Time) (feedmill.IdempotentResponse, error) {
	o, ok := m.idempotent[key]
	return o, found(ok)
}

func found(ok bool) error {
	if !ok {
		return feedmill.ErrNotFound
	}
	return nil
}

func (m *memoryStore) FeedSource(_ context.Context, _, feed feedmill.ID) (feedmill.ID, error) {
	source, ok := m.feeds[feed]
	return source, found(ok)
}

func (m *memoryStore) CreateSubscriptions(_ context.Context, subs []feedmill.Subscription, o *feedmill.IdempotentResponse) error {
	for _, s := range subs {
		m.subs[s.ID] = s
	}
	m.keep(o)
	return nil
}

func (m *memoryStore) Subscription(_ context.Context, _, id feedmill.ID) (feedmill.Subscription, error) {
	s, ok := m.subs[id]
	return s, found(ok)
}

func (m *memoryStore) Subscriptions(_ context.Context, _ feedmill.ID, p feedmill.Page) (list []feedmill.Subscription, _ error) {
	for _, s := range m.subs {
		list = append(list, s)
	}
	return pageOf(list, p, func(s feedmill.Subscription) feedmill.ID { return s.ID }), nil
}

func pageOf[T any](list []T, p feedmill.Page, id func(T) feedmill.ID) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(v T) bool { return p.Before != "" && id(v) >= p.Before })
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(string(id(b)), string(id(a))) })
	return list[:min(len(list), p.Limit)]
}

func (m *memoryStore) CountSubscriptions(context.Context, feedmill.ID) (int, error) {
	return len(m.subs), nil
}

func (m *memoryStore) ChangeSubscription(_ context.Context, _, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error) {
	s, ok := m.subs[id]
	if !ok {
		return s, feedmill.ErrNotFound
	}
	if m.meanwhile != nil {
		m.meanwhile(&s)
		m.subs[id] = s
	}
	o, err := change(&s)
	if err != nil {
		return s, err
	}
	m.keep(o)
	m.subs[id] = s
	return s, nil
}

func (m *memoryStore) DeleteSubscription(_ context.Context, _, id feedmill.ID, _ time.Time) error {
	_, ok := m.subs[id]
	delete(m.subs, id)
	return found(ok)
}

func (m *memoryStore) Events(_ context.Context, _ feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error) {
	list := slices.DeleteFunc(slices.Clone(m.events), func(e feedmill.Event) bool {
		return (q.Type != "" && e.Type != q.Type) || (q.ResourceID != "" && e.ResourceID != q.ResourceID) || e.Timestamp.Before(q.Since)
	})
	return pageOf(list, q.Page, func(e feedmill.Event) feedmill.ID { return e.ID }), nil
}

func (m *memoryStore) Event(_ context.Context, _, id feedmill.ID) (feedmill.Event, error) {
	i := slices.IndexFunc(m.events, func(e feedmill.Event) bool { return e.ID == id })
	if i < 0 {
		return feedmill.Event{}, feedmill.ErrNotFound
	}
	return m.events[i], nil
}

func (m *memoryStore) EventRoutes(_ context.Context, _, event feedmill.ID, limit int) (routes []feedmill.EventRoute, _ error) {
	for _, d := range m.deliveries {
		if d.Event == event && len(routes) < limit {
			routes = append(routes, feedmill.EventRoute{Delivery: d.ID, Subscription: d.Subscription, State: d.State})
		}
	}
	return routes, nil
}

func (m *memoryStore) Deliveries(_ context.Context, _ feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error) {
	list := slices.DeleteFunc(slices.Clone(m.deliveries), func(d feedmill.Delivery) bool {
		return (q.Subscription != "" && d.Subscription != q.Subscription) || (len(q.States) > 0 && !slices.Contains(q.States, d.State)) ||
			(q.Type != "" && d.Type != q.Type) || d.CreatedAt.Before(q.Since)
	})
	return pageOf(list, q.Page, func(d feedmill.Delivery) feedmill.ID { return d.ID }), nil
}

func (m *memoryStore) Delivery(_ context.Context, _, id feedmill.ID) (feedmill.Delivery, error) {
	i := slices.IndexFunc(m.deliveries, func(d feedmill.Delivery) bool { return d.ID == id })
	if i < 0 {
		return feedmill.Delivery{}, feedmill.ErrNotFound
	}
	return m.deliveries[i], nil
}

func (m *memoryStore) DeliveryAttempts(_ context.Context, id feedmill.ID) ([]feedmill.Attempt, error) {
	return m.attempts[id], nil
}

func (m *memoryStore) RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, keep func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error) {
	d, err := m.Delivery(ctx, workspace, id)
	if err != nil {
		return feedmill.DueDelivery{}, err
	}
	if d.State == feedmill.DeliveryPending {
		return feedmill.DueDelivery{}, feedmill.ErrConflict
	}
	d.State, d.Reason, d.MaxAttempts, d.DueAt, d.EndedAt = feedmill.DeliveryPending, "", d.Attempts+add, now, time.Time{}
	m.deliveries[slices.IndexFunc(m.deliveries, func(d feedmill.Delivery) bool { return d.ID == id })] = d
	m.keep(keep(d))
	return feedmill.DueDelivery{Delivery: d}, nil
}

func (m *memoryStore) CreateReplay(_ context.Context, r feedmill.Replay, o *feedmill.IdempotentResponse) error {
	m.replays = append(m.replays, r)
	m.keep(o)
	return nil
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

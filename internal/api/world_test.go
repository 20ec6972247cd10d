package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/destination/broker"
	"github.com/feedmill/feedmill/internal/destination/nats"
	"github.com/feedmill/feedmill/internal/destination/webhook"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/expression"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
	"github.com/feedmill/feedmill/internal/subscribe"
	"github.com/feedmill/feedmill/internal/vault"
)

// world is a server on a real store, with a real vault, publisher and egress
// policy. Nothing is sent and nothing is fetched: the dispatcher and the feeds
// note what they are asked for.
type world struct {
	*Server
	db         *sqlite.DB
	store      *watchedStore // the same, with what tests order
	workspace  feedmill.ID
	auth       *revocable
	dispatcher *notedDispatcher
	subs       *subscribe.Subscriptions
	feeds      *notedFeeds
}

func newWorld(t testing.TB) *world {
	t.Helper()
	catalogue, err := feedmill.NewCatalogue([]feedmill.EventType{{Name: "order.paid"}}, nil)
	must(t, err)
	policy, err := egress.NewPolicy([]string{"hook.internal"})
	must(t, err)
	db := sqlitetest.New(t)
	key, err := vault.LoadKey(strings.Repeat("k", vault.MinKeyLen), "")
	must(t, err)
	safe, err := vault.Open(t.Context(), key, db)
	must(t, err)

	w := &world{db: db, store: &watchedStore{DB: db}, workspace: feedmill.NewID(feedmill.PrefixWorkspace)}
	must(t, db.CreateWorkspace(t.Context(), feedmill.Workspace{ID: w.workspace, Name: "Test", CreatedAt: now()}, nil))
	w.auth = &revocable{everybody: everybody{w.workspace}}
	w.dispatcher = &notedDispatcher{inFlight: make(map[feedmill.ID]bool)}
	w.feeds = &notedFeeds{db: db, workspace: w.workspace, ready: make(chan struct{})}
	expressions := expression.New()
	w.subs = subscribe.New(subscribe.Options{Store: w.store, Vault: safe, Catalogue: catalogue, Kinds: []subscribe.Kind{&webhook.Kind{URLs: policy}, broker.New(nats.Protocol{}, broker.Options{Hosts: policy})}, Changed: w.dispatcher.Changed, Expressions: expressions, FilterChanged: func(feedmill.ID) {}})
	metrics := prometheus.NewRegistry()
	w.Server = New(Options{
		Store: w.store, Auth: w.auth, Vault: safe, Metrics: metrics, Log: slog.New(slog.DiscardHandler), Feeds: w.feeds,
		Publisher:   publish.New(publish.Options{Store: db, Queue: w.dispatcher, Catalogue: catalogue, Metrics: metrics}),
		Expressions: expressions,
		Dispatcher:  w.dispatcher, Subscriptions: w.subs, Catalogue: catalogue, Formats: decode.Formats(), CheckReading: decode.CheckReading,
	})
	return w
}

// maxAttempts is how many attempts a delivery of a test gets.
const maxAttempts = 10

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// do sends a request and holds its answer to what holds for all of them.
func (w *world) do(t testing.TB, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := ask(w.Server, method, path, body, header...)
	if text := r.Body.String(); strings.Contains(text, "datasource") || regexp.MustCompile(`\bds_`).MatchString(text) {
		t.Errorf("%s %s: the answer shows what is internal: %s", method, path, text)
	}
	return r
}

// makeSubscription makes one and returns its id and secret.
func (w *world) makeSubscription(t testing.TB, body string) (id feedmill.ID, secret string) {
	t.Helper()
	a := w.do(t, "POST", "/events/subscriptions", body)
	if a.Code != http.StatusCreated {
		t.Fatalf("%d: %s", a.Code, a.Body)
	}
	return feedmill.ID(regexp.MustCompile(`sub_[0-9a-z]{26}`).FindString(a.Body.String())), anySecret.FindString(a.Body.String())
}

// subscription is one as it is stored.
func (w *world) subscription(t testing.TB, id feedmill.ID) feedmill.Subscription {
	t.Helper()
	s, err := w.db.Subscription(t.Context(), w.workspace, id)
	must(t, err)
	return s
}

// subscriptions counts those that are stored.
func (w *world) subscriptions(t testing.TB) int {
	t.Helper()
	subs, err := w.db.Subscriptions(t.Context(), w.workspace, feedmill.Page{Limit: 10_000})
	must(t, err)
	return len(subs)
}

// unseal opens a sealed record.
func (w *world) unseal(t testing.TB, sealed []byte, record string, into any) {
	t.Helper()
	plain, err := w.Vault.Unseal(t.Context(), sealed, record)
	must(t, err)
	must(t, json.Unmarshal(plain, into))
}

// events are those that are stored, oldest first.
func (w *world) events(t testing.TB) []feedmill.Event {
	t.Helper()
	events, err := w.db.Events(t.Context(), w.workspace, feedmill.EventQuery{Page: feedmill.Page{Limit: 2000}})
	must(t, err)
	slices.Reverse(events)
	return events
}

// addDelivery makes an event that one subscription hears of, and returns its
// delivery, which is pending.
func (w *world) addDelivery(t testing.TB, event feedmill.Event) feedmill.DueDelivery {
	t.Helper()
	event.ID, event.Workspace, event.Timestamp = feedmill.NewID(feedmill.PrefixEvent), w.workspace, now()
	event.Payload = []byte(`{}`)
	_, due, err := w.db.Accept(t.Context(), []feedmill.Event{event}, nil)
	must(t, err)
	if len(due) != 1 {
		t.Fatalf("%s is due for %d subscriptions, want 1", event.Type, len(due))
	}
	return due[0]
}

// settle writes the outcome of an attempt to deliver.
func (w *world) settle(t testing.TB, d feedmill.DueDelivery, state feedmill.DeliveryState, change func(*feedmill.Outcome)) {
	t.Helper()
	o := feedmill.Outcome{
		Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, State: state, At: now(), Succeeded: state == feedmill.DeliveryDelivered,
		Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: d.ID, At: now()},
	}
	if state == feedmill.DeliveryRetrying {
		o.DueAt = now()
	}
	if change != nil {
		change(&o)
	}
	_, err := w.db.Settle(t.Context(), []feedmill.Outcome{o})
	must(t, err)
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

package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/publish"
)

// sink is an endpoint that remembers what it got and answers as it is told.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []arrival
}

type arrival struct {
	header http.Header
	body   string
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{status: 200}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, arrival{r.Header.Clone(), string(body)})
		w.WriteHeader(s.status)
		io.WriteString(w, "answer of the sink")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *sink) arrivals() []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrival(nil), s.got...)
}

func (s *sink) wait(t *testing.T, n int) []arrival {
	t.Helper()
	eventually(t, func() bool { return len(s.arrivals()) >= n })
	return s.arrivals()
}

// webhooks are the settings of servers whose deliveries stay on this machine
// and whose retries do not take days.
var webhooks = setup{env: []string{"FEEDMILL_EGRESS_PROXY=", "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_RETRY_SCHEDULE=10ms,20ms"}}

func signature(secret, payload string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	io.WriteString(mac, payload)
	return hex.EncodeToString(mac.Sum(nil))
}

func (s *service) change(t *testing.T, id, body string) {
	t.Helper()
	if r := s.send(t, request{method: "PATCH", path: "/events/subscriptions/" + id, body: body}); r.status != 200 {
		t.Fatalf("PATCH %s: %d %s", body, r.status, r.body)
	}
}

func TestAnEventReachesItsSubscriber(t *testing.T) {
	t.Parallel()
	s, to := start(t, webhooks), newSink(t)
	sub := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.created"],"filters":{"resourceId":"m_1"}}`, to.URL))
	for _, other := range []string{
		`{"type":"metric.updated","resourceId":"m_1"}`, `{"type":"metric.created","resourceId":"m_2"}`, `{"type":"metric.created"}`,
	} {
		s.publish(t, other)
	}
	event := s.publish(t, `{"id":"mine","type":"metric.created","timestamp":"2026-11-15T13:00:00+01:00","resourceId":"m_1","data":{"10":1e2,"9":"é"}}`)
	again := s.publish(t, `{"id":"mine","type":"metric.created","resourceId":"m_1","data":{"other":true}}`)
	if again != event {
		t.Errorf("a publisher's id made %s first and %s then", event, again)
	}
	if d := s.ended(t, event); d.State != "delivered" || len(d.Attempts) != 1 || d.Attempts[0].Status != 200 {
		t.Errorf("the delivery is %+v", d)
	}
	got := to.wait(t, 1)
	want := `{"id":"` + event + `","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_1","data":{"9":"é","10":100}}`
	if len(got) != 1 || got[0].body != want {
		t.Fatalf("the sink got %+v, want %s", got, want)
	}
	if got[0].header.Get("x-service-signature") != signature(sub.SigningSecret, want) {
		t.Error("the signature does not verify")
	}
}

func TestFailuresAreRetriedAndThenKept(t *testing.T) {
	t.Parallel()
	s, to := start(t, webhooks), newSink(t)
	s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"]}`, to.URL))
	to.answer(500)
	event := s.publish(t, `{"type":"metric.created"}`)
	d := s.ended(t, event)
	if d.State != "exhausted" || len(d.Attempts) != 3 || d.Attempts[2].Status != 500 {
		t.Fatalf("the delivery is %+v", d)
	}
	for i, a := range to.wait(t, 3) {
		if a.header.Get("webhook-id") != d.ID || a.header.Get("x-service-attempt") != fmt.Sprint(i+1) {
			t.Errorf("attempt %d has the headers %v", i+1, a.header)
		}
	}
	undelivered := fetch[[]delivery](t, s, 200, request{method: "GET", path: "/events/undelivered"})
	if len(undelivered) != 1 || undelivered[0].ID != d.ID {
		t.Errorf("undelivered are %+v", undelivered)
	}
	to.answer(200)
	fetch[enveloped[delivery]](t, s, 202, request{method: "POST", path: "/events/deliveries/" + d.ID + "/retry"})
	if d := s.ended(t, event); d.State != "delivered" || len(d.Attempts) != 4 {
		t.Errorf("after the retry the delivery is %+v", d)
	}
}

func TestGoneDisablesAndReplayBringsBack(t *testing.T) {
	t.Parallel()
	s, to := start(t, webhooks), newSink(t)
	sub := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"]}`, to.URL))
	watcher := newSink(t)
	s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["subscription.*"]}`, watcher.URL))
	to.answer(410)
	first := s.publish(t, `{"type":"metric.created","resourceId":"first"}`)
	if d := s.ended(t, first); d.State != "exhausted" {
		t.Errorf("the delivery is %+v", d)
	}
	eventually(t, func() bool {
		return fetch[enveloped[subscription]](t, s, 200, request{method: "GET", path: "/events/subscriptions/" + sub.ID}).Data.State == "disabled"
	})
	if got := watcher.wait(t, 1)[0].body; !strings.Contains(got, `"type":"subscription.disabled"`) || !strings.Contains(got, sub.ID) {
		t.Errorf("the watcher got %s", got)
	}
	second := s.publish(t, `{"type":"metric.created","resourceId":"second"}`)
	if d := s.ended(t, second); d.State != "discarded" {
		t.Errorf("the delivery is %+v", d)
	}
	replay := request{method: "POST", path: "/events/subscriptions/" + sub.ID + "/replay", body: `{"since":"2020-01-01T00:00:00Z"}`}
	if r := s.send(t, replay); r.status != 409 {
		t.Errorf("replaying to a disabled subscription: %d %s", r.status, r.body)
	}
	to.answer(200)
	s.change(t, sub.ID, `{"state":"active"}`)
	if r := s.send(t, replay); r.status != 202 {
		t.Fatalf("replay: %d %s", r.status, r.body)
	}
	arrived := to.wait(t, 3)
	again := arrived[1].body + arrived[2].body
	if len(arrived) != 3 || !strings.Contains(again, first) || !strings.Contains(again, second) {
		t.Errorf("the sink got %+v", arrived)
	}
}

func TestPausedIsHeldAndDeletedIsDiscarded(t *testing.T) {
	t.Parallel()
	s, to := start(t, webhooks), newSink(t)
	sub := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"]}`, to.URL))
	s.change(t, sub.ID, `{"state":"paused"}`)
	held := s.publish(t, `{"type":"metric.created"}`)
	if d := s.waitDelivery(t, held, func(delivery) bool { return true }); d.State != "pending" {
		t.Errorf("the delivery is %+v", d)
	}
	s.change(t, sub.ID, `{"state":"active"}`)
	if d := s.ended(t, held); d.State != "delivered" {
		t.Errorf("the delivery is %+v", d)
	}
	s.change(t, sub.ID, `{"state":"paused"}`)
	lost := s.publish(t, `{"type":"metric.created"}`)
	if r := s.send(t, request{method: "DELETE", path: "/events/subscriptions/" + sub.ID}); r.status != 204 {
		t.Fatalf("DELETE: %d %s", r.status, r.body)
	}
	if d := s.ended(t, lost); d.State != "discarded" {
		t.Errorf("the delivery is %+v", d)
	}
	if n := len(to.arrivals()); n != 1 {
		t.Errorf("the sink got %d deliveries, want 1", n)
	}
}

func TestRotationAndPing(t *testing.T) {
	t.Parallel()
	s, to := start(t, webhooks), newSink(t)
	sub := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"]}`, to.URL))
	type rotated struct {
		SigningSecret string `json:"signingSecret"`
	}
	rotate := request{method: "POST", path: "/events/subscriptions/" + sub.ID + "/rotate_secret", body: `{"overlap":"1h"}`}
	next := fetch[enveloped[rotated]](t, s, 200, rotate).Data.SigningSecret
	s.ended(t, s.publish(t, `{"type":"metric.created"}`))
	a := to.wait(t, 1)[0]
	if a.header.Get("x-service-signature") != signature(sub.SigningSecret, a.body) || a.header.Get("x-service-signature-next") != signature(next, a.body) {
		t.Error("the signatures of an overlap do not verify")
	}
	rotate.body = `{"overlap":"0s"}`
	last := fetch[enveloped[rotated]](t, s, 200, rotate).Data.SigningSecret
	if r := s.send(t, request{method: "POST", path: "/events/subscriptions/" + sub.ID + "/test"}); r.status != 200 || !strings.Contains(r.body, "200") {
		t.Errorf("test: %d %s", r.status, r.body)
	}
	a = to.wait(t, 2)[1]
	if a.header.Get("x-service-signature") != signature(last, a.body) || a.header.Get("x-service-signature-next") != "" || !strings.Contains(a.body, `"type":"test.ping"`) {
		t.Errorf("the ping is %+v", a)
	}
}

func TestWorkSurvivesARestart(t *testing.T) {
	t.Parallel()
	to := newSink(t)
	to.answer(503)
	folder := "FEEDMILL_DATA=" + t.TempDir()
	slow := setup{env: []string{"FEEDMILL_EGRESS_PROXY=", "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_RETRY_SCHEDULE=1s,1s,1s,1s,1s,1s", folder}}
	var events []string
	t.Run("before", func(t *testing.T) {
		s := start(t, slow)
		s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"]}`, to.URL))
		for range 5 {
			events = append(events, s.publish(t, `{"type":"metric.created"}`))
		}
		s.attempted(t, events[0])
	})
	to.answer(200)
	t.Run("after", func(t *testing.T) {
		s := start(t, slow)
		for _, e := range events {
			if d := s.ended(t, e); d.State != "delivered" {
				t.Errorf("the delivery is %+v", d)
			}
		}
	})
}

// inside are the words that no client may read.
var inside = regexp.MustCompile(`\bds_[0-9a-z]|datasource\.|dataSource`)

func TestNothingOfDataSourcesLeaks(t *testing.T) {
	t.Parallel()
	s, to := start(t, webhooks), newSink(t)
	ctx := t.Context()
	w, err := s.app.store.WorkspaceByName(ctx, feedmill.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	source := feedmill.NewID(feedmill.PrefixDataSource)
	feeds := []feedmill.ID{feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixDataFeed)}
	for _, feed := range feeds {
		f := feedmill.Feed{ID: feed, Workspace: w.ID, Source: source, State: feedmill.FeedPending, CreatedAt: feed.Time(), UpdatedAt: feed.Time()}
		if err := s.app.store.CreateFeed(ctx, feedmill.NewFeed{Feed: f}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	all := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["datafeed.source.*"]}`, to.URL+"/all"))
	one := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["datafeed.source.refreshed"],"filters":{"resourceId":%q}}`, to.URL+"/one", feeds[1]))
	events, err := publish.SourceEvents(feedmill.SourceEvent{
		Workspace: w.ID, Type: "datasource.refreshed", Source: source, Feeds: feeds,
		Data: map[string]any{"dataSourceId": string(source), "rows": 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.app.store.Accept(ctx, events, nil); err != nil {
		t.Fatal(err)
	}
	arrived := to.wait(t, 3)
	var texts []string
	resources := make(map[string]int)
	for _, a := range arrived {
		texts = append(texts, a.body, fmt.Sprint(a.header))
		for _, feed := range feeds {
			if strings.Contains(a.body, `"type":"datafeed.source.refreshed"`) && strings.Contains(a.body, `"resourceId":"`+string(feed)+`"`) &&
				strings.Contains(a.body, `"dataFeedId":"`+string(feed)+`"`) {
				resources[string(feed)]++
			}
		}
	}
	if len(arrived) != 3 || resources[string(feeds[0])] != 1 || resources[string(feeds[1])] != 2 {
		t.Errorf("the sink got %+v", arrived)
	}
	for _, path := range []string{
		"/events", "/events/types", "/events/subscriptions", "/events/undelivered", "/openapi.json", "/metrics",
		"/events/subscriptions/" + all.ID, "/events/subscriptions/" + one.ID,
		"/events/subscriptions/" + all.ID + "/deliveries", "/events/subscriptions/" + one.ID + "/deliveries",
	} {
		texts = append(texts, s.send(t, request{method: "GET", path: path}).body)
	}
	for _, e := range fetch[[]delivery](t, s, 200, request{method: "GET", path: "/events"}) {
		texts = append(texts, s.send(t, request{method: "GET", path: "/events/" + e.ID}).body)
	}
	for _, d := range fetch[[]delivery](t, s, 200, request{method: "GET", path: "/events/subscriptions/" + all.ID + "/deliveries"}) {
		texts = append(texts, s.send(t, request{method: "GET", path: "/events/deliveries/" + d.ID}).body)
	}
	refused := s.send(t, request{method: "POST", path: "/events/subscriptions", body: fmt.Sprintf(`{"url":%q,"events":["datasource.refreshed"]}`, to.URL)})
	if refused.status != 400 || !strings.Contains(refused.body, "datafeed.source.refreshed") {
		t.Errorf("an internal name: %d %s", refused.status, refused.body)
	}
	texts = append(texts, refused.body)
	for _, text := range texts {
		if at := inside.FindString(text); at != "" {
			t.Errorf("%q of the inside shows in %.500s", at, text)
		}
	}
	got := fetch[enveloped[struct {
		Events  []string          `json:"events"`
		Filters map[string]string `json:"filters"`
	}]](t, s, 200, request{method: "GET", path: "/events/subscriptions/" + one.ID}).Data
	if got.Events[0] != "datafeed.source.refreshed" || got.Filters["resourceId"] != string(feeds[1]) {
		t.Errorf("read back as %+v", got)
	}
}

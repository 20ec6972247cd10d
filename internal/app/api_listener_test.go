package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/publish"
)

// listener is what tests need of one.
type listener struct {
	ID            string    `json:"id"`
	Events        []string  `json:"events"`
	SigningSecret string    `json:"signingSecret"`
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	Filters       struct {
		ResourceID string `json:"resourceId"`
	} `json:"filters"`
}

func (s *service) listen(t *testing.T, body string) listener {
	t.Helper()
	return fetch[enveloped[listener]](t, s, 201, request{method: "POST", path: "/events/listeners", body: body}).Data
}

// streamLine is a line of a listener's stream.
type streamLine struct {
	Kind, DeliveryID, EventID, Type, ResourceID, Body, Reason string
	Attempt                                                   int
	Headers                                                   map[string]string
	ExpiresAt                                                 time.Time
}

// connection is an open stream.
type connection struct {
	lines *json.Decoder
	body  io.Closer
}

// connect opens the stream of a listener and reads its first sign of life.
func (s *service) connect(t *testing.T, id, key string) *connection {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/events/listeners/"+id+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("the stream is answered %d %v", resp.StatusCode, resp.Header)
	}
	c := &connection{json.NewDecoder(resp.Body), resp.Body}
	if line := c.read(t); line.Kind != "heartbeat" || line.ExpiresAt.IsZero() {
		t.Fatalf("the first line is %+v, want a sign of life", line)
	}
	return c
}

func (c *connection) read(t *testing.T) (line streamLine) {
	t.Helper()
	if err := c.lines.Decode(&line); err != nil {
		t.Fatal(err)
	}
	return line
}

// answer answers a delivery of a listener.
func (s *service) answer(t *testing.T, id string, status int, d streamLine, more string) reply {
	t.Helper()
	r := s.send(t, request{
		method: "POST", path: "/events/listeners/" + id + "/answers",
		body: fmt.Sprintf(`[{"deliveryId":%q,"attempt":%d,"durationMs":12.345%s}]`, d.DeliveryID, d.Attempt, more),
	})
	if r.status != status {
		t.Fatalf("the answer %s is answered %d: %s", more, r.status, r.body)
	}
	return r
}

// A listener that lost its connection gives its answers again while the first are being
// written.
func TestAnswersAtTheSameTimeAreOneAttempt(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	l := s.listen(t, `{"events":["metric.*"]}`)
	c := s.connect(t, l.ID, adminKey)
	for range 20 {
		event := s.publish(t, `{"type":"metric.created"}`)
		d := c.read(t)
		var answers sync.WaitGroup
		for range 4 {
			answers.Go(func() { s.answer(t, l.ID, 204, d, `,"error":"nobody is there"`) })
		}
		answers.Wait()
		if d := s.ended(t, event); d.State != "exhausted" || len(d.Attempts) != 1 {
			t.Fatalf("the delivery is %+v", d)
		}
	}
}

func TestListenerHearsAndAnswers(t *testing.T) {
	t.Parallel()
	s := start(t, setup{}) // where no address of this machine may be called
	l := s.listen(t, `{"events":["metric.*","metric.*"]}`)
	if life := l.ExpiresAt.Sub(l.CreatedAt); life != 10*time.Minute || !slices.Equal(l.Events, []string{"metric.*"}) {
		t.Errorf("the listener is %+v", l)
	}
	before := s.publish(t, `{"type":"metric.created"}`)
	c := s.connect(t, l.ID, adminKey)
	first := c.read(t)
	if first.EventID != before || first.Kind != "delivery" || first.Type != "metric.created" || first.Attempt != 1 {
		t.Errorf("came %+v, want %s", first, before)
	}
	if first.Headers["x-service-signature"] != signature(l.SigningSecret, first.Body) || first.Headers["webhook-id"] != first.DeliveryID {
		t.Errorf("the headers are %v", first.Headers)
	}
	s.publish(t, `{"type":"tag.created"}`)
	event := s.publish(t, `{"type":"metric.updated","resourceId":"m_1","data":{"a":"é\n"}}`)
	second := c.read(t)
	if second.EventID != event || second.ResourceID != "m_1" || !strings.Contains(second.Body, `"data":{"a":"é\n"}`) {
		t.Errorf("came %+v, want %s", second, event)
	}

	s.answer(t, l.ID, 204, first, `,"status":204`)
	if d := s.ended(t, before); d.State != "delivered" || len(d.Attempts) != 1 || d.Attempts[0].Status != 204 {
		t.Errorf("the delivery is %+v", d)
	}
	text := s.send(t, request{method: "GET", path: "/events/deliveries/" + first.DeliveryID}).body
	if !strings.Contains(text, `"totalMs":12.345`) {
		t.Errorf("the log does not have the timing: %s", text)
	}
	s.answer(t, l.ID, 204, first, `,"error":"too late"`)
	if d := s.ended(t, before); d.State != "delivered" || len(d.Attempts) != 1 {
		t.Errorf("a second answer made it %+v", d)
	}
	s.answer(t, l.ID, 204, second, `,"error":"nobody is there"`)
	if d := s.ended(t, event); d.State != "exhausted" || len(d.Attempts) != 1 {
		t.Errorf("the delivery is %+v", d)
	}

	// A retry is another attempt, and an answer to the first is none to it.
	if r := s.send(t, request{method: "POST", path: "/events/deliveries/" + second.DeliveryID + "/retry"}); r.status != 202 {
		t.Fatalf("the retry is answered %d: %s", r.status, r.body)
	}
	third := c.read(t)
	if third.DeliveryID != second.DeliveryID || third.Attempt != 2 || third.Headers["x-service-attempt"] != "2" {
		t.Errorf("came %+v, want the second attempt", third)
	}
	s.answer(t, l.ID, 204, second, `,"status":200`)
	s.answer(t, l.ID, 204, third, `,"status":500`)
	if d := s.ended(t, event); d.State != "exhausted" || len(d.Attempts) != 2 || d.Attempts[1].Status != 500 {
		t.Errorf("the delivery is %+v", d)
	}

	if r := s.send(t, request{method: "DELETE", path: "/events/listeners/" + l.ID}); r.status != 204 {
		t.Errorf("the deletion is answered %d: %s", r.status, r.body)
	}
	if end := c.read(t); end.Kind != "end" || end.Reason != "removed" {
		t.Errorf("the last line is %+v", end)
	}
	for _, q := range []request{
		{method: "GET", path: "/events/listeners/" + l.ID + "/stream"},
		{method: "POST", path: "/events/listeners/" + l.ID + "/answers", body: `[{"deliveryId":"x","attempt":1,"durationMs":0,"status":200}]`},
		{method: "DELETE", path: "/events/listeners/" + l.ID},
	} {
		if r := s.send(t, q); r.status != 404 {
			t.Errorf("after its end %v is answered %d", q, r.status)
		}
	}
}

func TestListenerOfBothKinds(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	w, err := s.app.store.WorkspaceByName(t.Context(), feedmill.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	source, feed := feedmill.NewID(feedmill.PrefixDataSource), feedmill.NewID(feedmill.PrefixDataFeed)
	l := s.listen(t, `{"events":["metric.*","datafeed.source.*"],"filters":{"resourceId":"m_1"}}`)
	if l.Filters.ResourceID != "m_1" || !slices.Equal(l.Events, []string{"metric.*", "datafeed.source.*"}) {
		t.Errorf("the listener is %+v", l)
	}
	events, err := publish.SourceEvents(feedmill.SourceEvent{
		Workspace: w.ID, Type: "datasource.refreshed", Timestamp: time.Now(), Source: source, Feeds: []feedmill.ID{feed},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.app.store.Accept(t.Context(), events, nil); err != nil {
		t.Fatal(err)
	}
	s.publish(t, `{"type":"metric.created","resourceId":"m_2"}`)
	s.publish(t, `{"type":"metric.updated","resourceId":"m_1"}`)
	c := s.connect(t, l.ID, adminKey)
	if line := c.read(t); line.Type != "datafeed.source.refreshed" || line.ResourceID != string(feed) || strings.Contains(line.Body, "ds_") {
		t.Errorf("came %+v, want the refresh of the feed", line)
	}
	if line := c.read(t); line.Type != "metric.updated" || line.ResourceID != "m_1" {
		t.Errorf("came %+v, want what is about the metric", line)
	}
}

func TestListenersEndWithTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	c := s.connect(t, s.listen(t, `{"events":["metric.*"]}`).ID, adminKey)
	s.stop()
	if end := c.read(t); end.Kind != "end" || end.Reason != "shutdown" {
		t.Errorf("the last line is %+v", end)
	}
}

func TestListenersAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for range feedmill.MaxListeners {
		s.listen(t, `{"events":["metric.*"]}`)
	}
	oneMore := request{method: "POST", path: "/events/listeners", body: `{"events":["metric.*"]}`}
	if r := s.send(t, oneMore); r.status != 409 || r.problem(t).Type != "/problems/quota-reached" {
		t.Errorf("one too many is answered %d: %s", r.status, r.body)
	}
	oneMore.key = s.newKey(t, s.newWorkspace(t, "other").ID, "api:write").Key
	if r := s.send(t, oneMore); r.status != 201 {
		t.Errorf("that of another workspace is answered %d: %s", r.status, r.body)
	}
}

func TestListenersExpire(t *testing.T) {
	t.Parallel()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: time.Now()}
	old := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Events: []string{"metric.*"}, Destination: feedmill.Destination{Kind: feedmill.DestinationListener, Method: "POST"},
		State: feedmill.SubscriptionActive, CreatedAt: time.Now(), UpdatedAt: time.Now(), ListenUntil: time.Now().Add(-time.Second),
	}
	s := start(t, setup{adapt: func(st store) store {
		if err := st.CreateWorkspace(t.Context(), w, nil); err != nil {
			t.Error(err)
		}
		if err := st.CreateSubscriptions(t.Context(), []feedmill.Subscription{old}, 0, nil); err != nil {
			t.Error(err)
		}
		return st
	}})
	eventually(t, func() bool {
		_, err := s.app.store.Listener(t.Context(), w.ID, old.ID)
		return errors.Is(err, feedmill.ErrNotFound)
	})
	if _, err := s.app.store.SubscriptionForDelivery(t.Context(), old.ID); err != nil {
		t.Error(err)
	}
}

package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// What waits for its next attempt is due at once, and the dispatcher hears of it.
func TestRetrySubscription(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	events := make([]feedmill.Event, 3)
	for i := range events {
		events[i] = feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.workspace, Type: "tag.created", Timestamp: now(), Payload: []byte(`{}`)}
	}
	_, due, err := w.store.Accept(t.Context(), events, nil)
	must(t, err)
	for i, state := range []feedmill.DeliveryState{feedmill.DeliveryRetrying, feedmill.DeliveryDelivered} {
		_, err := w.store.Settle(t.Context(), []feedmill.Outcome{{
			Workspace: w.workspace, Subscription: id, Delivery: due[i].ID, State: state, At: now(), DueAt: now().Add(time.Hour),
			Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Number: 1, At: now()},
		}})
		must(t, err)
	}
	path := "/events/subscriptions/" + string(id)
	for range 2 {
		a := w.do(t, "POST", path+"/retry", "", "Idempotency-Key", "k")
		checkAnswer(t, a.Code, a.Body.String(), 202, `{"due":1}`)
	}
	a := w.do(t, "POST", path+"/retry", "")
	checkAnswer(t, a.Code, a.Body.String(), 202, `{"due":0}`)
	if n := len(w.dispatcher.changed); n != 2 {
		t.Errorf("the dispatcher was told %d times", n)
	}
	type subscription struct {
		Health struct {
			SuccessShare    float64   `json:"successShare"`
			Backlog         int       `json:"backlog"`
			OldestPendingAt time.Time `json:"oldestPendingAt"`
		} `json:"health"`
	}
	var one struct {
		Data subscription `json:"data"`
	}
	var listed []subscription
	w.dispatcher.totals = map[feedmill.ID]feedmill.DeliveryCount{id: {Delivered: 3, Exhausted: 1}}
	must(t, json.Unmarshal(w.do(t, "GET", path, "").Body.Bytes(), &one))
	must(t, json.Unmarshal(w.do(t, "GET", "/events/subscriptions", "").Body.Bytes(), &listed))
	// Of what the dispatcher counts 3 got through and 1 did not, and one is tried again.
	for _, s := range append(listed, one.Data) {
		if h := s.Health; h.SuccessShare != 0.6 || h.Backlog != 2 || !h.OldestPendingAt.Equal(due[0].CreatedAt) {
			t.Errorf("the health is %+v", h)
		}
	}
	w.do(t, "PATCH", path, `{"state":"disabled"}`)
	if a := w.do(t, "POST", path+"/retry", ""); a.Code != 409 {
		t.Errorf("of a disabled one it is answered %d", a.Code)
	}
}

// manyRetries is a store in which every subscription has very many retries.
type manyRetries struct {
	Store
	asked []int
}

func (s *manyRetries) Backlogs(_ context.Context, ids []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error) {
	s.asked = append(s.asked, most)
	found := make(map[feedmill.ID]feedmill.SubscriptionBacklog)
	for _, id := range ids {
		found[id] = feedmill.SubscriptionBacklog{Pending: min(1, most), Retrying: min(9000, most)}
	}
	return found, nil
}

// The share of successes is the same in a list and in the answer about one, however much is
// tried again.
func TestShareOfManyRetries(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	w.dispatcher.totals = map[feedmill.ID]feedmill.DeliveryCount{id: {Delivered: 1000}}
	store := &manyRetries{Store: w.Server.Store}
	w.Server.Store = store
	for path, want := range map[string]string{
		"/events/subscriptions":               `"health":{"successShare":0.1,"backlog":1000,"backlogAtLeast":true,`,
		"/events/subscriptions/" + string(id): `"health":{"successShare":0.1,"backlog":9001,`,
	} {
		if a := w.do(t, "GET", path, ""); !strings.Contains(a.Body.String(), want) {
			t.Errorf("%s: %s is not in %s", path, want, a.Body)
		}
	}
	if most := slices.Max(store.asked); most > feedmill.MaxCountedBacklog+1 {
		t.Errorf("%d were counted", most)
	}
}

// Statistics have a bucket for each step, with or without anything in it.
func TestSubscriptionStats(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	path := "/events/subscriptions/" + string(id) + "/stats"
	var got struct {
		Delivered, Failed, Exhausted      int
		DeliveredShare, FirstAttemptShare float64
		P99Ms                             float64
		Buckets                           []struct {
			From      time.Time
			Delivered int
			P50Ms     *float64
		}
	}
	for query, buckets := range map[string]int{"": 97, "?since=2020-01-01T00:00:00Z": 289, "?since=" + now().UTC().Format(time.RFC3339): 1} {
		must(t, json.Unmarshal(w.do(t, "GET", path+query, "").Body.Bytes(), &got))
		last := got.Buckets[len(got.Buckets)-1]
		if got.Delivered != 3 || got.Exhausted != 1 || got.DeliveredShare != 0.75 || got.FirstAttemptShare != 2.0/3 || got.P99Ms != 1 {
			t.Errorf("%s: %+v", query, got)
		}
		// One more where a step ends between the two looks at the clock.
		if n := len(got.Buckets); n < buckets-1 || n > buckets+1 || last.Delivered != 3 || n > 1 && got.Buckets[0].P50Ms != nil {
			t.Errorf("%s: %d buckets, want %d; the last is %+v", query, n, buckets, last)
		}
	}
	if a := w.do(t, "GET", path+"?since=2999-01-01T00:00:00Z", ""); a.Code != 200 || !strings.Contains(a.Body.String(), `"buckets":[]`) {
		t.Errorf("of the future it is answered %d: %s", a.Code, a.Body)
	}
	for query, status := range map[string]int{"?since=soon": 400, "?until=now": 400} {
		if a := w.do(t, "GET", path+query, ""); a.Code != status {
			t.Errorf("%s is answered %d: %s", query, a.Code, a.Body)
		}
	}
}

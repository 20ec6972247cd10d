package api

import (
	"encoding/json"
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
	_, due, err := w.store.Accept(t.Context(), events, 10, nil)
	must(t, err)
	for i, state := range []feedmill.DeliveryState{feedmill.DeliveryRetrying, feedmill.DeliveryDelivered} {
		_, err := w.store.Settle(t.Context(), []feedmill.Outcome{{
			Workspace: w.workspace, Subscription: id, Delivery: due[i].ID, State: state, At: now(), DueAt: now().Add(time.Hour),
			Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Number: 1, At: now()},
		}}, 10)
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
	var read struct {
		Data struct {
			Health struct {
				SuccessShare    float64   `json:"successShare"`
				Backlog         int       `json:"backlog"`
				OldestPendingAt time.Time `json:"oldestPendingAt"`
			} `json:"health"`
		} `json:"data"`
	}
	must(t, json.Unmarshal(w.do(t, "GET", path, "").Body.Bytes(), &read))
	if h := read.Data.Health; h.SuccessShare != 0.5 || h.Backlog != 2 || !h.OldestPendingAt.Equal(due[0].CreatedAt) {
		t.Errorf("the health is %+v", h)
	}
	w.do(t, "PATCH", path, `{"state":"disabled"}`)
	if a := w.do(t, "POST", path+"/retry", ""); a.Code != 409 {
		t.Errorf("of a disabled one it is answered %d", a.Code)
	}
}

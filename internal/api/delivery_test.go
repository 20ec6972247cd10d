package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// addDelivery makes a delivery of an event to a subscription.
func (w *eventsWorld) addDelivery(sub feedmill.ID, state feedmill.DeliveryState, change func(*feedmill.Delivery)) feedmill.ID {
	at := now()
	d := feedmill.Delivery{
		ID: feedmill.NewID(feedmill.PrefixDelivery), Subscription: sub, Event: feedmill.NewID(feedmill.PrefixEvent),
		Type: "tag.created", State: state, MaxAttempts: 10, CreatedAt: at, DueAt: at,
	}
	if change != nil {
		change(&d)
	}
	w.store.deliveries = append(w.store.deliveries, d)
	return d.ID
}

func TestReadDelivery(t *testing.T) {
	w := newEventsWorld(t)
	sub := feedmill.NewID(feedmill.PrefixSubscription)
	id := w.addDelivery(sub, feedmill.DeliveryExhausted, func(d *feedmill.Delivery) {
		d.Type, d.ResourceID, d.Reason, d.Attempts, d.EndedAt = "datafeed.source.refreshed", "df_01arz3ndektsv4rrffq69g5fav", "all 2 attempts failed", 2, d.CreatedAt
	})
	w.store.attempts[id] = []feedmill.Attempt{
		{ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: id, Number: 1, At: now(), Error: "the connection was refused"},
		{
			ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: id, Number: 2, At: now(), Status: 503, Error: "the endpoint answered 503",
			Header: [][2]string{{"retry-after", "5"}}, Body: []byte(strings.Repeat("é", feedmill.MaxKeptAnswer/2)),
			Timing: feedmill.Timing{Total: time.Second},
		},
	}
	a := w.do(t, "GET", "/events/deliveries/"+string(id), "")
	checkAnswer(t, a.Code, a.Body.String(), 200, `{"meta":{"url":"/events/deliveries/dlv_1"},"data":{
		"id":"dlv_1","subscriptionId":"sub_1","eventId":"evt_1","type":"datafeed.source.refreshed","resourceId":"df_1","state":"exhausted",
		"reason":"all 2 attempts failed","attemptCount":2,"maxAttempts":10,"createdAt":"TIME","endedAt":"TIME","attempts":[
		{"id":"att_1","number":1,"at":"TIME","headers":[],"timing":{"dnsMs":0,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":0},"error":"the connection was refused"},
		{"id":"att_2","number":2,"at":"TIME","status":503,"headers":[{"name":"retry-after","value":"5"}],
		"timing":{"dnsMs":0,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":1000},"error":"the endpoint answered 503",
		"body":"`+strings.Repeat("é", feedmill.MaxKeptAnswer/2)+`","bodyTruncated":true}]}}`)

	pending := w.addDelivery(sub, feedmill.DeliveryPending, nil)
	const fields = `"id":"dlv_1","subscriptionId":"sub_1","eventId":"evt_1","type":"tag.created","resourceId":null,"state":"%s","attemptCount":0,"maxAttempts":10,"nextAttemptAt":"TIME","createdAt":"TIME","attempts":[]`
	for _, state := range []string{"pending", "delivering"} {
		a := w.do(t, "GET", "/events/deliveries/"+string(pending), "")
		checkAnswer(t, a.Code, a.Body.String(), 200, `{"meta":{"url":"/events/deliveries/dlv_1"},"data":{`+fmt.Sprintf(fields, state)+`}}`)
		w.dispatcher.inFlight[pending] = true
	}
}

func TestListDeliveries(t *testing.T) {
	w := newEventsWorld(t)
	sub, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	other := feedmill.NewID(feedmill.PrefixSubscription)
	all := make(map[string]feedmill.ID)
	for _, name := range []string{"pending", "retrying", "delivered", "exhausted", "discarded", "pending in flight", "retrying in flight"} {
		state, flies := strings.CutSuffix(name, " in flight")
		all[name] = w.addDelivery(sub, feedmill.DeliveryState(state), nil)
		w.dispatcher.inFlight[all[name]] = flies
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	all["old"] = w.addDelivery(sub, feedmill.DeliveryDelivered, func(d *feedmill.Delivery) { d.CreatedAt, d.Type = old, "tag.deleted" })
	all["other"] = w.addDelivery(other, feedmill.DeliveryExhausted, nil)

	path := "/events/subscriptions/" + string(sub) + "/deliveries"
	for _, c := range []struct {
		path string
		want []string // newest first
	}{
		{path, []string{"old", "retrying in flight", "pending in flight", "discarded", "exhausted", "delivered", "retrying", "pending"}},
		{path + "?state=pending", []string{"pending"}},
		{path + "?state=retrying", []string{"retrying"}},
		{path + "?state=delivering", []string{"retrying in flight", "pending in flight"}},
		{path + "?state=delivered", []string{"old", "delivered"}},
		{path + "?state=delivered&since=2020-01-01T00:00:00.001Z", []string{"delivered"}},
		{path + "?since=2020-01-01T01:00:00%2B01:00&state=delivered", []string{"old", "delivered"}},
		{path + "?since=2020-01-01T01:00:00+01:00&state=delivered", []string{"old", "delivered"}},
		{path + "?type=tag.deleted", []string{"old"}},
		{path + "?type=metric.created", nil},
		{"/events/undelivered", []string{"other", "discarded", "exhausted"}},
	} {
		for _, limit := range []string{"500", "1", "2"} {
			var want, got []feedmill.ID
			for _, name := range c.want {
				want = append(want, all[name])
			}
			between := "?"
			if strings.Contains(c.path, "?") {
				between = "&"
			}
			for next := c.path + between + "limit=" + limit; next != ""; {
				a := w.do(t, "GET", next, "")
				if a.Code != 200 {
					t.Fatalf("%s: %d %s", next, a.Code, a.Body)
				}
				for _, id := range anyID.FindAllString(a.Body.String(), -1) {
					if feedmill.IsID(feedmill.PrefixDelivery, id) {
						got = append(got, feedmill.ID(id))
					}
				}
				next, _, _ = strings.Cut(strings.TrimPrefix(a.Header().Get("Link"), "<"), ">")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in pages of %s: %q, want %q", c.path, limit, got, want)
			}
		}
	}
}

func TestRetryDelivery(t *testing.T) {
	w := newEventsWorld(t)
	sub := feedmill.NewID(feedmill.PrefixSubscription)
	id := w.addDelivery(sub, feedmill.DeliveryExhausted, func(d *feedmill.Delivery) {
		d.Attempts, d.Reason, d.EndedAt = 10, "all 10 attempts failed", d.CreatedAt
	})
	path := "/events/deliveries/" + string(id) + "/retry"
	a := w.do(t, "POST", path, "", "Idempotency-Key", "k")
	checkAnswer(t, a.Code, a.Body.String(), 202, `{"meta":{"url":"/events/deliveries/dlv_1"},"data":{
		"id":"dlv_1","subscriptionId":"sub_1","eventId":"evt_1","type":"tag.created","resourceId":null,"state":"pending",
		"attemptCount":10,"maxAttempts":20,"nextAttemptAt":"TIME","createdAt":"TIME"}}`)
	if len(w.dispatcher.offered) != 1 || w.dispatcher.offered[0].ID != id {
		t.Errorf("the dispatcher was offered %v", w.dispatcher.offered)
	}
	again := w.do(t, "POST", path, "", "Idempotency-Key", "k")
	if again.Code != 202 || again.Body.String() != a.Body.String() || len(w.dispatcher.offered) != 1 {
		t.Errorf("repeated, it is answered %d: %s", again.Code, again.Body)
	}
	inFlight := w.addDelivery(sub, feedmill.DeliveryRetrying, nil)
	w.dispatcher.inFlight[inFlight] = true
	elsewhere := feedmill.NewID(feedmill.PrefixDelivery)
	w.dispatcher.inFlight[elsewhere] = true
	for _, c := range []struct {
		id     feedmill.ID
		status int
		kind   string
	}{{id, 409, "not-retryable"}, {inFlight, 409, "not-retryable"}, {elsewhere, 404, "not-found"}} {
		a := w.do(t, "POST", "/events/deliveries/"+string(c.id)+"/retry", "")
		if p := readProblem(t, a); a.Code != c.status || p.Type != "/problems/"+c.kind {
			t.Errorf("answered %d: %s, want %d %s", a.Code, a.Body, c.status, c.kind)
		}
	}
}

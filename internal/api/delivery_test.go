package api

import (
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestReadDelivery(t *testing.T) {
	w := newWorld(t)
	w.makeSubscription(t, `{"url":"https://example.com/hook","events":["datafeed.source.*"]}`)
	d := w.addDelivery(t, feedmill.Event{Type: "datafeed.source.refreshed", ResourceID: "df_01arz3ndektsv4rrffq69g5fav", Source: feedmill.NewID(feedmill.PrefixDataSource)})
	w.settle(t, d, feedmill.DeliveryRetrying, func(o *feedmill.Outcome) { o.Attempt.Error = "the connection was refused" })
	w.settle(t, d, feedmill.DeliveryExhausted, func(o *feedmill.Outcome) {
		o.Reason = "all 2 attempts failed"
		o.Attempt.Status, o.Attempt.Error, o.Attempt.Header = 503, "the endpoint returned 503", [][2]string{{"retry-after", "5"}, feedmill.LinesLeftOut}
		o.Attempt.Body, o.Attempt.Timing = []byte(strings.Repeat("é", feedmill.MaxKeptAnswer/2)), feedmill.Timing{Total: time.Second}
	})
	a := w.do(t, "GET", "/events/deliveries/"+string(d.ID), "")
	sent := func(attempt int) string {
		return fmt.Sprintf(`"request":{"method":"POST","url":"https://example.com/hook","headers":[{"name":"content-type","value":"application/json"},{"name":"user-agent","value":"Feedmill/"},
		{"name":"x-service-event","value":"datafeed.source.refreshed"},{"name":"x-service-delivery","value":"dlv_1"},{"name":"x-service-attempt","value":"%d"},{"name":"x-service-signature","value":"***"},
		{"name":"webhook-id","value":"dlv_1"},{"name":"webhook-timestamp","value":"N"},{"name":"webhook-signature","value":"***"}],"changedSince":false}`, attempt)
	}
	text := regexp.MustCompile(`("webhook-timestamp","value":)"\d{10}"`).ReplaceAllString(a.Body.String(), `$1"N"`)
	checkAnswer(t, a.Code, text, 200, `{"meta":{"url":"/events/deliveries/dlv_1"},"data":{
		"id":"dlv_1","subscriptionId":"sub_1","eventId":"evt_1","type":"datafeed.source.refreshed","resourceId":"df_1","state":"exhausted",
		"reason":"all 2 attempts failed","attemptCount":2,"maxAttempts":10,"createdAt":"TIME","endedAt":"TIME","lastAttempt":{"at":"TIME","status":503,"error":"the endpoint returned 503","durationMs":1000},"attempts":[
		{"id":"att_1","number":1,"at":"TIME","headers":[],"timing":{"dnsMs":0,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":0},"error":"the connection was refused",`+sent(1)+`},
		{"id":"att_2","number":2,"at":"TIME","status":503,"headers":[{"name":"retry-after","value":"5"}],"headersTruncated":true,
		"timing":{"dnsMs":0,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":1000},"error":"the endpoint returned 503",
		"body":"`+strings.Repeat("é", feedmill.MaxKeptAnswer/2)+`","bodyTruncated":true,`+sent(2)+`}],"plannedAttempts":[],"payload":"{}"}}`)

	w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	pending := w.addDelivery(t, feedmill.Event{Type: "tag.created"}).ID
	const fields = `"id":"dlv_1","subscriptionId":"sub_1","eventId":"evt_1","type":"tag.created","resourceId":null,"state":"%s","attemptCount":0,"maxAttempts":10,"nextAttemptAt":"TIME","createdAt":"TIME","attempts":[]`
	for state, waits := range map[string]string{"pending": `"waitsFor":{"reason":"turn"},`, "delivering": ""} {
		w.dispatcher.inFlight[pending] = state == "delivering"
		a := w.do(t, "GET", "/events/deliveries/"+string(pending), "")
		planned := `,"plannedAttempts":["TIME"` + strings.Repeat(`,"TIME"`, maxAttempts-1) + `],` + waits + `"payload":"{}"`
		checkAnswer(t, a.Code, a.Body.String(), 200, `{"meta":{"url":"/events/deliveries/dlv_1"},"data":{`+fmt.Sprintf(fields, state)+planned+`}}`)
	}
}

func TestWhatDeliveriesWaitFor(t *testing.T) {
	w := newWorld(t)
	sub, _ := w.makeSubscription(t, `{"url":"https://example.com/hook?a=b","events":["tag.*"],"httpOperation":"GET"}`)
	change := func(body string) {
		t.Helper()
		if a := w.do(t, "PATCH", subscriptionURL(sub), body); a.Code != 200 {
			t.Fatalf("%s is answered %d %s", body, a.Code, a.Body)
		}
	}
	change(`{"delivery":{"ordered":true}}`)
	first := w.addDelivery(t, feedmill.Event{Type: "tag.created", ResourceID: "t_1"})
	second := w.addDelivery(t, feedmill.Event{Type: "tag.updated", ResourceID: "t_1"})
	other := w.addDelivery(t, feedmill.Event{Type: "tag.updated", ResourceID: "t_2"})
	w.settle(t, first, feedmill.DeliveryRetrying, func(o *feedmill.Outcome) { o.DueAt = now().Add(time.Hour) })
	for id, part := range map[feedmill.ID]string{
		first.ID:  `"waitsFor":{"reason":"time","until":"`,
		second.ID: `"waitsFor":{"reason":"order","deliveryId":"` + string(first.ID) + `"}`,
		other.ID:  `"waitsFor":{"reason":"turn"}`,
	} {
		if body := w.do(t, "GET", deliveryURL(id), "").Body.String(); !strings.Contains(body, part) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
	body := w.do(t, "GET", deliveryURL(first.ID), "").Body.String()
	if !strings.Contains(body, `"url":"https://example.com/hook?a=b&payload=%7B%7D"`) {
		t.Errorf("the request of a GET is in %s", body)
	}
	change(`{"state":"paused","name":"other"}`)
	body = w.do(t, "GET", deliveryURL(first.ID), "").Body.String()
	for _, part := range []string{`"waitsFor":{"reason":"paused"}`, `"changedSince":true`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
}

func TestListDeliveries(t *testing.T) {
	w := newWorld(t)
	sub, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	w.makeSubscription(t, `{"url":"https://example.com/other","events":["metric.*"]}`)
	all := make(map[string]feedmill.ID)
	add := func(name, event string) feedmill.DueDelivery {
		d := w.addDelivery(t, feedmill.Event{Type: event})
		state, flies := strings.CutSuffix(name, " in flight")
		if state, _, _ := strings.Cut(state, " "); state != "pending" {
			w.settle(t, d, feedmill.DeliveryState(state), nil)
		}
		all[name], w.dispatcher.inFlight[d.ID] = d.ID, flies
		return d
	}
	first := add("delivered first", "tag.deleted").CreatedAt
	for !now().After(first) { // until the next are later
		runtime.Gosched()
	}
	for _, name := range []string{"pending", "retrying", "delivered", "exhausted", "discarded", "pending in flight", "retrying in flight"} {
		add(name, "tag.created")
	}
	add("exhausted elsewhere", "metric.created")
	utc := first.Format("2006-01-02T15:04:05.000Z")
	abroad := first.In(time.FixedZone("", 3600)).Format("2006-01-02T15:04:05.000-07:00")
	later := first.Add(time.Millisecond).Format("2006-01-02T15:04:05.000Z")

	path := "/events/subscriptions/" + string(sub) + "/deliveries"
	for _, c := range []struct {
		path string
		want []string // newest first
	}{
		{path, []string{"retrying in flight", "pending in flight", "discarded", "exhausted", "delivered", "retrying", "pending", "delivered first"}},
		{path + "?state=pending", []string{"pending"}},
		{path + "?state=retrying", []string{"retrying"}},
		{path + "?state=delivering", []string{"retrying in flight", "pending in flight"}},
		{path + "?state=delivered", []string{"delivered", "delivered first"}},
		{path + "?state=delivered&since=" + later, []string{"delivered"}},
		{path + "?state=delivered&since=" + utc, []string{"delivered", "delivered first"}},
		{path + "?state=delivered&since=" + url.QueryEscape(abroad), []string{"delivered", "delivered first"}},
		{path + "?state=delivered&since=" + abroad, []string{"delivered", "delivered first"}},
		{path + "?state=delivered&until=" + later, []string{"delivered first"}},
		{path + "?state=exhausted,delivered,exhausted", []string{"exhausted", "delivered", "delivered first"}},
		{path + "?state=pending,delivering", []string{"retrying in flight", "pending in flight", "pending"}},
		{path + "?type=tag.deleted", []string{"delivered first"}},
		{path + "?type=metric.created", nil},
		{"/events/undelivered", []string{"exhausted elsewhere", "discarded", "exhausted"}},
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
	a := w.do(t, "GET", path+"?counts=state&state=pending", "")
	if got := a.Header().Get("X-Counts"); got != "pending=1, delivering=2, delivered=2, retrying=1, exhausted=1, discarded=1" {
		t.Errorf("the counts are %q", got)
	}
}

func TestRetryDelivery(t *testing.T) {
	w := newWorld(t)
	w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	d := w.addDelivery(t, feedmill.Event{Type: "tag.created"})
	id := d.ID
	for range maxAttempts - 1 {
		w.settle(t, d, feedmill.DeliveryRetrying, nil)
	}
	w.settle(t, d, feedmill.DeliveryExhausted, nil)
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
	retrying := w.addDelivery(t, feedmill.Event{Type: "tag.created"})
	w.settle(t, retrying, feedmill.DeliveryRetrying, nil)
	inFlight := retrying.ID
	w.dispatcher.inFlight[inFlight] = true
	elsewhere := feedmill.NewID(feedmill.PrefixDelivery)
	w.dispatcher.inFlight[elsewhere] = true
	for _, c := range []struct {
		id     feedmill.ID
		status int
		kind   string
		why    string
	}{{id, 409, "not-retryable", "already pending"}, {inFlight, 409, "not-retryable", "in flight"}, {elsewhere, 404, "not-found", ""}} {
		a := w.do(t, "POST", "/events/deliveries/"+string(c.id)+"/retry", "")
		if p := readProblem(t, a); a.Code != c.status || p.Type != "/problems/"+c.kind || !strings.Contains(p.Detail, c.why) {
			t.Errorf("answered %d: %s, want %d %s because %q", a.Code, a.Body, c.status, c.kind, c.why)
		}
	}
}

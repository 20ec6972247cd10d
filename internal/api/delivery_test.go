package api

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

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

// TestGroupUndelivered groups failures by endpoint and error, lists a group and retries it.
func TestGroupUndelivered(t *testing.T) {
	w := newWorld(t)
	tags, _ := w.makeSubscription(t, `{"name":"Tags","url":"https://example.com/tags","events":["tag.*"]}`)
	gone, _ := w.makeSubscription(t, `{"url":"https://example.com/gone","events":["metric.*"]}`)
	var ids []feedmill.ID
	add := func(event, state, reason, last string) {
		d := w.addDelivery(t, feedmill.Event{Type: event})
		w.settle(t, d, feedmill.DeliveryState(state), func(o *feedmill.Outcome) { o.Reason, o.Attempt.Status, o.Attempt.Error = reason, 503, last })
		ids = append(ids, d.ID)
	}
	add("tag.created", "exhausted", feedmill.AttemptsFailed(1), "no answer")
	add("tag.created", "exhausted", feedmill.AttemptsFailed(1), "no answer")
	add("tag.created", "exhausted", "the filter failed", "")
	add("metric.created", "exhausted", feedmill.AttemptsFailed(1), "no answer")
	add("tag.created", "discarded", feedmill.DiscardedDisabled, "")
	w.do(t, "DELETE", "/events/subscriptions/"+string(gone), "")

	type endpoint struct {
		Name    string `json:"name"`
		State   string `json:"state"`
		Breaker string `json:"breaker"`
	}
	type group struct {
		State          string      `json:"state"`
		SubscriptionID string      `json:"subscriptionId"`
		Error          string      `json:"error"`
		Count          int         `json:"count"`
		Newest         feedmill.ID `json:"newestDeliveryId"`
		Subscription   *endpoint   `json:"subscription"`
	}
	for path, want := range map[string][]group{
		"groupBy=endpoint": {{"exhausted", string(tags), "", 3, ids[2], nil}, {"exhausted", string(gone), "", 1, ids[3], nil}, {"discarded", string(tags), "", 1, ids[4], nil}},
		"groupBy=error":    {{"exhausted", "", "no answer", 3, ids[3], nil}, {"exhausted", "", "the filter failed", 1, ids[2], nil}, {"discarded", "", feedmill.DiscardedDisabled, 1, ids[4], nil}},
		"groupBy=endpoint,error&state=exhausted&error=no+answer&subscriptionId=" + string(tags): {{"exhausted", string(tags), "no answer", 2, ids[1], nil}},
	} {
		a := w.do(t, "GET", "/events/undelivered?"+path, "")
		var got []group
		must(t, json.Unmarshal(a.Body.Bytes(), &got))
		for i, g := range got {
			s := g.Subscription
			if (s != nil) != (g.SubscriptionID == string(tags)) || s != nil && (s.Name != "Tags" || s.State != "active" || s.Breaker == "") {
				t.Errorf("%s: the endpoint of %+v is %+v", path, g, s)
			}
			got[i].Subscription = nil
		}
		byCount := func(a, b group) int {
			return cmp.Or(b.Count-a.Count, strings.Compare(string(a.Newest), string(b.Newest)))
		}
		slices.SortFunc(got, byCount)
		slices.SortFunc(want, byCount)
		if !slices.Equal(got, want) || a.Header().Get("X-Total-Count") != strconv.Itoa(len(want)) || a.Header().Get("X-Counted-Since") != "" {
			t.Errorf("%s: %s with %v, want %+v", path, a.Body, a.Header(), want)
		}
	}
	a := w.do(t, "GET", "/events/undelivered?groupBy=endpoint,error&limit=1", "")
	if a.Header().Get("X-Counts") != "exhausted=4, discarded=1" || a.Header().Get("X-Total-Count") != "4" || strings.Count(a.Body.String(), `"count"`) != 1 {
		t.Errorf("one group of four: %s with %v", a.Body, a.Header())
	}

	list := func(query string) (found []feedmill.ID) {
		t.Helper()
		path := "/events/undelivered?limit=1&" + query
		for path != "" {
			a := w.do(t, "GET", path, "")
			var page []struct {
				ID feedmill.ID `json:"id"`
			}
			must(t, json.Unmarshal(a.Body.Bytes(), &page))
			for _, d := range page {
				found = append(found, d.ID)
			}
			path, _, _ = strings.Cut(strings.TrimPrefix(a.Header().Get("Link"), "<"), ">")
		}
		return found
	}
	later := ids[4].Time().Add(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	for query, want := range map[string][]feedmill.ID{
		"error=no+answer": {ids[3], ids[1], ids[0]},
		"error=no+answer&subscriptionId=" + string(tags): {ids[1], ids[0]},
		"state=discarded":                  {ids[4]},
		"subscriptionId=" + string(gone):   {ids[3]},
		"error=no+answer&since=" + later:   nil,
		"state=exhausted&until=" + later:   {ids[3], ids[2], ids[1], ids[0]},
		"state=exhausted,discarded&error=": {ids[4], ids[3], ids[2], ids[1], ids[0]},
	} {
		if got := list(query); !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", query, got, want)
		}
	}

	body := fmt.Sprintf(`{"deliveryIds":[%q,%q,"dlv_01arz3ndektsv4rrffq69g5fav"]}`, ids[2], ids[3])
	a = w.do(t, "POST", "/events/undelivered/retry", body)
	checkAnswer(t, a.Code, a.Body.String(), 202, `{"retried":1,"refused":[
		{"deliveryId":"dlv_1","detail":"The subscription of this delivery is deleted. Create a new subscription and replay the event to it."},
		{"deliveryId":"dlv_2","detail":"The delivery does not exist."}]}`)
	group0 := fmt.Sprintf(`{"subscriptionId":%q,"state":"exhausted","error":"no answer"}`, tags)
	for range 2 { // repeated with its key, it retries nothing again
		a = w.do(t, "POST", "/events/undelivered/retry", group0, "Idempotency-Key", "group")
		checkAnswer(t, a.Code, a.Body.String(), 202, `{"retried":2,"refused":[]}`)
	}
	a = w.do(t, "POST", "/events/undelivered/retry", group0)
	checkAnswer(t, a.Code, a.Body.String(), 202, `{"retried":0,"refused":[]}`)
	a = w.do(t, "POST", "/events/undelivered/retry", body)
	checkAnswer(t, a.Code, a.Body.String(), 202, `{"retried":0,"refused":[
		{"deliveryId":"dlv_1","detail":"The delivery is pending. Only exhausted and discarded deliveries can be selected."},
		{"deliveryId":"dlv_2","detail":"The subscription of this delivery is deleted. Create a new subscription and replay the event to it."},
		{"deliveryId":"dlv_3","detail":"The delivery does not exist."}]}`)
	var offered []feedmill.ID
	for _, d := range w.dispatcher.offered {
		offered = append(offered, d.ID)
	}
	slices.Sort(offered)
	if want := []feedmill.ID{ids[0], ids[1], ids[2]}; !slices.Equal(offered, want) {
		t.Errorf("the dispatcher was offered %v, want %v", offered, want)
	}
	w.do(t, "PATCH", "/events/subscriptions/"+string(tags), `{"state":"disabled"}`)
	if a := w.do(t, "POST", "/events/undelivered/retry", group0); a.Code != 409 {
		t.Errorf("a group of a disabled subscription: %d %s", a.Code, a.Body)
	}
}

// hugeLog is a store with very many undelivered deliveries of one error.
type hugeLog struct {
	Store
	sub  feedmill.ID
	left int
}

func (s *hugeLog) Undelivered(_ context.Context, _ feedmill.ID, q feedmill.UndeliveredQuery) (found []feedmill.Undelivered, err error) {
	for ; s.left > 0 && len(found) < q.Limit; s.left-- {
		found = append(found, feedmill.Undelivered{ID: feedmill.NewID(feedmill.PrefixDelivery), Subscription: s.sub, State: feedmill.DeliveryExhausted, Error: "no answer", EndedAt: now()})
	}
	return found, nil
}

// The groups of very many deliveries count the newest and report since when.
func TestGroupVeryMany(t *testing.T) {
	w := newWorld(t)
	sub, _ := w.makeSubscription(t, `{"url":"https://example.com/tags","events":["tag.*"]}`)
	for extra, partial := range []bool{false, true} {
		w.Store = &hugeLog{w.store, sub, feedmill.MaxGroupedDeliveries + extra}
		a := w.do(t, "GET", "/events/undelivered?groupBy=endpoint,error", "")
		want := fmt.Sprintf(`"count":%d`, feedmill.MaxGroupedDeliveries)
		if a.Code != 200 || !strings.Contains(a.Body.String(), want) || (a.Header().Get("X-Counted-Since") != "") != partial {
			t.Errorf("%d: %s with %v", a.Code, a.Body, a.Header())
		}
	}
	// A request retries a bounded number of a group and says where to go on.
	w.Store = &hugeLog{w.store, sub, feedmill.MaxRetriedDeliveries + 1}
	a := w.do(t, "POST", "/events/undelivered/retry", fmt.Sprintf(`{"subscriptionId":%q}`, sub))
	if n := strings.Count(a.Body.String(), "does not exist"); a.Code != 202 || n != feedmill.MaxRetriedDeliveries || !strings.Contains(a.Body.String(), `"next":"dlv_`) {
		t.Errorf("%d with %d: %.300s", a.Code, n, a.Body)
	}
}

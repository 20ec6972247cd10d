package api

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// deliveryDefaults is what a subscription says of its deliveries by default.
const deliveryDefaults = `{"timeout":"15s","rateLimit":null,"concurrency":64,"ordered":false,"retrySchedule":["5s","5m","30m","2h","5h","10h","14h","20h","24h"],"disableAfter":"5d","headers":{}}`

func checkAnswer(t *testing.T, code int, body string, wantCode int, want string) {
	t.Helper()
	if got, want := normal(body), unindent(want); code != wantCode || got != want {
		t.Errorf("answered %d\n%s\nwant %d\n%s", code, got, wantCode, want)
	}
}

// One subscription is made: 201 in the envelope, with the secret.
func TestCreateOneSubscription(t *testing.T) {
	w := newWorld(t)
	a := w.do(t, "POST", "/events/subscriptions", `{
		"name": "Metrics", "url": "https://example.com/hook?x=1", "events": ["metric.created", "metric.created", "dashboard.*"], "httpOperation": "GET"
	}`)
	checkAnswer(t, a.Code, a.Body.String(), 201, `{
		"meta":{"url":"/events/subscriptions/sub_1"},
		"data":{
			"id":"sub_1","name":"Metrics","url":"https://example.com/hook?x=1","events":["metric.created","dashboard.*"],
			"httpOperation":"GET","state":"active","delivery":`+deliveryDefaults+`,
			"createdAt":"TIME","updatedAt":"TIME","signingSecret":"SECRET"}}`)
	if got := normal(a.Header().Get("Location")); got != "/events/subscriptions/sub_1" {
		t.Errorf("Location is %q", got)
	}
}

// Every later reading shows the public shape without the secret.
func TestReadSubscriptions(t *testing.T) {
	w := newWorld(t)
	feed := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded).ID
	first, _ := w.makeSubscription(t, `{"url":"https://example.com/1","events":["tag.*"]}`)
	second, _ := w.makeSubscription(t, fmt.Sprintf(`{"url":"https://example.com/2","events":["datafeed.source.refreshed","datafeed.source.*"],"filters":{"resourceId":%q}}`, feed))

	const healthy = `"breaker":"closed","health":{"successShare":null,"backlog":0,"oldestPendingAt":null,"breaker":"closed"}`
	one := w.do(t, "GET", "/events/subscriptions/"+string(second), "")
	checkAnswer(t, one.Code, one.Body.String(), 200, `{
		"meta":{"url":"/events/subscriptions/sub_1"},
		"data":{
			"id":"sub_1","url":"https://example.com/2","events":["datafeed.source.refreshed","datafeed.source.*"],
			"httpOperation":"POST","filters":{"resourceId":"df_1"},"state":"active","delivery":`+deliveryDefaults+`,
			"createdAt":"TIME","updatedAt":"TIME",`+healthy+`}}`)
	all := w.do(t, "GET", "/events/subscriptions", "")
	checkAnswer(t, all.Code, all.Body.String(), 200, `[
		{"id":"sub_1","url":"https://example.com/2","events":["datafeed.source.refreshed","datafeed.source.*"],
		"httpOperation":"POST","filters":{"resourceId":"df_1"},"state":"active","delivery":`+deliveryDefaults+`,"createdAt":"TIME","updatedAt":"TIME",`+healthy+`},
		{"id":"sub_2","url":"https://example.com/1","events":["tag.*"],
		"httpOperation":"POST","state":"active","delivery":`+deliveryDefaults+`,"createdAt":"TIME","updatedAt":"TIME",`+healthy+`}]`)

	page := w.do(t, "GET", "/events/subscriptions?limit=1", "")
	next, _, ok := strings.Cut(strings.TrimPrefix(page.Header().Get("Link"), "<"), ">")
	if rest := w.do(t, "GET", next, ""); !ok || !strings.Contains(rest.Body.String(), string(first)) || strings.Contains(rest.Body.String(), string(second)) {
		t.Errorf("the page behind %q is %s", next, rest.Body)
	}

	// Who disables a subscription need not be told of it.
	disable := func(reason string) string {
		_, err := w.db.ChangeSubscription(t.Context(), w.workspace, second, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			sub.State, sub.DisabledReason = feedmill.SubscriptionDisabled, reason
			return nil, nil
		})
		must(t, err)
		return w.do(t, "GET", "/events/subscriptions?counts=trouble&limit=1", "").Header().Get("X-Counts")
	}
	if byUser, failed := disable(feedmill.DisabledByUser), disable(feedmill.DisabledFailing); byUser != "" || failed != "disabled=1" {
		t.Errorf("the troubles are %q and %q", byUser, failed)
	}
	w.dispatcher.breaker = feedmill.BreakerOpen
	if got := w.do(t, "GET", "/events/subscriptions?counts=trouble", "").Header().Get("X-Counts"); got != "failing=1, disabled=1" {
		t.Errorf("with an open breaker the troubles are %q", got)
	}
	if a := w.do(t, "GET", "/events/subscriptions?counts=state", ""); a.Code != 400 || !strings.Contains(a.Body.String(), `"parameter":"counts"`) {
		t.Errorf("counts of something else are answered %d: %s", a.Code, a.Body)
	}

	stored := w.subscription(t, second)
	source, err := w.db.FeedSource(t.Context(), w.workspace, feed)
	must(t, err)
	if want := []string{"datasource.refreshed", "datasource.*"}; !slices.Equal(stored.Events, want) || stored.ResourceID != feedmill.InternalFilter(source, feed) {
		t.Errorf("it is kept with %q and %q", stored.Events, stored.ResourceID)
	}
}

// Events of both halves make two subscriptions: 201 with a bare array.
func TestCreateBothHalves(t *testing.T) {
	w := newWorld(t)
	feed := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded).ID
	for _, c := range []struct {
		name, events, resource, want string
	}{
		{"the feed's half first", `"datafeed.source.refreshed","metric.created"`, string(feed), `[
			{"id":"sub_1","url":"https://example.com/hook","events":["datafeed.source.refreshed"],"httpOperation":"POST","filters":{"resourceId":"df_1"},
			"state":"active","delivery":` + deliveryDefaults + `,"createdAt":"TIME","updatedAt":"TIME","signingSecret":"SECRET"},
			{"id":"sub_2","url":"https://example.com/hook","events":["metric.created"],"httpOperation":"POST",
			"state":"active","delivery":` + deliveryDefaults + `,"createdAt":"TIME","updatedAt":"TIME","signingSecret":"SECRET"}]`},
		{"the other half first", `"metric.created","datafeed.source.*","tag.*"`, "m_1", `[
			{"id":"sub_1","url":"https://example.com/hook","events":["metric.created","tag.*"],"httpOperation":"POST","filters":{"resourceId":"m_1"},
			"state":"active","delivery":` + deliveryDefaults + `,"createdAt":"TIME","updatedAt":"TIME","signingSecret":"SECRET"},
			{"id":"sub_2","url":"https://example.com/hook","events":["datafeed.source.*"],"httpOperation":"POST",
			"state":"active","delivery":` + deliveryDefaults + `,"createdAt":"TIME","updatedAt":"TIME","signingSecret":"SECRET"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := w.subscriptions(t)
			a := w.do(t, "POST", "/events/subscriptions", fmt.Sprintf(`{"url":"https://example.com/hook","events":[%s],"filters":{"resourceId":%q}}`, c.events, c.resource))
			checkAnswer(t, a.Code, a.Body.String(), 201, c.want)
			if a.Header().Get("Location") != "" {
				t.Error("a Location names one of two resources")
			}
			if made := w.subscriptions(t) - before; made != 2 {
				t.Errorf("%d subscriptions were made", made)
			}
			if secrets := anySecret.FindAllString(a.Body.String(), -1); secrets[0] == secrets[1] {
				t.Error("both have the same secret")
			}
		})
	}
}

// One half is made and one fails: 207 with created and errors.
func TestCreateOneOfTwo(t *testing.T) {
	fresh := string(feedmill.NewID(feedmill.PrefixDataFeed))
	for _, c := range []struct {
		name, body, want string
		most             int
	}{
		{"a feed that is not there", `{"url":"https://example.com/hook","events":["metric.created","datafeed.source.refreshed"],"filters":{"resourceId":"` + fresh + `"}}`, `{
			"created":[{"id":"sub_1","events":["metric.created"],"url":"https://example.com/hook","signingSecret":"SECRET"}],
			"errors":[{"events":["datafeed.source.refreshed"],"status":404,"message":"The data feed does not exist in this workspace."}]}`, 0},
		{"a feed that cannot be", `{"url":"https://example.com/hook","events":["metric.created","datafeed.source.refreshed"],"filters":{"resourceId":"df_x"}}`, `{
			"created":[{"id":"sub_1","events":["metric.created"],"url":"https://example.com/hook","signingSecret":"SECRET"}],
			"errors":[{"events":["datafeed.source.refreshed"],"status":404,"message":"The data feed does not exist in this workspace."}]}`, 0},
		{"a family that is not available", `{"url":"https://example.com/hook","events":["goal.created","datafeed.source.*","metric.*"]}`, `{
			"created":[{"id":"sub_1","events":["datafeed.source.*"],"url":"https://example.com/hook","signingSecret":"SECRET"}],
			"errors":[{"events":["goal.created","metric.*"],"status":409,"message":"The events of goal.* are not available. Ask the operator to enable them."}]}`, 0},
		{"a quota", `{"url":"https://example.com/hook","events":["datafeed.source.*","metric.*"]}`, `{
			"created":[{"id":"sub_1","events":["datafeed.source.*"],"url":"https://example.com/hook","signingSecret":"SECRET"}],
			"errors":[{"events":["metric.*"],"status":409,"message":"The workspace would exceed its maximum of 1 subscriptions. Delete one that is not needed."}]}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.subs.Max = c.most
			a := w.do(t, "POST", "/events/subscriptions", c.body)
			checkAnswer(t, a.Code, a.Body.String(), 207, c.want)
			if w.subscriptions(t) != 1 {
				t.Errorf("%d subscriptions were made", w.subscriptions(t))
			}
		})
	}
}

// Everything fails: the normal single error of the half named first, with the
// faults of both.
func TestCreateNone(t *testing.T) {
	fresh := string(feedmill.NewID(feedmill.PrefixDataFeed))
	const unavailable = "The events of goal.* are not available. Ask the operator to enable them."
	const noFeed = "The data feed does not exist in this workspace."
	for _, c := range []struct {
		name, events, filters string
		status                int
		kind                  string
		places                []string
	}{
		{"one half, no feed", `"datafeed.source.refreshed"`, `{"resourceId":"` + fresh + `"}`, 404, "not-found", []string{"/filters/resourceId " + noFeed}},
		{"one half, not an id", `"datafeed.source.refreshed"`, `{"resourceId":"m_1"}`, 404, "not-found", []string{"/filters/resourceId " + noFeed}},
		{"one half, not available", `"metric.*","goal.created","goal.*"`, `{}`, 409, "not-available", []string{"/events/1 " + unavailable, "/events/2 " + unavailable}},
		{"no feed first", `"datafeed.source.*","goal.*"`, `{"resourceId":"` + fresh + `"}`, 404, "not-found", []string{"/filters/resourceId " + noFeed, "/events/1 " + unavailable}},
		{"not available first", `"goal.*","datafeed.source.*"`, `{"resourceId":"` + fresh + `"}`, 409, "not-available", []string{"/events/0 " + unavailable, "/filters/resourceId " + noFeed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			a := w.do(t, "POST", "/events/subscriptions", fmt.Sprintf(`{"url":"https://example.com/hook","events":[%s],"filters":%s}`, c.events, c.filters))
			p := readProblem(t, a)
			var places []string
			for _, e := range p.Errors {
				places = append(places, *e.Pointer+" "+e.Detail)
			}
			if a.Code != c.status || p.Type != "/problems/"+c.kind || !slices.Equal(places, c.places) {
				t.Errorf("answered %s\nwant %d %s at %q", a.Body, c.status, c.kind, c.places)
			}
			if w.subscriptions(t) != 0 {
				t.Error("something was made all the same")
			}
		})
	}
}

func TestQuota(t *testing.T) {
	w := newWorld(t)
	w.subs.Max = 2
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/1","events":["tag.*"]}`)
	w.makeSubscription(t, `{"url":"https://example.com/2","events":["tag.*"]}`)
	a := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com/3","events":["tag.*","datafeed.source.*"]}`)
	if p := readProblem(t, a); a.Code != 409 || p.Type != "/problems/quota-reached" || len(p.Errors) != 2 {
		t.Errorf("the third is answered %d: %s", a.Code, a.Body)
	}
	w.do(t, "DELETE", "/events/subscriptions/"+string(id), "")
	w.makeSubscription(t, `{"url":"https://example.com/4","events":["tag.*"]}`)
}

func TestDeleteSubscription(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	path := "/events/subscriptions/" + string(id)
	if a := w.do(t, "DELETE", path, ""); a.Code != http.StatusNoContent || a.Body.Len() != 0 {
		t.Errorf("answered %d: %s", a.Code, a.Body)
	}
	if !slices.Contains(w.dispatcher.changed, id) {
		t.Error("the dispatcher was not told")
	}
	for _, method := range []string{"DELETE", "GET"} {
		if a := w.do(t, method, path, ""); a.Code != http.StatusNotFound {
			t.Errorf("%s afterwards is answered %d", method, a.Code)
		}
	}
}

// A repeated creation gives the first answer again, secrets included, whatever
// its shape.
func TestCreateSubscriptionOnce(t *testing.T) {
	fresh := string(feedmill.NewID(feedmill.PrefixDataFeed))
	for name, body := range map[string]string{
		"one":      `{"url":"https://example.com/hook","events":["tag.*"]}`,
		"two":      `{"url":"https://example.com/hook","events":["tag.*","datafeed.source.*"]}`,
		"one of 2": `{"url":"https://example.com/hook","events":["tag.*","datafeed.source.*"],"filters":{"resourceId":"` + fresh + `"}}`,
		"none":     `{"url":"https://example.com/hook","events":["goal.*"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.do(t, "POST", "/events/subscriptions", body, "Idempotency-Key", "k")
			made := w.subscriptions(t)
			again := w.do(t, "POST", "/events/subscriptions", body, "Idempotency-Key", "k")
			if again.Code != first.Code || again.Body.String() != first.Body.String() || w.subscriptions(t) != made {
				t.Errorf("first %d %s\nagain %d %s", first.Code, first.Body, again.Code, again.Body)
			}
		})
	}
}

func TestSecretsAreSealed(t *testing.T) {
	w := newWorld(t)
	id, secret := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"],"delivery":{"headers":{"authorization":"Bearer abc","x-team":"blue"}}}`)
	sub := w.subscription(t, id)
	for _, c := range []struct {
		sealed []byte
		record string
		want   map[string]string
	}{
		{sub.Secrets, "sub/" + string(id) + "/secrets", map[string]string{"current": secret}},
		{sub.Destination.Config, "sub/" + string(id) + "/headers", map[string]string{"Authorization": "Bearer abc", "X-Team": "blue"}},
	} {
		var got map[string]string
		plain, err := w.Vault.Unseal(t.Context(), c.sealed, c.record)
		if err == nil {
			err = json.Unmarshal(plain, &got)
		}
		if err != nil || !maps.Equal(got, c.want) || bytes.Contains(c.sealed, []byte("abc")) || bytes.Contains(c.sealed, []byte(secret)) {
			t.Errorf("%q is sealed for %s: %s, %v, want %v", c.sealed, c.record, plain, err, c.want)
		}
	}
	a := w.do(t, "GET", "/events/subscriptions/"+string(id), "")
	if text := a.Body.String(); !strings.Contains(text, `"headers":{"Authorization":"***","X-Team":"***"}`) || strings.Contains(text, "abc") || strings.Contains(text, "whsec_") {
		t.Errorf("reading it shows %s", text)
	}
}

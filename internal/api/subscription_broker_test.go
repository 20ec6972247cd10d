package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// A subscription to a broker has credentials, which are sealed and not shown, and no method.
func TestSubscriptionToABroker(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"nats://nats.example.com/orders","events":["metric.*"],"delivery":{"ordered":true,"credentials":{"username":"ada","password":"pa55"}}}`)
	path := "/events/subscriptions/" + string(id)
	shows := func(what string, r string, credentials string) {
		t.Helper()
		if strings.Contains(r, "pa55") || strings.Contains(r, `"ada"`) || strings.Contains(r, "httpOperation") || !strings.Contains(r, `"headers":{},"credentials":`+credentials) {
			t.Errorf("%s: %s", what, r)
		}
	}
	const hidden = `{"password":"***","username":"***"}`
	shows("GET", w.do(t, "GET", path, "").Body.String(), hidden)
	shows("list", w.do(t, "GET", "/events/subscriptions", "").Body.String(), hidden)
	if definitions := w.do(t, "GET", "/definitions?kind=Subscription", "").Body.String(); !strings.Contains(definitions, `"credentials":`+hidden) || strings.Contains(definitions, "pa55") {
		t.Errorf("definitions: %s", definitions)
	}
	stored := w.subscription(t, id)
	if d := stored.Destination; d.Kind != feedmill.DestinationNATS || d.Method != "" || strings.Contains(string(d.Config), "pa55") {
		t.Errorf("stored as %+v", d)
	}
	var credentials map[string]string
	w.unseal(t, stored.Destination.Config, stored.ConfigRecord(), &credentials)
	if credentials["username"] != "ada" || credentials["password"] != "pa55" {
		t.Errorf("the credentials are %v", credentials)
	}
	for _, c := range []struct {
		patch  string
		status int
		places []string
		shown  string
	}{
		{`{"url":"nats://evil.example.com/orders"}`, 400, []string{"/delivery/credentials"}, ""},
		{`{"url":"nats+tls://nats.example.com/orders"}`, 400, []string{"/delivery/credentials"}, ""},
		{`{"url":"nats://nats.example.com:4223/orders","delivery":{"credentials":{"token":"***"}}}`, 400, []string{"/delivery/credentials/token"}, ""},
		{`{"url":"https://nats.example.com/"}`, 400, []string{"/url"}, ""},
		{`{"url":"nats://u:p@nats.example.com/orders"}`, 400, []string{"/url"}, ""},
		{`{"url":"nats://10.0.0.1/orders"}`, 400, []string{"/url"}, ""},
		{`{"httpOperation":"GET"}`, 400, []string{"/httpOperation"}, ""},
		{`{"delivery":{"headers":{"X-A":"1"}}}`, 400, []string{"/delivery/headers"}, ""},
		{`{"url":"nats://nats.example.com:4222/invoices","delivery":{"timeout":"5s"}}`, 200, nil, hidden},
		{`{"url":"nats://new.example.com/orders","delivery":{"credentials":{"token":"pa55"}}}`, 200, nil, `{"token":"***"}`},
		{`{"url":"nats://other.example.com/orders","delivery":{"credentials":null}}`, 200, nil, `{}`},
	} {
		r := w.do(t, "PATCH", path, c.patch)
		if r.Code != c.status {
			t.Fatalf("%s: %d: %s", c.patch, r.Code, r.Body)
		}
		if c.status == http.StatusOK {
			shows(c.patch, r.Body.String(), c.shown)
			continue
		}
		for _, f := range readProblem(t, r).Errors {
			if f.Pointer == nil || !slices.Contains(c.places, *f.Pointer) {
				t.Errorf("%s: the faults are at other places than %q: %s", c.patch, c.places, r.Body)
			}
		}
	}
}

// A webhook does not become another kind of destination.
func TestKindOfADestinationStays(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["metric.*"]}`)
	r := w.do(t, "PATCH", "/events/subscriptions/"+string(id), `{"url":"nats://example.com/orders"}`)
	if r.Code != http.StatusBadRequest || !strings.Contains(r.Body.String(), "Create a new subscription") {
		t.Errorf("%d: %s", r.Code, r.Body)
	}
	if d := w.subscription(t, id).Destination; d.Kind != feedmill.DestinationWebhook || d.URL != "https://example.com/hook" {
		t.Errorf("stored as %+v", d)
	}
}

// A batch is for webhooks that are sent with POST, and not for presets. A fault is at the
// member that the request has.
func TestBatchOfASubscription(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["metric.*"],"transform":"event.type","delivery":{"batch":{"maxEvents":50,"maxWait":"5s"}}}`)
	path := "/events/subscriptions/" + string(id)
	for what, r := range map[string]string{
		"GET": w.do(t, "GET", path, "").Body.String(), "list": w.do(t, "GET", "/events/subscriptions", "").Body.String(), "definitions": w.do(t, "GET", "/definitions?kind=Subscription", "").Body.String(),
	} {
		if !strings.Contains(r, `"batch":{"maxEvents":50,"maxWait":"5s"}`) {
			t.Errorf("%s: %s", what, r)
		}
	}
	preview := w.do(t, "POST", "/events/subscriptions/preview", `{"subscription":{"events":["metric.*"],"transform":"event.type","delivery":{"batch":{"maxEvents":2}}},"event":{"type":"metric.created"}}`)
	if !strings.Contains(preview.Body.String(), `"body":"[\"metric.created\"]","contentType":"application/json"`) {
		t.Errorf("a preview is %s", preview.Body)
	}
	for _, c := range []struct {
		patch  string
		status int
		places []string
	}{
		{`{"httpOperation":"GET","transform":null}`, 400, []string{"/httpOperation"}},
		{`{"preset":"slack","transform":null}`, 400, []string{"/preset"}},
		{`{"delivery":{"batch":{"maxEvents":1,"maxWait":"61s"}}}`, 400, []string{"/delivery/batch/maxEvents", "/delivery/batch/maxWait"}},
		{`{"delivery":{"timeout":"5s"}}`, 200, nil},
		{`{"httpOperation":"GET","transform":null,"delivery":{"batch":null}}`, 200, nil},
		{`{"delivery":{"batch":{"maxEvents":2}}}`, 400, []string{"/delivery/batch"}},
		{`{"httpOperation":"POST","preset":"slack","delivery":{"batch":{"maxEvents":2}}}`, 400, []string{"/delivery/batch"}},
		{`{"httpOperation":"POST","delivery":{"batch":{"maxEvents":2}}}`, 200, nil},
		{`{"delivery":null}`, 200, nil},
	} {
		r := w.do(t, "PATCH", path, c.patch)
		if r.Code != c.status || r.Code == 400 && !slices.Equal(pointers(readProblem(t, r)), c.places) {
			t.Errorf("%s: %d: %s", c.patch, r.Code, r.Body)
		}
	}
	if b := w.subscription(t, id).Delivery.Batch; !b.IsZero() {
		t.Errorf("the batch is %+v", b)
	}
	if r := w.do(t, "POST", "/events/subscriptions", `{"url":"nats://nats.example.com/orders","events":["metric.*"],"delivery":{"batch":{"maxEvents":2}}}`); r.Code != 400 || !slices.Equal(pointers(readProblem(t, r)), []string{"/delivery/batch"}) {
		t.Errorf("a broker with a batch: %d: %s", r.Code, r.Body)
	}
}

// pointers are the members with a fault.
func pointers(p problem) (all []string) {
	for _, f := range p.Errors {
		if f.Pointer != nil {
			all = append(all, *f.Pointer)
		}
	}
	return all
}

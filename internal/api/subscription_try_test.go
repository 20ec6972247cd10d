package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// A subscription has its expressions in every response, and a change keeps, sets and removes them.
func TestSubscriptionExpressions(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"],"filter":"event.data.n > 1","transform":"{'n': event.data.n}"}`)
	path := "/events/subscriptions/" + string(id)
	has := func(body, want string) {
		t.Helper()
		a := w.do(t, "PATCH", path, body)
		if a.Code != 200 || !strings.Contains(a.Body.String(), want) {
			t.Errorf("%s is answered %d: %s\nwant %s", body, a.Code, a.Body, want)
		}
	}
	has(`{"name":"A"}`, `"filter":"event.data.n > 1","transform":"{'n': event.data.n}"`)
	has(`{"filter":"true"}`, `"filter":"true","transform":"{'n': event.data.n}"`)
	has(`{"transform":null,"preset":"slack"}`, `"filter":"true","preset":"slack"`)
	has(`{"preset":null,"filter":null}`, `"httpOperation":"POST","state"`)
	has(`{"httpOperation":"GET"}`, `"httpOperation":"GET"`)
	if sub := w.subscription(t, id); sub.Filter != "" || sub.FilterKey != 0 || !sub.Shape.IsZero() {
		t.Errorf("the subscription is %+v", sub)
	}
}

func TestBadExpressions(t *testing.T) {
	const start = `{"url":"https://example.com/","events":["tag.*"],`
	create := func(name, fields string, places ...string) badRequest {
		return badRequest{name, "POST", "/events/subscriptions", start + fields + `}`, 400, places}
	}
	const sub, feedSub = "/events/subscriptions/{sub}", "/events/subscriptions/{feedsub}"
	preview := func(name, body string, places ...string) badRequest {
		return badRequest{name, "POST", "/events/subscriptions/preview", body, 400, places}
	}
	runBad(t, []badRequest{
		create("filter: a number", `"filter":1`, "/filter"),
		create("filter: empty", `"filter":""`, "/filter"),
		create("filter: not CEL", `"filter":"event.type ="`, "/filter"),
		create("filter: not a boolean", `"filter":"event.type"`, "/filter"),
		create("filter: unknown field", `"filter":"event.kind == 'a'"`, "/filter"),
		create("filter: too long", `"filter":"`+strings.Repeat("!", 4096)+`true"`, "/filter"),
		create("transform: a boolean", `"transform":"true"`, "/transform"),
		create("transform and preset", `"transform":"event.data","preset":"slack"`, "/preset"),
		create("preset: unknown", `"preset":"irc"`, "/preset"),
		create("transform with GET", `"transform":"event.data","httpOperation":"GET"`, "/transform"),
		create("preset with GET", `"preset":"text","httpOperation":"GET"`, "/preset"),
		create("everything", `"filter":"x","transform":"y","preset":"z"`, "/filter", "/transform", "/preset"),
		{"GET: a transform", "PATCH", feedSub, `{"transform":"event.data"}`, 400, []string{"/transform"}},
		{"GET: a preset", "PATCH", feedSub, `{"preset":"slack"}`, 400, []string{"/preset"}},
		{"change: a bad filter", "PATCH", sub, `{"filter":"nothing"}`, 400, []string{"/filter"}},
		{"test: unknown type", "POST", sub + "/test", `{"type":"tag.craeted"}`, 400, []string{"/type"}},
		{"test: a family", "POST", sub + "/test", `{"type":"tag.*","data":{"a":"\ud800"},"more":1}`, 400, []string{"/data/a"}},
		{"test: more", "POST", sub + "/test", `{"more":1}`, 400, []string{"/more"}},
		preview("preview: nothing", `{}`, "/event", "/subscription"),
		preview("preview: wrong kinds", `{"event":1,"subscription":[]}`, "/event", "/subscription"),
		preview("preview: faults of both", `{"event":{"type":"x","more":1},"subscription":{"events":["nothing"],"filter":"1","more":1}}`,
			"/event/type", "/event/more", "/subscription/events/0", "/subscription/filter", "/subscription/more"),
	})
}

func TestPreview(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ subscription, event, want string }{
		{`"events":["tag.*"]`, `"type":"tag.created","timestamp":"2026-11-15T12:00:00Z","data":{"n":1.0}`, `"timestamp\":\"2026-11-15T12:00:00.000Z\",\"resourceId\":null,\"data\":{\"n\":1}}","contentType":"application/json"}`},
		{`"events":["metric.created"]`, `"type":"tag.created"`, `{"matches":false,"reason":"type",`},
		{`"events":["tag.*"],"filters":{"resourceId":"a"}`, `"type":"tag.created","resourceId":"b"`, `{"matches":false,"reason":"resource",`},
		{`"events":["tag.*","datafeed.source.*"],"filters":{"resourceId":"a"}`, `"type":"datafeed.source.refreshed","resourceId":"df_1"`, `{"matches":true,"reason":null,`},
		{`"events":["tag.*"],"filter":"event.data.n > 1"`, `"type":"tag.created","data":{"n":1}`, `{"matches":false,"reason":"filter","detail":"The event does not match the filter of the subscription.","body":null,"contentType":null}`},
		{`"events":["tag.*"],"filter":"event.data.m > 1"`, `"type":"tag.created","data":{"n":1}`, `{"matches":false,"reason":"filterError","detail":"filter-error: no such key: m","body":null,"contentType":null}`},
		{`"events":["tag.*"],"url":"https://example.com/","filter":"event.data.n == 1","transform":"{'got': event.data.n}"`, `"type":"tag.created","data":{"n":1}`, `"body":"{\"got\":1}","contentType":"application/json"}`},
		{`"events":["tag.*"],"transform":"event.data.m"`, `"type":"tag.created","data":{"n":1}`, `{"matches":true,"reason":"transformFailed","detail":"transform-failed: no such key: m","body":null,"contentType":null}`},
		{`"events":["tag.*"],"preset":"text"`, `"type":"tag.created","data":{"n":1}`, `"body":"tag.created\nn: 1","contentType":"text/plain; charset=utf-8"}`},
	} {
		a := w.do(t, "POST", "/events/subscriptions/preview", `{"subscription":{`+c.subscription+`},"event":{`+c.event+`}}`)
		if a.Code != 200 || !strings.Contains(a.Body.String(), c.want) {
			t.Errorf("%s with %s\nis answered %d: %s\nwant %s", c.subscription, c.event, a.Code, a.Body, c.want)
		}
	}
	if w.subscriptions(t) != 0 {
		t.Error("a preview created a subscription")
	}
}

func TestTestEvent(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"],"filters":{"resourceId":"t_1"}}`)
	for body, want := range map[string][3]string{
		"":   {"test.ping", "t_1", ""},
		`{}`: {"test.ping", "t_1", ""},
		`{"type":"datafeed.source.stale","data":{"n":1}}`: {"datafeed.source.stale", "t_1", `{"n":1}`},
	} {
		a := w.do(t, "POST", "/events/subscriptions/"+string(id)+"/test", body)
		if got := w.dispatcher.tested; a.Code != 200 || got.Type != want[0] || got.ResourceID != want[1] || string(got.Data) != want[2] {
			t.Errorf("%s is answered %d and sends %+v", body, a.Code, got)
		}
	}
}

// A secret that a client gives is used as it is, for both halves.
func TestOwnSigningSecret(t *testing.T) {
	w := newWorld(t)
	for _, n := range []int{24, 32, 64} {
		secret := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n)}, n))
		a := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com/hook","events":["tag.*","datafeed.source.*"],"signingSecret":"`+secret+`"}`)
		var made []struct{ ID, SigningSecret string }
		if err := json.Unmarshal(a.Body.Bytes(), &made); err != nil || a.Code != 201 || len(made) != 2 {
			t.Fatalf("%d bytes: %d %s", n, a.Code, a.Body)
		}
		for _, m := range made {
			sub := w.subscription(t, feedmill.ID(m.ID))
			var secrets feedmill.SigningSecrets
			w.unseal(t, sub.Secrets, sub.SecretsRecord(), &secrets)
			if m.SigningSecret != secret || secrets.Current != secret {
				t.Errorf("%d bytes: another secret is used", n)
			}
		}
	}
	if a := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com/hook","events":["tag.*"],"signingSecret":null}`); a.Code != 201 || !strings.Contains(a.Body.String(), `"signingSecret":"whsec_`) {
		t.Errorf("null: %d", a.Code)
	}
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/jstext"
)

func TestPublish(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, body, want string }{
		{
			"one", `{"id":"a-1","type":"metric.created","timestamp":"2026-11-15T13:00:00.123456+01:00","resourceId":"m_1","data":{"n":1.50,"b":[1e400]}}`,
			`{"accepted":[{"id":"evt_1","publisherId":"a-1","type":"metric.created","duplicate":false}]}`,
		},
		{"the least", ` {"type":"order.paid"} `, `{"accepted":[{"id":"evt_1","type":"order.paid","duplicate":false}]}`},
		{"the same id again", `{"id":"a-1","type":"tag.created"}`, `{"accepted":[{"id":"evt_1","publisherId":"a-1","type":"tag.created","duplicate":true}]}`},
		{
			"several", `[{"id":"b\u0022","type":"tag.created"},{"id":"b\"","type":"tag.created"},{"type":"tag.deleted","resourceId":null,"data":null}]`,
			`{"accepted":[{"id":"evt_1","publisherId":"b\"","type":"tag.created","duplicate":false},
			{"id":"evt_1","publisherId":"b\"","type":"tag.created","duplicate":true},{"id":"evt_2","type":"tag.deleted","duplicate":false}]}`,
		},
		{"names in disguise", `{"\u0074ype":"metric.\u0063reated","resourceId":"Zürich"}`, `{"accepted":[{"id":"evt_1","type":"metric.created","duplicate":false}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.do(t, "POST", "/events", c.body)
			checkAnswer(t, a.Code, a.Body.String(), http.StatusAccepted, c.want)
		})
	}
	events := w.events(t)
	for i, want := range []string{
		`"type":"metric.created","timestamp":"2026-11-15T12:00:00.123Z","resourceId":"m_1","data":{"n":1.5,"b":[1e400]}}`,
		`"resourceId":null,"data":{}}`,
		`"resourceId":null,"data":{}}`,
		`"resourceId":null,"data":null}`,
		`"resourceId":"Zürich","data":{}}`,
	} {
		if got := string(events[i].Payload); !strings.HasSuffix(got, want) {
			t.Errorf("event %d is %s, want %s", i, got, want)
		}
	}
}

func TestPublishOnce(t *testing.T) {
	w := newWorld(t)
	const body = `{"type":"tag.created"}`
	first := w.do(t, "POST", "/events", body, "Idempotency-Key", "k")
	again := w.do(t, "POST", "/events", body, "Idempotency-Key", "k")
	if first.Code != 202 || again.Code != 202 || first.Body.String() != again.Body.String() || len(w.events(t)) != 1 {
		t.Errorf("first %s, again %s, %d events", first.Body, again.Body, len(w.events(t)))
	}
}

// event of so many bytes, with everything around its data.
func eventOf(size int) string {
	const before, after = `{"type":"tag.created","data":"`, `"}`
	return before + strings.Repeat("x", size-len(before)-len(after)) + after
}

func TestBadEvents(t *testing.T) {
	const good = `{"type":"tag.created"}`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	var list []badRequest
	add := func(name, body string, status int, places ...string) {
		list = append(list, badRequest{name, "POST", "/events", body, status, places})
	}
	add("no body", ``, 400, "")
	add("white space", " \n", 400, "")
	add("no JSON", `{"type"`, 400, "/type")
	add("no JSON in an array", `[`+good+`,{"type":}]`, 400, "/1/type")
	add("array without an end", `[`+good, 400, "")
	add("comma at the end", `[`+good+`,]`, 400, "")
	add("two values", good+good, 400, "")
	add("something behind an array", `[`+good+`]x`, 400, "")
	for _, v := range []string{"null", "1", `"metric.created"`, "true"} {
		add("event is "+v, v, 400, "")
		add("event in an array is "+v, `[`+good+`,`+v+`]`, 400, "/1")
	}
	add("array in an array", `[[`+good+`]]`, 400, "/0")
	add("no event", `[]`, 400, "")
	add("too many", `[`+good+strings.Repeat(","+good, 1000)+`]`, 400, "")
	add("no type", `{}`, 400, "/type")
	add("type: null", `{"type":null}`, 400, "/type")
	add("type: empty", `{"type":""}`, 400, "/type")
	add("type: unknown", `{"type":"tag.craeted"}`, 400, "/type")
	add("type: unknown in an array", `[`+good+`,{"type":"tag.craeted"}]`, 400, "/1/type")
	add("type: wildcard", `{"type":"tag.*"}`, 400, "/type")
	add("type: unavailable", `{"type":"goal.created"}`, 409, "/type")
	add("type: long", `{"type":"`+strings.Repeat("a", 101)+`"}`, 400, "/type")
	for _, reserved := range []string{"datasource.refreshed", "datafeed.source.refreshed", "subscription.disabled", "test.ping"} {
		add("type: "+reserved, `{"type":"`+reserved+`"}`, 400, "/type")
	}
	add("id: empty", `{"type":"tag.created","id":""}`, 400, "/id")
	add("id: null", `{"type":"tag.created","id":null}`, 400, "/id")
	add("id: a number", `{"type":"tag.created","id":1}`, 400, "/id")
	add("id: long", `{"type":"tag.created","id":"`+strings.Repeat("é", 201)+`"}`, 400, "/id")
	add("id: NUL", `{"type":"tag.created","id":"a\u0000"}`, 400, "/id")
	add("id: DEL", `{"type":"tag.created","id":"a`+"\x7f"+`"}`, 400, "/id")
	add("resourceId: empty", `{"type":"tag.created","resourceId":""}`, 400, "/resourceId")
	add("resourceId: long", `{"type":"tag.created","resourceId":"`+strings.Repeat("r", 501)+`"}`, 400, "/resourceId")
	add("resourceId: an object", `{"type":"tag.created","resourceId":{}}`, 400, "/resourceId")
	add("timestamp: a number", `{"type":"tag.created","timestamp":1731672000}`, 400, "/timestamp")
	add("timestamp: no offset", `{"type":"tag.created","timestamp":"2026-11-15T12:00:00"}`, 400, "/timestamp")
	add("unknown field", `{"type":"tag.created","dta":{}}`, 400, "/dta")
	add("key twice", `{"type":"tag.created","type":"tag.created"}`, 400, "/type")
	add("key twice in data", `{"type":"tag.created","data":{"a":{"b/c":1,"d":2,"b\/c":3}}}`, 400, "/data/a/b~1c")
	add("key twice in the data of the second", `[`+good+`,{"type":"tag.created","data":[{"a":1,"\u0061":3}]}]`, 400, "/1/data/0/a")
	add("lone surrogate", `{"type":"tag.created","data":{"a":"\ud800"}}`, 400, "/data/a")
	add("lone surrogate in a key", `{"type":"tag.created","data":{"\udfff":1}}`, 400, "/data")
	add("invalid UTF-8", "{\"type\":\"tag.created\",\"data\":[1,\"\xff\"]}", 400, "/data/1")
	add("not a number", `{"type":"tag.created","data":NaN}`, 400, "/data")
	add("byte order mark", "\ufeff"+good, 400, "")
	add("too deep", `{"type":"tag.created","data":`+deep(64)+`}`, 400, "/data"+strings.Repeat("/0", 63))
	add("too deep in an array", `[`+good+`,{"type":"tag.created","data":`+deep(63)+`}]`, 400, "/1/data"+strings.Repeat("/0", 62))
	add("far too deep", strings.Repeat("[", 1<<20), 400, strings.Repeat("/0", 64))
	add("too large", eventOf(feedmill.MaxEventBytes+1), 413, "")
	add("the second too large", `[`+good+`,`+eventOf(feedmill.MaxEventBytes+1)+`]`, 413, "/1")
	add("too large and wrong", `[{"type":"nothing","id":""},`+eventOf(feedmill.MaxEventBytes+1)+`,{"type":"goal.created"}]`, 400, "/0/id", "/1", "/0/type", "/2/type")
	add("too large a request", `[`+good+strings.Repeat(" ", feedmill.MaxPublishBytes)+`]`, 413)
	add("every fault of all", `[{"id":1,"type":"x","a":1},`+good+`,{"timestamp":"x","resourceId":[],"data":{"k":1,"k":2}}]`, 400,
		"/0/id", "/0/a", "/2/data/k", "/2/type", "/2/timestamp", "/2/resourceId", "/0/type")
	runBad(t, list)
}

func TestLargestEvents(t *testing.T) {
	w := newWorld(t)
	const good = `{"type":"tag.created"}`
	for name, body := range map[string]string{
		"event":    eventOf(feedmill.MaxEventBytes),
		"array":    `[` + eventOf(feedmill.MaxEventBytes) + `,` + good + `]`,
		"thousand": `[` + good + strings.Repeat(","+good, 999) + `]`,
		"depth":    `{"type":"tag.created","data":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`,
		"label":    `{"type":"tag.created","id":"` + strings.Repeat("é", 200) + `","resourceId":"` + strings.Repeat("r", 500) + `"}`,
	} {
		if a := w.do(t, "POST", "/events", body); a.Code != 202 {
			t.Errorf("%s: answered %d: %.300s", name, a.Code, a.Body)
		}
	}
}

// Of a great many faults, so many are listed and no more.
func TestFaultsAreBounded(t *testing.T) {
	w := newWorld(t)
	a := w.do(t, "POST", "/events", `[{}`+strings.Repeat(`,{"a":1}`, 999)+`]`)
	if p := readProblem(t, a); a.Code != 400 || len(p.Errors) != feedmill.MaxFaults {
		t.Errorf("answered %d with %d faults", a.Code, len(p.Errors))
	}
}

func TestProblemTypesOfEvents(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"type":"nothing"}`:     "unknown-event",
		`{"type":"test.ping"}`:   "reserved-event",
		`{"type":"goal.missed"}`: "not-available",
		`{"type":1}`:             "invalid-request",
	} {
		if p := readProblem(t, w.do(t, "POST", "/events", body)); p.Type != "/problems/"+want {
			t.Errorf("%s: %+v", body, p)
		}
	}
	a := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com","events":["metric.creatd"]}`)
	if p := readProblem(t, a); p.Type != "/problems/unknown-event" || !strings.Contains(p.Errors[0].Detail, "Did you mean metric.created") {
		t.Errorf("%s", a.Body)
	}
	a = w.do(t, "POST", "/events", `<xml/>`, "Content-Type", "application/xml")
	if got := a.Header().Get("Accept-Post"); a.Code != 415 || got != "application/json, application/cloudevents+json, application/cloudevents-batch+json" {
		t.Errorf("of another format: %d, Accept-Post %q", a.Code, got)
	}
}

func TestReadEvents(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two"} {
		w.makeSubscription(t, `{"url":"https://example.com/`+name+`","events":["tag.*"]}`)
	}
	w.do(t, "POST", "/events", `[{"id":"x","type":"tag.created","timestamp":"2020-01-01T00:00:00Z","resourceId":"t_1","data":{"b":"\"}","data":[1.10]}},{"type":"metric.created"}]`)
	events := w.events(t)
	first, second := events[0], events[1]
	due := w.dispatcher.offered
	w.settle(t, due[0], feedmill.DeliveryDelivered, nil)
	w.dispatcher.inFlight[due[1].ID] = true

	a := w.do(t, "GET", "/events/"+string(first.ID), "")
	const one = `"id":"evt_1","publisherId":"x","type":"tag.created","timestamp":"TIME","resourceId":"t_1","data":{"b":"\"}","data":[1.1]}`
	const routes = `,"deliveries":[{"id":"dlv_1","subscriptionId":"sub_1","state":"delivered"},{"id":"dlv_2","subscriptionId":"sub_2","state":"delivering"}]`
	size := func(e feedmill.Event) string { return fmt.Sprintf(`,"size":%d`, len(e.Payload)) }
	checkAnswer(t, a.Code, a.Body.String(), 200, `{"meta":{"url":"/events/evt_1"},"data":{`+one+routes+size(first)+`,"counts":{"delivered":1,"delivering":1}}}`)
	a = w.do(t, "GET", "/events/"+string(second.ID), "")
	checkAnswer(t, a.Code, a.Body.String(), 200, `{"meta":{"url":"/events/evt_1"},"data":{
		"id":"evt_1","type":"metric.created","timestamp":"TIME","resourceId":null,"data":{},"deliveries":[]`+size(second)+`,"counts":{}}}`)
	tagged := due[0].Subscription
	later, _ := w.makeSubscription(t, `{"url":"https://example.com/later","events":["metric.*"]}`)
	other, _ := w.makeSubscription(t, `{"url":"https://example.com/other","events":["tag.*"],"filters":{"resourceId":"t_2"}}`)
	for _, c := range []struct {
		event feedmill.Event
		sub   feedmill.ID
		want  string
	}{
		{first, tagged, `"matches":true,"reason":null`},
		{second, tagged, `"matches":false,"reason":"type"`},
		{first, other, `"matches":false,"reason":"resource"`},
		{second, later, `"matches":false,"reason":"createdLater"`},
	} {
		a := w.do(t, "GET", "/events/"+string(c.event.ID)+"?subscriptionId="+string(c.sub), "")
		if want := `"match":{"subscriptionId":"` + string(c.sub) + `",` + c.want; !strings.Contains(a.Body.String(), want) {
			t.Errorf("%s is not in %s", want, a.Body)
		}
	}
	if p := readProblem(t, w.do(t, "GET", "/events/"+string(first.ID)+"?subscriptionId=sub_1", "")); p.Status != 400 || p.Errors[0].Parameter != "subscriptionId" {
		t.Errorf("no subscription is answered %+v", p)
	}
	a = w.do(t, "GET", "/events", "")
	checkAnswer(t, a.Code, a.Body.String(), 200, `[{"id":"evt_1","type":"metric.created","timestamp":"TIME","resourceId":null,"data":{},"deliveries":[]`+size(second)+`,"counts":{}},{`+strings.Replace(one, "evt_1", "evt_2", 1)+routes+size(first)+`,"counts":{"delivered":1,"delivering":1}}]`)
	for query, want := range map[string]int{
		"type=tag.created": 1, "type=nothing": 0, "type=tag.*": 1, "type=goal.*": 0, "type=tag.*,metric.created": 2, "type=tag.deleted,metric.deleted": 0, "resourceId=t_1": 1, "since=2020-01-02T00:00:00Z": 2, "since=9999-01-01T00:00:00Z": 0, "limit=1": 1,
	} {
		var list []any
		a := w.do(t, "GET", "/events?"+query, "")
		if err := json.Unmarshal(a.Body.Bytes(), &list); err != nil || len(list) != want {
			t.Errorf("%s: %s, want %d events", query, a.Body, want)
		}
	}
	for _, list := range []string{"/events?type=tags.*", "/events/stream?type=ta*", "/events/stream?type=datasource.*", "/events/subscriptions/" + string(later) + "/deliveries?type=tag.*"} {
		if p := readProblem(t, w.do(t, "GET", list, "")); p.Status != 400 || p.Errors[0].Parameter != "type" {
			t.Errorf("%s of a family is answered %+v", list, p)
		}
	}
}

func TestEventTypes(t *testing.T) {
	w := newWorld(t)
	a := w.do(t, "GET", "/events/types", "")
	var types []map[string]any
	if err := json.Unmarshal(a.Body.Bytes(), &types); err != nil || a.Code != 200 {
		t.Fatalf("%d, %v: %s", a.Code, err, a.Body)
	}
	seen := make(map[string]string)
	for _, e := range types {
		seen[e["name"].(string)] = fmt.Sprint(e["family"], " ", e["status"], " ", e["operational"])
		if _, ok := e["schema"].(map[string]any); !ok || len(e) != 8 {
			t.Errorf("%v", e)
		}
	}
	for name, want := range map[string]string{
		"metric.created": "metric.* available false", "goal.missed": "goal.* unavailable false", "order.paid": "order.* available false",
		"datafeed.source.refreshed": "datafeed.source.* available false", "subscription.disabled": "subscription.* available true",
	} {
		if seen[name] != want {
			t.Errorf("%s is %q, want %q", name, seen[name], want)
		}
	}
	for path, n := "/events/types?limit=20", 0; path != ""; {
		a := w.do(t, "GET", path, "")
		var page []map[string]any
		if err := json.Unmarshal(a.Body.Bytes(), &page); err != nil || len(page) > 20 || len(page) == 0 || page[0]["name"] != types[n]["name"] {
			t.Fatalf("%s: %d, %v: %s", path, a.Code, err, a.Body)
		}
		n += len(page)
		path, _, _ = strings.Cut(strings.TrimPrefix(a.Header().Get("Link"), "<"), ">")
		if path == "" && n != len(types) {
			t.Errorf("the pages have %d types of %d", n, len(types))
		}
	}
	for _, wrong := range []string{"limit=0", "limit=501", "cursor=bm9uZQ"} {
		if a := w.do(t, "GET", "/events/types?"+wrong, ""); a.Code != 400 {
			t.Errorf("%s: %d %s", wrong, a.Code, a.Body)
		}
	}
}

// readSlowly is the path that explains everything.
func readSlowly(body []byte) ([]feedmill.NewEvent, bool, error) {
	c := &call{r: httptest.NewRequest("POST", "/events", nil)}
	events, form, err := c.readEvents(body, readPlainEvent)
	return events, form.one, err
}

// anyType takes every name for a type.
func anyType(text []byte) (string, bool) { return string(text), true }

// What the fast path reads, the slow one reads alike; what it gives up on for a
// fault, the slow one refuses.
func FuzzPublishBody(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","type":"metric.created","timestamp":"2026-11-15T12:00:00Z","resourceId":"m","data":{"a":[1,{"b":"\"}"}]}}`,
		`[{"type":"a"},{"type":"b","data":1.0e5}]`, ` [ { "type" : "a" , "data" : null } ] `, `{}`, `[]`, `[{}]`, `{"type":"a","type":"b"}`,
		`{"type":"a","data":"\ud83d\ude00\\"}`, `{"type":"a","data":"\\\\\"x\\"}`, `{"type":"\u0061"}`, `{"type":"a","x":1}`, `{"type":"a"}}`, `{"type":"a","data":[[[]]]}`, "\ufeff{}", `{"data":{},"type":"a"}`,
		`{"type":"a","id":""}`, `{"type":"a","timestamp":"x"}`, `{"type":"a","data":{"data":{}}}`, `{"type":"a","data":-0}`, `{"type":"a","data":1,"id":"é"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		kept := slices.Clone(body)
		fast, fastOne, ok := fastEvents(body, anyType)
		slow, slowOne, err := readSlowly(body)
		if !slices.Equal(kept, body) {
			t.Fatal("the body was changed")
		}
		if ok && (err != nil || fastOne != slowOne || !reflect.DeepEqual(fast, slow)) {
			t.Fatalf("%q is fast %+v (one: %v), slowly %+v (one: %v), %v", body, fast, fastOne, slow, slowOne, err)
		}
		if err != nil && !errors.Is(err, feedmill.ErrInvalid) && !errors.Is(err, feedmill.ErrTooLarge) {
			t.Fatalf("%q: %v", body, err)
		}
		if err != nil {
			return
		}
		for _, e := range slow {
			if len(e.Data) > 0 {
				if _, err := jstext.Append(nil, e.Data); err != nil {
					t.Fatalf("%q passed with the data %q: %v", body, e.Data, err)
				}
			}
		}
	})
}

const usualEvent = `{"id":"order-4711-created","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_4711",` +
	`"data":{"name":"Revenue","value":1234.5,"unit":"EUR","tags":["a","b"],"by":{"id":"u_1","name":"Ada"}}}`

// The fast path is what it is for: good requests of the usual kind take it.
func TestUsualEventsAreReadFast(t *testing.T) {
	for _, body := range []string{usualEvent, `{"type":"metric.created"}`, "[\n  " + usualEvent + ",\n  " + usualEvent + "\n]\n"} {
		if _, _, ok := fastEvents([]byte(body), anyType); !ok {
			t.Errorf("the fast path gives up on %s", body)
		}
	}
	if n := testing.AllocsPerRun(100, func() { fastEvents([]byte(usualEvent), anyType) }); n > 8 {
		t.Errorf("reading an event allocates %v times", n)
	}
}

func BenchmarkReadEvent(b *testing.B) {
	body := []byte(usualEvent)
	b.Run("fast", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fastEvents(body, anyType)
		}
	})
	b.Run("slow", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			readSlowly(body)
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	w := newWorld(b)
	w.Publisher = silentPublisher{}
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/events", strings.NewReader(usualEvent))
		r.Header.Set("Content-Type", "application/json")
		w.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// manyEvents is a store in which every hour has very many events of a type.
type manyEvents struct {
	Store
	asked []int
}

func (s *manyEvents) CountEvents(_ context.Context, _ feedmill.ID, from, to time.Time, limit int) (map[string]int, error) {
	if to.Sub(from) != time.Hour || !from.Equal(from.Truncate(time.Hour)) {
		return nil, fmt.Errorf("from %s to %s is not an hour", from, to)
	}
	s.asked = append(s.asked, limit)
	return map[string]int{"datasource.refreshed": min(limit, 30_000)}, nil
}

// TestVolumes counts the events of the last hours by type, and the subscribers of each.
func TestVolumes(t *testing.T) {
	type volume struct {
		Name        string `json:"name"`
		Volume      []*int `json:"volume24h"`
		Subscribers int    `json:"subscribers"`
	}
	read := func(w *world) map[string]volume {
		t.Helper()
		var all []volume
		must(t, json.Unmarshal(w.do(t, "GET", "/events/types", "").Body.Bytes(), &all))
		found := make(map[string]volume)
		for _, v := range all {
			if len(v.Volume) != 24 {
				t.Fatalf("%s has %d hours", v.Name, len(v.Volume))
			}
			found[v.Name] = v
		}
		return found
	}
	sum := func(v volume) (n int) {
		for _, hour := range v.Volume {
			n += *hour
		}
		return n
	}
	w := newWorld(t)
	w.makeSubscription(t, `{"url":"https://example.com/a","events":["tag.*"]}`)
	w.addDelivery(t, feedmill.Event{Type: "tag.created"})
	w.addDelivery(t, feedmill.Event{Type: "tag.created"})
	w.makeSubscription(t, `{"url":"https://example.com/b","events":["tag.created","metric.created"]}`)
	got := read(w)
	if v := got["tag.created"]; sum(v) != 2 || v.Subscribers != 2 || sum(got["tag.updated"]) != 0 || got["tag.updated"].Subscribers != 1 || got["goal.missed"].Subscribers != 0 {
		t.Errorf("the volumes are %+v", got)
	}
	// They are kept for a moment.
	w.makeSubscription(t, `{"url":"https://example.com/c","events":["tag.created"]}`)
	if v := read(w)["tag.created"]; v.Subscribers != 2 {
		t.Errorf("counted again, there are %d subscribers", v.Subscribers)
	}

	busy := newWorld(t)
	store := &manyEvents{Store: busy.store}
	busy.Store = store
	v := read(busy)["datafeed.source.refreshed"]
	if h := v.Volume; *h[23] != 30_000 || *h[22] != feedmill.MaxCountedEvents-30_000 || h[21] != nil || h[0] != nil || len(store.asked) != 2 {
		t.Errorf("the hours are %v after %v", h, store.asked)
	}
}

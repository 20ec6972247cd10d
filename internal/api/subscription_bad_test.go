package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// badRequest is a request that must be refused, with the places of its faults:
// JSON Pointers, or "?name" for a query parameter and "name:" for a header.
type badRequest struct {
	name, method, path, body string
	status                   int
	places                   []string
}

// runBad sends bad requests, none of which has an effect. The path may name a
// subscription as {sub}, and one of the datafeed half as {feedsub}.
func runBad(t *testing.T, list []badRequest) {
	t.Helper()
	world := newWorld(t)
	sub, _ := world.makeSubscription(t, `{"url":"https://example.com/hook?payload=1","events":["metric.created"]}`)
	feedSub, _ := world.makeSubscription(t, `{"url":"https://example.com/hook","events":["datafeed.source.*"],"httpOperation":"GET"}`)
	before := []feedmill.Subscription{world.subscription(t, sub), world.subscription(t, feedSub)}
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			path := strings.NewReplacer("{sub}", string(sub), "{feedsub}", string(feedSub)).Replace(c.path)
			r := httptest.NewRequest(c.method, path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			world.ServeHTTP(w, r)
			var p struct {
				Status int
				Errors []struct {
					Pointer           *string
					Parameter, Header string
					Detail            string
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatalf("%d, %v: %s", w.Code, err, w.Body)
			}
			var places []string
			for _, e := range p.Errors {
				switch {
				case e.Pointer != nil:
					places = append(places, *e.Pointer)
				case e.Parameter != "":
					places = append(places, "?"+e.Parameter)
				default:
					places = append(places, e.Header+":")
				}
			}
			if w.Code != c.status || p.Status != c.status || !slices.Equal(places, c.places) {
				t.Errorf("%s %s %.300s\nis answered %d at %q: %s\nwant %d at %q", c.method, path, c.body, w.Code, places, w.Body, c.status, c.places)
			}
			for _, secret := range []string{"hunter2", "datasource", "ds_"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("the answer repeats %q: %s", secret, w.Body)
				}
			}
		})
	}
	after := []feedmill.Subscription{world.subscription(t, sub), world.subscription(t, feedSub)}
	if !reflect.DeepEqual(before, after) || world.subscriptions(t) != len(before) || len(world.events(t)) != 0 || len(world.store.replays) != 0 {
		t.Errorf("a refused request had an effect: %+v became %+v", before, after)
	}
}

func TestBadCreations(t *testing.T) {
	var list []badRequest
	add := func(name, body string, status int, places ...string) {
		list = append(list, badRequest{name, "POST", "/events/subscriptions", body, status, places})
	}
	withURL := func(name, url string, n int) {
		add("url: "+name, fmt.Sprintf(`{"url":%q,"events":["tag.*"]}`, url), 400, slices.Repeat([]string{"/url"}, n)...)
	}
	withURL("empty", "", 1)
	withURL("relative", "/hook", 1)
	withURL("no scheme", "example.com/hook", 1)
	withURL("no host", "https:///hook", 1)
	withURL("opaque", "https:example.com", 1)
	withURL("ftp", "ftp://example.com/", 1)
	withURL("javascript", "javascript:alert(1)", 1)
	withURL("plain http", "http://example.com/hook", 1)
	withURL("user and password", "https://user:hunter2@example.com/", 1)
	withURL("user", "https://hunter2@example.com/", 1)
	withURL("empty user", "https://@example.com/", 1)
	withURL("fragment", "https://example.com/#hunter2", 1)
	withURL("empty fragment", "https://example.com/#", 1)
	withURL("user and fragment", "https://a:hunter2@example.com/#x", 2)
	withURL("too long", "https://example.com/"+strings.Repeat("a", 2048-len("https://example.com/")+1), 1)
	withURL("a space", "https://example.com/a b", 1)
	withURL("a leading space", " https://example.com/", 1)
	withURL("not ASCII", "https://example.com/ü", 1)
	withURL("bad escape", "https://example.com/%zz", 1)
	withURL("bad port", "https://example.com:port/", 1)
	withURL("loopback", "https://127.0.0.1/hook", 1)
	withURL("loopback's name", "https://localhost/hook", 1)
	withURL("loopback in IPv6", "https://[::1]/hook", 1)
	withURL("metadata", "https://169.254.169.254/latest", 1)
	withURL("everything", "http://u:hunter2@127.0.0.1/"+strings.Repeat("a", 3000)+"#x", 4)
	add("url: a control character", `{"url":"https://example.com/\u0000","events":["tag.*"]}`, 400, "/url")
	add("url: a line break", `{"url":"https://example.com/\r\nx-evil: 1","events":["tag.*"]}`, 400, "/url")
	for _, v := range []string{"null", "1", "true", "[]", "{}"} {
		add("url: "+v, `{"url":`+v+`,"events":["tag.*"]}`, 400, "/url")
	}
	add("url: payload with GET", `{"url":"https://example.com/?a=1&payload=x","events":["tag.*"],"httpOperation":"GET"}`, 400, "/url")
	add("url: payload without a value", `{"url":"https://example.com/?payload","events":["tag.*"],"httpOperation":"GET"}`, 400, "/url")
	add("url: payload in disguise", `{"url":"https://example.com/?%70ayload=","events":["tag.*"],"httpOperation":"GET"}`, 400, "/url")
	add("url: missing", `{"events":["tag.*"]}`, 400, "/url")

	events := func(name, events string, places ...string) {
		add("events: "+name, `{"url":"https://example.com/","events":`+events+`}`, 400, places...)
	}
	events("null", `null`, "/events")
	events("a string", `"tag.*"`, "/events")
	events("none", `[]`, "/events")
	events("101", `["tag.*"`+strings.Repeat(`,"tag.*"`, 100)+`]`, "/events")
	events("a number", `["tag.*",1]`, "/events/1")
	events("null inside", `[null]`, "/events/0")
	events("unknown", `["metric.craeted"]`, "/events/0")
	events("two unknown", `["nothing.at.all","tag.*","x"]`, "/events/0", "/events/2")
	events("everything and more", `["*","metric.*"]`, "/events")
	events("half a wildcard", `["metric.cre*"]`, "/events/0")
	events("wildcard of a part", `["datafeed.*"]`, "/events/0")
	events("empty", `[""]`, "/events/0")
	events("internal", `["datasource.refreshed"]`, "/events/0")
	events("internal wildcard", `["tag.*","datasource.*"]`, "/events/1")
	events("a ping", `["test.ping"]`, "/events/0")
	events("unknown and unavailable", `["goal.created","goal.crated"]`, "/events/1")
	add("events: missing", `{"url":"https://example.com/"}`, 400, "/events")

	field := func(name, field string, places ...string) {
		add(name, `{"url":"https://example.com/","events":["tag.*"],`+field+`}`, 400, places...)
	}
	field("name: empty", `"name":""`, "/name")
	field("name: blank", `"name":" "`, "/name")
	field("name: long", `"name":"`+strings.Repeat("n", 201)+`"`, "/name")
	field("name: control character", `"name":"a\u0007"`, "/name")
	field("name: a number", `"name":1`, "/name")
	field("httpOperation: PUT", `"httpOperation":"PUT"`, "/httpOperation")
	field("httpOperation: lower case", `"httpOperation":"post"`, "/httpOperation")
	field("httpOperation: empty", `"httpOperation":""`, "/httpOperation")
	field("httpOperation: a list", `"httpOperation":["GET"]`, "/httpOperation")
	field("filters: a list", `"filters":[]`, "/filters")
	field("filters: a string", `"filters":"m_1"`, "/filters")
	field("filters: unknown", `"filters":{"resourceID":"m_1"}`, "/filters/resourceID")
	field("filters: empty", `"filters":{"resourceId":""}`, "/filters/resourceId")
	field("filters: a number", `"filters":{"resourceId":1}`, "/filters/resourceId")
	field("filters: long", `"filters":{"resourceId":"`+strings.Repeat("r", 501)+`"}`, "/filters/resourceId")
	field("filters: control character", `"filters":{"resourceId":"\u0000"}`, "/filters/resourceId")
	field("unknown field", `"evnets":[]`, "/evnets")
	field("state", `"state":"paused"`, "/state")
	for _, secret := range []string{
		"hunter2", "whsec_", "whsec_hunter2", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23)), "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65)),
		"whsec_" + base64.RawStdEncoding.EncodeToString(make([]byte, 25)), "whsec_" + base64.URLEncoding.EncodeToString(bytes.Repeat([]byte{255}, 24)),
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\\n", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB==",
	} {
		field("signingSecret: "+secret, `"signingSecret":"`+secret+`"`, "/signingSecret")
	}
	field("signingSecret: a number", `"signingSecret":1`, "/signingSecret")
	field("key twice", `"url":"https://example.com/"`, "/url")
	field("key twice inside", `"filters":{"resourceId":"a","resourceId":"b"}`, "/filters/resourceId")
	for text, place := range map[string]string{
		`[]`: "", `{"timeout":"0s"}`: "/timeout", `{"timeout":"61s"}`: "/timeout", `{"timeout":15}`: "/timeout", `{"timeout":"fast"}`: "/timeout",
		`{"concurrency":0}`: "/concurrency", `{"concurrency":101}`: "/concurrency", `{"concurrency":1.5}`: "/concurrency", `{"concurrency":"2"}`: "/concurrency",
		`{"ordered":"yes"}`: "/ordered", `{"ordered":1}`: "/ordered", `{"retries":3}`: "/retries",
		`{"retrySchedule":[]}`: "/retrySchedule", `{"retrySchedule":"5s"}`: "/retrySchedule", `{"retrySchedule":["5s","soon"]}`: "/retrySchedule/1", `{"retrySchedule":["8d"]}`: "/retrySchedule/0",
		`{"retrySchedule":[` + strings.Repeat(`"1s",`, 20) + `"1s"]}`: "/retrySchedule", `{"disableAfter":"23h"}`: "/disableAfter", `{"disableAfter":"31d"}`: "/disableAfter",
		`{"disableAfter":"never"}`: "/disableAfter", `{"disableAfter":5}`: "/disableAfter",
		`{"rateLimit":0}`: "/rateLimit", `{"rateLimit":-1}`: "/rateLimit", `{"rateLimit":0.5}`: "/rateLimit", `{"rateLimit":"10/s"}`: "/rateLimit",
		`{"rateLimit":{}}`: "/rateLimit/requests", `{"rateLimit":{"requests":0}}`: "/rateLimit/requests", `{"rateLimit":{"requests":1,"per":"0s"}}`: "/rateLimit/per",
		`{"rateLimit":{"requests":1,"per":1}}`: "/rateLimit/per", `{"rateLimit":{"requests":1,"unit":"s"}}`: "/rateLimit/unit",
		`{"headers":[]}`: "/headers", `{"headers":{"X-A":1}}`: "/headers/X-A", `{"headers":{"X-A":"a\r\nb"}}`: "/headers/X-A", `{"headers":{"X-A":"\u0000"}}`: "/headers/X-A",
		`{"headers":{"":"x"}}`: "/headers/", `{"headers":{"X A":"x"}}`: "/headers/X A", `{"headers":{"X/A":"x"}}`: "/headers/X~1A", `{"headers":{"x-a":"1","X-A":"2"}}`: "/headers/X-A",
		`{"headers":{"X-A":"***"}}`: "/headers/X-A", `{"headers":{"X-A":"` + strings.Repeat("x", 4096) + `"}}`: "/headers",
	} {
		field("delivery: "+text[:min(len(text), 50)], `"delivery":`+text, "/delivery"+place)
	}
	for _, own := range []string{
		"Host", "content-length", "Content-Type", "transfer-encoding", "Connection", "TE", "Trailer", "upgrade", "User-Agent",
		"webhook-id", "Webhook-Signature", "x-service-signature", "X-Service-Anything", "Proxy-Authorization", "Keep-Alive", "Expect",
	} {
		field("delivery: header "+own, fmt.Sprintf(`"delivery":{"headers":{%q:"x"}}`, own), "/delivery/headers/"+own)
	}
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf(`"X-%d":"v"`, i))
	}
	field("delivery: 21 headers", `"delivery":{"headers":{`+strings.Join(many, ",")+`}}`, "/delivery/headers")

	add("everything at once", `{"name":"","url":"nowhere","events":["nothing","metric.created"],"httpOperation":"PUT","filters":{"a":1},"delivery":{"timeout":1},"more":1}`,
		400, "/name", "/url", "/httpOperation", "/events/0", "/filters/a", "/delivery/timeout", "/more")
	add("no body", ``, 400, "")
	add("no JSON", `{"url":`, 400, "/url")
	add("an array", `[]`, 400, "")
	add("null", `null`, 400, "")
	add("two values", `{} {}`, 400, "")
	add("lone surrogate", `{"name":"\ud800","url":"https://example.com/","events":["tag.*"]}`, 400, "/name")
	add("too large", `{"name":"`+strings.Repeat("a", 1<<20)+`"}`, 413)
	runBad(t, list)
}

func TestBadChanges(t *testing.T) {
	const sub, feedSub = "/events/subscriptions/{sub}", "/events/subscriptions/{feedsub}"
	patch := func(name, path, body string, status int, places ...string) badRequest {
		return badRequest{name, "PATCH", path, body, status, places}
	}
	runBad(t, []badRequest{
		patch("not there", "/events/subscriptions/sub_01arz3ndektsv4rrffq69g5fav", `{}`, 404),
		patch("no id", "/events/subscriptions/nonsense", `{}`, 404),
		patch("no body", sub, ``, 400, ""),
		patch("url: null", sub, `{"url":null}`, 400, "/url"),
		patch("url: forbidden", sub, `{"url":"https://127.0.0.1/"}`, 400, "/url"),
		patch("url: payload with the GET there is", feedSub, `{"url":"https://example.com/?payload=1"}`, 400, "/url"),
		patch("httpOperation: with the payload there is", sub, `{"httpOperation":"GET"}`, 400, "/httpOperation"),
		patch("httpOperation and url", sub, `{"httpOperation":"GET","url":"https://example.com/?payload=1"}`, 400, "/url"),
		patch("events: null", sub, `{"events":null}`, 400, "/events"),
		patch("events: none", sub, `{"events":[]}`, 400, "/events"),
		patch("events: unknown", sub, `{"events":["nothing"]}`, 400, "/events/0"),
		patch("events: internal", feedSub, `{"events":["datasource.*"]}`, 400, "/events/0"),
		patch("events: to the other half", sub, `{"events":["datafeed.source.*"]}`, 409, "/events/0"),
		patch("events: from the other half", feedSub, `{"events":["tag.*"]}`, 409, "/events/0"),
		patch("events: of both halves", sub, `{"events":["tag.*","datafeed.source.*","goal.*"]}`, 409, "/events/1", "/events/2"),
		patch("events: unavailable", sub, `{"events":["tag.*","goal.created"]}`, 409, "/events/1"),
		patch("filters: no such feed", feedSub, `{"filters":{"resourceId":"df_01arz3ndektsv4rrffq69g5fav"}}`, 404, "/filters/resourceId"),
		patch("filters: no feed", feedSub, `{"filters":{"resourceId":"m_1"}}`, 404, "/filters/resourceId"),
		patch("filters: unknown", sub, `{"filters":{"type":"x"}}`, 400, "/filters/type"),
		patch("state: unknown", sub, `{"state":"deleted"}`, 400, "/state"),
		patch("state: null", sub, `{"state":null}`, 400, "/state"),
		patch("delivery: header that is not there", sub, `{"delivery":{"headers":{"X-A":"***"}}}`, 400, "/delivery/headers/X-A"),
		patch("id", sub, `{"id":"sub_x"}`, 400, "/id"),
		patch("signingSecret", sub, `{"signingSecret":"hunter2"}`, 400, "/signingSecret"),
		patch("several", feedSub, `{"url":"https://example.com/?payload=1","state":"x","events":["tag.*","nothing"],"y":1}`, 400, "/url", "/events/1", "/state", "/y"),

		{"rotate: not there", "POST", "/events/subscriptions/sub_01arz3ndektsv4rrffq69g5fav/rotate_secret", ``, 404, nil},
		{"rotate: too long", "POST", sub + "/rotate_secret", `{"overlap":"169h"}`, 400, []string{"/overlap"}},
		{"rotate: no duration", "POST", sub + "/rotate_secret", `{"overlap":"-1h"}`, 400, []string{"/overlap"}},
		{"rotate: a number", "POST", sub + "/rotate_secret", `{"overlap":24}`, 400, []string{"/overlap"}},
		{"rotate: unknown", "POST", sub + "/rotate_secret", `{"overlaps":"24h"}`, 400, []string{"/overlaps"}},
		{"rotate: an array", "POST", sub + "/rotate_secret", `[]`, 400, []string{""}},
		{"replay: no body", "POST", sub + "/replay", ``, 400, []string{""}},
		{"replay: no since", "POST", sub + "/replay", `{}`, 400, []string{"/since"}},
		{"replay: no time", "POST", sub + "/replay", `{"since":"yesterday"}`, 400, []string{"/since"}},
		{"replay: a date", "POST", sub + "/replay", `{"since":"2026-11-15","until":"2026-11-15T12:00:00"}`, 400, []string{"/since", "/until"}},
		{"replay: backwards", "POST", sub + "/replay", `{"since":"2026-11-15T12:00:00Z","until":"2026-11-15T12:00:00Z"}`, 400, []string{"/since"}},
		{"replay: future", "POST", sub + "/replay", `{"since":"9999-01-01T00:00:00Z"}`, 400, []string{"/since"}},
		{"replay: state", "POST", sub + "/replay", `{"since":"2020-11-15T12:00:00Z","state":"pending"}`, 400, []string{"/state"}},
		{"replay: not there", "POST", "/events/subscriptions/x/replay", `{"since":"2020-11-15T12:00:00Z"}`, 404, nil},
		{"test: not there", "POST", "/events/subscriptions/x/test", ``, 404, nil},
		{"deliveries: not there", "GET", "/events/subscriptions/x/deliveries", ``, 404, nil},
		{"deliveries: state", "GET", sub + "/deliveries?state=open&since=x&limit=0&a=1", ``, 400, []string{"?a", "?since", "?state", "?limit"}},
		{"deliveries: empty state", "GET", sub + "/deliveries?state=", ``, 400, []string{"?state"}},
		{"delivery: not there", "GET", "/events/deliveries/dlv_01arz3ndektsv4rrffq69g5fav", ``, 404, nil},
		{"retry: not there", "POST", "/events/deliveries/dlv_01arz3ndektsv4rrffq69g5fav/retry", ``, 404, nil},
		{"event: not there", "GET", "/events/evt_01arz3ndektsv4rrffq69g5fav", ``, 404, nil},
		{"event: no id", "GET", "/events/sub_01arz3ndektsv4rrffq69g5fav", ``, 404, nil},
		{"events: since and cursor", "GET", "/events?since=2026-11-15T12:00:00&cursor=x&type=", ``, 400, []string{"?since", "?cursor"}},
		{"undelivered: state", "GET", "/events/undelivered?state=delivered&subscriptionId=dlv_1&groupBy=state&since=now&until=now", ``, 400, []string{"?since", "?state", "?subscriptionId", "?until", "?groupBy"}},
		{"undelivered: groups in pages", "GET", "/events/undelivered?groupBy=error&cursor=ZA&limit=0", ``, 400, []string{"?cursor", "?limit"}},
		{"retry: nothing", "POST", "/events/undelivered/retry", `{}`, 400, []string{"/deliveryIds"}},
		{"retry: ids", "POST", "/events/undelivered/retry", `{"deliveryIds":["sub_1",1],"state":"exhausted","error":"e"}`, 400, []string{"/deliveryIds/0", "/deliveryIds/1", "/state", "/error"}},
		{"retry: null", "POST", "/events/undelivered/retry", `{"deliveryIds":null}`, 400, []string{"/deliveryIds"}},
		{"retry: no ids", "POST", "/events/undelivered/retry", `{"deliveryIds":[]}`, 400, []string{"/deliveryIds"}},
		{"retry: group", "POST", "/events/undelivered/retry", `{"subscriptionId":"dlv_1","state":"pending","error":1,"before":"x","more":1}`, 400, []string{"/subscriptionId", "/state", "/error", "/before", "/more"}},
		{"retry: group not there", "POST", "/events/undelivered/retry", `{"subscriptionId":"sub_01arz3ndektsv4rrffq69g5fav"}`, 404, nil},
	})
}

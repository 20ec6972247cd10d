package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

func TestChangeSubscription(t *testing.T) {
	w := newWorld(t)
	feed := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded).ID
	id, _ := w.makeSubscription(t, `{"name":"Old","url":"https://example.com/hook","events":["metric.created"],"filters":{"resourceId":"m_1"}}`)
	feedID, _ := w.makeSubscription(t, `{"url":"https://example.com/feeds","events":["datafeed.source.*"]}`)
	for _, c := range []struct {
		name, body, want string // want is a part of the answer
	}{
		{"nothing", `{}`, `"name":"Old","url":"https://example.com/hook","events":["metric.created"],"httpOperation":"POST","filters":{"resourceId":"m_1"},"state":"active"`},
		{"name", `{"name":"New"}`, `"name":"New"`},
		{"no name", `{"name":null}`, `"id":"sub_1","url"`},
		{"url", `{"url":"http://hook.internal/x"}`, `"url":"http://hook.internal/x"`},
		{"events", `{"events":["tag.*","order.paid","tag.*"]}`, `"events":["tag.*","order.paid"]`},
		{"httpOperation", `{"httpOperation":"GET"}`, `"httpOperation":"GET"`},
		{"default httpOperation", `{"httpOperation":null}`, `"httpOperation":"POST"`},
		{"filters", `{"filters":{"resourceId":"m_2"}}`, `"filters":{"resourceId":"m_2"}`},
		{"no filter", `{"filters":{"resourceId":null}}`, `"httpOperation":"POST","state"`},
		{"no filters", `{"filters":null}`, `"httpOperation":"POST","state"`},
		{"pause", `{"state":"paused"}`, `"state":"paused","pausedReason":"user","delivery"`},
		{"disable", `{"state":"disabled"}`, `"state":"disabled","disabledReason":"user"`},
		{"resume", `{"state":"active"}`, `"state":"active","delivery"`},
		{
			"delivery", `{"delivery":{"timeout":"500ms","rateLimit":{"requests":10,"per":"1m"},"concurrency":4,"ordered":true,"retrySchedule":["1s","5m"],"disableAfter":"1d","headers":{"x-team":"blue","X-Key":"s3cret"}}}`,
			`"delivery":{"timeout":"500ms","rateLimit":{"requests":10,"per":"1m"},"concurrency":4,"ordered":true,"retrySchedule":["1s","5m"],"disableAfter":"1d","headers":{"X-Key":"***","X-Team":"***"}}`,
		},
		{"part of delivery", `{"delivery":{"rateLimit":5}}`, `"delivery":{"timeout":"500ms","rateLimit":{"requests":5,"per":"1s"},"concurrency":4,"ordered":true,"retrySchedule":["1s","5m"],"disableAfter":"1d","headers":{"X-Key":"***","X-Team":"***"}}`},
		{"never disabled", `{"delivery":{"disableAfter":"off"}}`, `"retrySchedule":["1s","5m"],"disableAfter":"off"`},
		{"one header less", `{"delivery":{"headers":{"X-KEY":null,"X-Team":"***","X-New":"n"}}}`, `"headers":{"X-New":"***","X-Team":"***"}`},
		{"parts of delivery by default", `{"delivery":{"timeout":null,"rateLimit":null,"concurrency":null,"ordered":null,"retrySchedule":null,"disableAfter":null,"headers":null}}`, `"delivery":` + deliveryDefaults},
		{"delivery by default", `{"delivery":null}`, `"delivery":` + deliveryDefaults},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.do(t, "PATCH", "/events/subscriptions/"+string(id), c.body)
			if text := normal(a.Body.String()); a.Code != 200 || !strings.Contains(text, c.want) || !strings.HasPrefix(text, `{"meta":{"url":"/events/subscriptions/sub_1"},"data":{"id":"sub_1"`) {
				t.Errorf("answered %d: %s\nwant %s", a.Code, text, c.want)
			}
			if strings.Contains(a.Body.String(), "s3cret") {
				t.Errorf("the answer shows a header: %s", a.Body)
			}
		})
		if c.name == "one header less" {
			sub, headers := w.subscription(t, id), map[string]string(nil)
			w.unseal(t, sub.Destination.Config, sub.ConfigRecord(), &headers)
			if want := map[string]string{"X-Team": "blue", "X-New": "n"}; !maps.Equal(headers, want) {
				t.Errorf("the headers are %q, want %q", headers, want)
			}
		}
	}
	if len(w.dispatcher.changed) != 19 {
		t.Errorf("the dispatcher was told %d times", len(w.dispatcher.changed))
	}
	a := w.do(t, "PATCH", "/events/subscriptions/"+string(feedID), fmt.Sprintf(`{"events":["datafeed.source.deleted"],"filters":{"resourceId":%q}}`, feed))
	if text := normal(a.Body.String()); a.Code != 200 || !strings.Contains(text, `"events":["datafeed.source.deleted"],"httpOperation":"POST","filters":{"resourceId":"df_1"}`) {
		t.Errorf("answered %d: %s", a.Code, text)
	}
}

// A change is worked out from what is there; where that has changed before it
// is made, it is worked out again.
func TestChangesAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	path := "/events/subscriptions/" + string(id)
	w.store.meanwhile = func(s *feedmill.Subscription) {
		s.Destination.URL, s.Name = "https://example.com/?payload=1", "Renamed"
		w.store.meanwhile = nil
	}
	if a := w.do(t, "PATCH", path, `{"httpOperation":"GET"}`); a.Code != 400 {
		t.Errorf("a change that does not fit any more is answered %d: %s", a.Code, a.Body)
	}
	w.do(t, "PATCH", path, `{"url":"https://example.com/second"}`)
	w.store.meanwhile = func(s *feedmill.Subscription) {
		s.Destination.URL = "https://example.com/third"
		w.store.meanwhile = nil
	}
	if a := w.do(t, "PATCH", path, `{"httpOperation":"GET"}`); a.Code != 200 || !strings.Contains(a.Body.String(), `"name":"Renamed","url":"https://example.com/third","events":["tag.*"],"httpOperation":"GET"`) {
		t.Errorf("a change that still fits is answered %d: %s", a.Code, a.Body)
	}
	n := 0
	w.store.meanwhile = func(s *feedmill.Subscription) { n++; s.Destination.URL = fmt.Sprint("https://example.com/", n) }
	if a := w.do(t, "PATCH", path, `{"name":"x"}`); a.Code != http.StatusConflict || n != 5 {
		t.Errorf("after %d tries the answer is %d: %s", n, a.Code, a.Body)
	}
}

func TestRotateSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id, first := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
		path := "/events/subscriptions/" + string(id) + "/rotate_secret"
		secrets := func() (s feedmill.SigningSecrets) {
			t.Helper()
			sub := w.subscription(t, id)
			w.unseal(t, sub.Secrets, sub.SecretsRecord(), &s)
			return s
		}
		a := w.do(t, "POST", path, "", "Idempotency-Key", "k")
		checkAnswer(t, a.Code, a.Body.String(), 200, `{
			"meta":{"url":"/events/subscriptions/sub_1"},
			"data":{"id":"sub_1","url":"https://example.com/hook","events":["tag.*"],"httpOperation":"POST","state":"active",
			"delivery":`+deliveryDefaults+`,"createdAt":"TIME","updatedAt":"TIME","signingSecret":"SECRET","overlapUntil":"TIME"}}`)
		second := anySecret.FindString(a.Body.String())
		until := now().Add(24 * time.Hour)
		if got := secrets(); got.Current != first || got.Next != second || !got.SwitchAt.Equal(until) || second == first {
			t.Errorf("the secrets are %+v, want %s, then %s at %v", got, first, second, until)
		}
		if !strings.Contains(a.Body.String(), `"overlapUntil":"`+until.Format(feedmill.TimestampFormat)+`"`) {
			t.Errorf("the overlap does not end at %v: %s", until, a.Body)
		}
		if list := w.do(t, "GET", "/events/subscriptions", "").Body.String(); !strings.Contains(list, `"overlapUntil":"`+until.Format(feedmill.TimestampFormat)+`"`) {
			t.Errorf("the list does not say when the overlap ends: %s", list)
		}
		if again := w.do(t, "POST", path, "", "Idempotency-Key", "k"); again.Body.String() != a.Body.String() || secrets().Next != second {
			t.Errorf("repeated, it is answered %s", again.Body)
		}

		time.Sleep(24*time.Hour - time.Second)
		busy := w.do(t, "POST", path, `{"overlap":"1h"}`)
		if p := readProblem(t, busy); busy.Code != 409 || p.Type != "/problems/rotation-in-progress" || !strings.Contains(p.Detail, until.Format(feedmill.TimestampFormat)) {
			t.Errorf("during a rotation another is answered %s", busy.Body)
		}
		time.Sleep(time.Second)
		a = w.do(t, "POST", path, `{"overlap":"7d"}`)
		third := anySecret.FindString(a.Body.String())
		if got := secrets(); a.Code != 200 || got.Current != second || got.Next != third {
			t.Errorf("after the overlap the secrets are %+v: %s", got, a.Body)
		}
		a = w.do(t, "POST", path, `{"overlap":"0s"}`)
		fourth := anySecret.FindString(a.Body.String())
		if got := secrets(); a.Code != 200 || got != (feedmill.SigningSecrets{Current: fourth}) || strings.Contains(a.Body.String(), "overlapUntil") {
			t.Errorf("switched at once, the secrets are %+v: %s", got, a.Body)
		}
		w.store.meanwhile = func(s *feedmill.Subscription) { s.Secrets = append(slices.Clone(s.Secrets), ' ') }
		if a = w.do(t, "POST", path, `{"overlap":"0s"}`); a.Code != 409 || strings.Contains(a.Body.String(), "whsec_") {
			t.Errorf("of two rotations at once, the second is answered %d: %s", a.Code, a.Body)
		}
	})
}

func TestPingSubscription(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	at := now()
	for _, c := range []struct {
		name    string
		attempt feedmill.Attempt
		want    string
	}{
		{"good", feedmill.Attempt{
			At: at, Status: 204, Header: [][2]string{{"server", "x"}, {"via", "a"}, {"via", "b"}},
			Timing: feedmill.Timing{DNS: 1500 * time.Microsecond, Connect: 2 * time.Millisecond, TLS: 3 * time.Millisecond, FirstByte: 10 * time.Millisecond, Total: 12345 * time.Microsecond},
		}, `{"succeeded":true,"at":"TIME","status":204,"headers":[{"name":"server","value":"x"},{"name":"via","value":"a"},{"name":"via","value":"b"}],
			"timing":{"dnsMs":1.5,"connectMs":2,"tlsMs":3,"firstByteMs":10,"totalMs":12.345}}`},
		{
			"bad",
			feedmill.Attempt{At: at, Status: 500, Error: "the endpoint returned 500", Body: []byte("oh \xff no")},
			`{"succeeded":false,"at":"TIME","status":500,"headers":[],"timing":{"dnsMs":0,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":0},
			"error":"the endpoint returned 500","body":"oh ` + "\ufffd" + ` no"}`,
		},
		{
			"no answer",
			feedmill.Attempt{At: at, Error: "connection refused"},
			`{"succeeded":false,"at":"TIME","headers":[],"timing":{"dnsMs":0,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":0},"error":"connection refused"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.dispatcher.pinged = c.attempt
			a := w.do(t, "POST", "/events/subscriptions/"+string(id)+"/test", "", "Idempotency-Key", c.name[:2])
			checkAnswer(t, a.Code, a.Body.String(), 200, `{"meta":{"url":"/events/subscriptions/sub_1"},"data":`+unindent(c.want)+`}`)
			w.dispatcher.pinged = feedmill.Attempt{At: at, Status: 201}
			if again := w.do(t, "POST", "/events/subscriptions/"+string(id)+"/test", "", "Idempotency-Key", c.name[:2]); again.Body.String() != a.Body.String() {
				t.Errorf("repeated, it is answered %s", again.Body)
			}
		})
	}
}

func TestReplay(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	path := "/events/subscriptions/" + string(id) + "/replay"
	for i, c := range []struct{ body, want string }{
		{`{"since":"2020-01-01T00:00:00+02:00"}`, `"selection":"undelivered","states":["exhausted","discarded"],"state":"running","total":0,"made":0,"createdAt":"TIME"`},
		{
			`{"since":"2020-01-01T00:00:00Z","until":"2020-01-02T00:00:00Z","state":"delivered","rate":10}`,
			`"selection":"delivered","states":["delivered"],"rate":10,"state":"running","total":0,"made":0,"createdAt":"TIME"`,
		},
		{
			`{"since":"2020-01-01T00:00:00Z","state":"missing","dryRun":true}`,
			`"selection":"missing","states":[],"dryRun":true,"state":"done","total":0,"made":0,"createdAt":"TIME","endedAt":"TIME"`,
		},
	} {
		a := w.do(t, "POST", path, c.body, "Idempotency-Key", fmt.Sprint(i))
		checkAnswer(t, a.Code, a.Body.String(), 202, `{"meta":{"url":"/events/subscriptions/sub_1/replays/rpl_1"},
			"data":{"id":"rpl_1","subscriptionId":"sub_1","since":"TIME","until":"TIME",`+c.want+`}}`)
		w.do(t, "POST", path, c.body, "Idempotency-Key", fmt.Sprint(i))
		if r := w.store.replays[len(w.store.replays)-1]; r.Subscription != id || r.Workspace == "" {
			t.Errorf("the replay is %+v", r)
		}
		if got := w.do(t, "GET", a.Header().Get("Location"), ""); got.Code != 200 || got.Body.String() != a.Body.String() {
			t.Errorf("found is %s\nwant %s", got.Body, a.Body)
		}
	}
	if len(w.store.replays) != 3 || w.dispatcher.woken != 3 {
		t.Errorf("%d replays were made, and the dispatcher woken %d times", len(w.store.replays), w.dispatcher.woken)
	}
	if r := w.store.replays[0]; !r.Since.Equal(time.Date(2019, 12, 31, 22, 0, 0, 0, time.UTC)) || !r.Until.Equal(r.CreatedAt) {
		t.Errorf("the replay is %+v", r)
	}
	one := "/events/subscriptions/" + string(id) + "/replays/" + string(w.store.replays[0].ID)
	if a := w.do(t, "DELETE", one, ""); a.Code != 200 || !strings.Contains(a.Body.String(), `"state":"cancelled"`) {
		t.Errorf("cancelled, it is answered %s", a.Body)
	}
	if p := readProblem(t, w.do(t, "DELETE", one, "")); p.Type != "/problems/replay-ended" {
		t.Errorf("cancelled twice, it is %+v", p)
	}
	for body, pointer := range map[string]string{
		`{"since":"2020-01-01T00:00:00Z","state":"lost"}`: "/state",
		`{"since":"2020-01-01T00:00:00Z","rate":0}`:       "/rate",
		`{"since":"2020-01-01T00:00:00Z","rate":1.5}`:     "/rate",
		`{"since":"2020-01-01T00:00:00Z","dryRun":"yes"}`: "/dryRun",
		`{"since":"2020-01-01T00:00:00Z","speed":"11"}`:   "/speed",
	} {
		if p := readProblem(t, w.do(t, "POST", path, body)); p.Status != 400 || len(p.Errors) != 1 || *p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
	w.do(t, "PATCH", "/events/subscriptions/"+string(id), `{"state":"disabled"}`)
	a := w.do(t, "POST", path, `{"since":"2020-01-01T00:00:00Z"}`)
	if p := readProblem(t, a); a.Code != 409 || p.Type != "/problems/subscription-disabled" {
		t.Errorf("of a disabled subscription it is answered %s", a.Body)
	}
}

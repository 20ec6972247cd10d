package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// oneListener is a store that has a listener and nothing else.
type oneListener struct {
	Store
	until time.Time
}

func (s oneListener) Listener(_ context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return feedmill.Subscription{ID: id, Workspace: workspace, ListenUntil: s.until}, nil
}

// streams is a stream that a test makes.
type streams func(send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded

func (s streams) Stream(_ context.Context, _ feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
	return s(send)
}
func (streams) Answered(feedmill.ID, []feedmill.ID) {}
func (streams) Removed(feedmill.ID)                 {}

// revocable lets everybody in until it does not.
type revocable struct {
	everybody
	err error
}

func (r *revocable) Authenticate(ctx context.Context, text string) (feedmill.Principal, error) {
	if r.err != nil {
		return feedmill.Principal{}, r.err
	}
	return r.everybody.Authenticate(ctx, text)
}

func TestStreamLines(t *testing.T) {
	until := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	path := "/events/listeners/" + string(feedmill.NewID(feedmill.PrefixSubscription)) + "/stream"
	const beat = `{"kind":"heartbeat","expiresAt":"2099-01-01T00:00:00.000Z"}` + "\n"
	alive := feedmill.ListenerMessage{Until: until}
	delivery := feedmill.ListenerMessage{
		Delivery: &feedmill.DueDelivery{
			Delivery: feedmill.Delivery{ID: "dlv_1", Event: "evt_1", Type: "metric.created", ResourceID: "m_1", Attempts: 2}, Payload: []byte(`{"a":"<"}`),
		},
		Headers: map[string]string{"b": "2", "a": "1"},
	}
	for _, test := range []struct {
		name string
		do   func(who *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded
		want string
	}{
		{"a delivery", func(_ *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			send(alive)
			send(delivery)
			return feedmill.ListenerShutdown
		}, beat + `{"kind":"delivery","deliveryId":"dlv_1","eventId":"evt_1","type":"metric.created","resourceId":"m_1","attempt":3,"headers":{"a":"1","b":"2"},"body":"{\"a\":\"<\"}"}` + "\n" +
			`{"kind":"end","reason":"shutdown"}` + "\n"},
		{"a broken connection", func(_ *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			send(alive)
			return feedmill.ListenerBroken
		}, beat},
		{"a credential that is revoked", func(who *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			send(alive)
			who.err = feedmill.ErrUnauthenticated
			if send(alive) == nil {
				t.Error("a revoked credential is told of life")
			}
			return feedmill.ListenerBroken
		}, beat + `{"kind":"end","reason":"credential"}` + "\n"},
		{"a credential that cannot be checked", func(who *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			who.err = feedmill.ErrUnavailable
			if err := send(alive); err != nil {
				t.Error(err)
			}
			return feedmill.ListenerBroken
		}, beat},
	} {
		t.Run(test.name, func(t *testing.T) {
			who := new(revocable)
			s := newTestServer(new(strings.Builder))
			s.Auth, s.Store = who, oneListener{until: until}
			s.Listeners = streams(func(send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded { return test.do(who, send) })
			w := ask(s, "GET", path, "")
			if w.Code != 200 || w.Body.String() != test.want || !w.Flushed {
				t.Errorf("answered %d:\n%s\nwant\n%s", w.Code, w.Body, test.want)
			}
			if w.Header().Get("Content-Length") != "" || w.Header().Get("Content-Type") != "application/x-ndjson" {
				t.Errorf("the headers are %v", w.Header())
			}
		})
	}
}

func TestStreamIsNotForEverybody(t *testing.T) {
	s := newTestServer(new(strings.Builder))
	s.Listeners = streams(func(func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
		t.Error("there is a stream")
		return feedmill.ListenerBroken
	})
	path := "/events/listeners/" + string(feedmill.NewID(feedmill.PrefixSubscription)) + "/stream"
	s.Store = oneListener{until: time.Now().Add(time.Hour)}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodHead, path, nil))
	if w.Code != 200 {
		t.Errorf("HEAD is answered %d", w.Code)
	}
	s.Store = oneListener{until: time.Now().Add(-time.Second)}
	if w := ask(s, "GET", path, ""); w.Code != 404 {
		t.Errorf("the stream of a listener at its end is answered %d", w.Code)
	}
}

func TestAnswersThatAreWrong(t *testing.T) {
	s := newTestServer(new(strings.Builder))
	path := "/events/listeners/" + string(feedmill.NewID(feedmill.PrefixSubscription)) + "/answers"
	for body, places := range map[string][]string{
		`{}`:       {""},
		`[]`:       {""},
		`["x",{}]`: {"/0", "/1/deliveryId", "/1/attempt", "/1/durationMs", "/1/status", "/1/error"},
		`[{"deliveryId":1,"attempt":0,"durationMs":-1,"status":99,"error":"","more":1}]`: {
			"/0/deliveryId", "/0/attempt", "/0/durationMs", "/0/status", "/0/error", "/0/more",
		},
		`[{"deliveryId":"d","attempt":1,"durationMs":"1","status":600}]`:   {"/0/durationMs", "/0/status"},
		`[{"deliveryId":"d","attempt":1,"durationMs":1e9,"error":"a\nb"}]`: {"/0/durationMs", "/0/error"},
	} {
		w := ask(s, "POST", path, body, "Content-Type", "application/json")
		var got []string
		for _, f := range readProblem(t, w).Errors {
			got = append(got, *f.Pointer)
		}
		if w.Code != 400 || strings.Join(got, " ") != strings.Join(places, " ") {
			t.Errorf("%s is answered %d with faults at %q, want %q", body, w.Code, got, places)
		}
	}
}

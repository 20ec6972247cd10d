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

// addListener makes a listener that ends at a time, and returns its path.
func (w *world) addListener(t *testing.T, until time.Time) string {
	t.Helper()
	l := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.workspace, Events: []string{"metric.*"}, State: feedmill.SubscriptionActive,
		ListenUntil: until, CreatedAt: now(), UpdatedAt: now(),
	}
	must(t, w.db.CreateSubscriptions(t.Context(), []feedmill.Subscription{l}, 0, nil))
	return "/events/listeners/" + string(l.ID)
}

// streams is a stream that a test makes.
type streams func(ctx context.Context, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded

func (s streams) Stream(ctx context.Context, _ feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
	return s(ctx, send)
}
func (streams) Answered(feedmill.ID, []feedmill.ID) {}
func (streams) Removed(feedmill.ID)                 {}
func (streams) Test(feedmill.Subscription, feedmill.NewEvent) (bool, error) {
	return false, nil
}

func TestStreamLines(t *testing.T) {
	until := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
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
		do   func(ctx context.Context, who *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded
		want string
	}{
		{"a delivery", func(_ context.Context, _ *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			send(alive)
			send(delivery)
			return feedmill.ListenerShutdown
		}, beat + `{"kind":"delivery","deliveryId":"dlv_1","eventId":"evt_1","type":"metric.created","resourceId":"m_1","attempt":3,"headers":{"a":"1","b":"2"},"body":"{\"a\":\"<\"}"}` + "\n" +
			`{"kind":"end","reason":"shutdown"}` + "\n"},
		{"a broken connection", func(_ context.Context, _ *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			send(alive)
			return feedmill.ListenerBroken
		}, beat},
		{"a credential that is revoked", func(ctx context.Context, who *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			send(alive)
			who.fail(feedmill.ErrUnauthenticated)
			<-ctx.Done()
			return feedmill.ListenerBroken
		}, beat + `{"kind":"end","reason":"credential"}` + "\n"},
		{"a credential that cannot be checked", func(_ context.Context, who *revocable, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
			who.fail(feedmill.ErrUnavailable)
			if err := send(alive); err != nil {
				t.Error(err)
			}
			return feedmill.ListenerBroken
		}, beat},
	} {
		t.Run(test.name, func(t *testing.T) {
			world := newWorld(t)
			world.Listeners = streams(func(ctx context.Context, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
				return test.do(ctx, world.auth, send)
			})
			w := ask(world.Server, "GET", world.addListener(t, until)+"/stream", "")
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
	world := newWorld(t)
	world.Listeners = streams(func(context.Context, func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
		t.Error("there is a stream")
		return feedmill.ListenerBroken
	})
	path := world.addListener(t, now().Add(time.Hour)) + "/stream"
	w := httptest.NewRecorder()
	world.ServeHTTP(w, httptest.NewRequest(http.MethodHead, path, nil))
	if w.Code != 200 {
		t.Errorf("HEAD is answered %d", w.Code)
	}
	path = world.addListener(t, now().Add(-time.Second)) + "/stream"
	if w := ask(world.Server, "GET", path, ""); w.Code != 404 {
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

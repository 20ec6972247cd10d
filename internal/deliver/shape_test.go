package deliver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/expression"
)

// What is signed is what is sent, and every attempt sends the same bytes.
func TestTransformedDelivery(t *testing.T) {
	var mu sync.Mutex
	var messages []feedmill.Message
	to := func(_ context.Context, sub feedmill.Subscription, m feedmill.Message) feedmill.Result {
		mu.Lock()
		defer mu.Unlock()
		if messages = append(messages, m); len(messages) < 4 {
			return answered500
		}
		return answered200
	}
	runDispatcher(t, Options{Shape: expression.New().Body, Schedule: feedmill.RetrySchedule{time.Second, time.Second, time.Second, time.Second}}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) {
			s.Shape.Transform = `{'z': event.data.n, 'a': event.type, 'm': event.data}`
		})
		due := h.acceptPayload("m_1", `{"id":"evt_1","type":"metric.created","timestamp":"x","resourceId":"m_1","data":{"n":1,"m":2}}`)
		h.dispatcher.Offer(due)
		time.Sleep(time.Minute)
		if d := h.delivery(due[0].ID); d.State != feedmill.DeliveryDelivered || d.Attempts != 4 {
			h.Errorf("the delivery is %+v", d)
		}
		var secrets feedmill.SigningSecrets
		h.must(json.Unmarshal(h.subscription(sub).Secrets, &secrets))
		for i, m := range messages {
			mac := hmac.New(sha256.New, []byte(secrets.Current))
			mac.Write(m.Payload)
			if want := `{"a":"metric.created","m":{"m":2,"n":1},"z":1}`; string(m.Payload) != want || m.Test {
				h.Errorf("attempt %d sends %s", i, m.Payload)
			}
			for name, want := range map[string]string{"X-Service-Signature": hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json", "X-Service-Test": ""} {
				if got := headerOf(m, name); got != want {
					h.Errorf("attempt %d has %s %q, want %q", i, name, got, want)
				}
			}
		}
	})
}

func headerOf(m feedmill.Message, name string) string {
	for _, h := range m.Header {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// A transformation that fails ends the delivery and nothing else; after a change it can be replayed.
func TestFailedTransformation(t *testing.T) {
	runDispatcher(t, Options{Shape: expression.New().Body, TargetAge: time.Second}, slow(0), func(h *harness) {
		bad := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.Shape.Transform = `{'n': event.data.missing}` })
		good := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.Shape.Preset = "text" })
		const payload = `{"id":"evt_1","type":"metric.created","timestamp":"x","resourceId":"m_1","data":{"n":1}}`
		var failed feedmill.ID
		for range 5 {
			for _, d := range h.acceptPayload("m_1", payload) {
				h.dispatcher.Offer([]feedmill.DueDelivery{d})
				if d.Subscription == bad {
					failed = d.ID
				}
			}
		}
		time.Sleep(time.Minute)
		if d := h.delivery(failed); d.State != feedmill.DeliveryExhausted || d.Reason != "transform-failed: no such key: missing" || d.Attempts != 0 {
			h.Errorf("the delivery is %+v", d)
		}
		if s := h.subscription(bad); s.Failures != 0 || h.sentTo(bad) != 0 || h.sentTo(good) != 5 || h.dispatcher.Breaker(bad) == feedmill.BreakerOpen {
			h.Errorf("%d failures, %d and %d attempts, breaker %s", s.Failures, h.sentTo(bad), h.sentTo(good), h.dispatcher.Breaker(bad))
		}
		h.change(bad, func(s *feedmill.Subscription) { s.Shape.Transform = `{'n': event.data.n}` })
		time.Sleep(time.Minute)
		h.must(h.store.CreateReplay(h.Context(), feedmill.NewReplay(feedmill.Replay{
			Workspace: h.ws, Subscription: bad, Selection: feedmill.ReplayExhausted, Since: h.began.Add(-time.Hour), Until: time.Now().AddDate(100, 0, 0), CreatedAt: time.Now(),
		}), nil))
		h.dispatcher.Wake()
		time.Sleep(2 * time.Minute)
		if n := h.sentTo(bad); n != 5 {
			h.Errorf("%d are sent after the change", n)
		}
	})
}

// A test event is transformed and marked; its data can be anything.
func TestOfATransformation(t *testing.T) {
	var got feedmill.Message
	to := func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		got = m
		return answered200
	}
	runDispatcher(t, Options{Shape: expression.New().Body}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) {
			s.Filter, s.Shape.Transform = `false`, `event.type + ' ' + event.resourceId + ' ' + string(event.data.n)`
		})
		a, err := h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "metric.updated", ResourceID: "m_1", Data: []byte(`{"n": 1.50}`)})
		if err != nil || a.Status != 200 || string(got.Payload) != "metric.updated m_1 1.5" || headerOf(got, "X-Service-Test") != "true" || !strings.HasPrefix(headerOf(got, "Content-Type"), "text/plain") {
			h.Errorf("%+v, %v: %s with %v", a, err, got.Payload, got.Header)
		}
		a, err = h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "metric.updated"})
		if err != nil || !strings.HasPrefix(a.Error, "transform-failed: ") {
			h.Errorf("a test that cannot be transformed: %+v, %v", a, err)
		}
		if _, err := h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "metric.updated", Data: []byte(`{"a":`)}); err == nil || fmt.Sprint(err) == "" {
			h.Errorf("a test with broken data: %v", err)
		}
	})
}

package api

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// deadVault seals nothing any more.
type deadVault struct{ Vault }

func (deadVault) Seal([]byte, string) ([]byte, error) { return nil, errors.New("the vault is dead") }

// careless is a publisher in whose transaction a panic must not happen.
type careless struct {
	Publisher
	t *testing.T
}

func (p careless) Publish(ctx context.Context, workspace feedmill.ID, events []feedmill.NewEvent, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error) {
	return p.Publisher.Publish(ctx, workspace, events, func(a []feedmill.Accepted) *feedmill.IdempotentResponse {
		defer func() {
			if r := recover(); r != nil {
				p.t.Errorf("a panic in the transaction: %v", r)
			}
		}()
		return keep(a)
	})
}

// An answer that cannot be kept is a fault of our own, and breaks nothing of
// the store that asks for it.
func TestAnswerThatCannotBeKept(t *testing.T) {
	w := newWorld(t)
	w.Publisher = careless{w.Publisher, t}
	sub, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	before := w.subscription(t, sub)
	w.Vault = deadVault{w.Vault}
	a := w.do(t, "POST", "/events", `{"type":"tag.created"}`, "Idempotency-Key", "k")
	if readProblem(t, a); a.Code != 500 || len(w.events(t)) != 1 {
		t.Errorf("publishing: %d %s, %d events", a.Code, a.Body, len(w.events(t)))
	}
	if _, err := w.db.KeptResponse(t.Context(), w.workspace, "key_test", "k", now()); !errors.Is(err, feedmill.ErrNotFound) {
		t.Errorf("something is kept: %v", err)
	}
	dlv := w.addDelivery(t, feedmill.Event{Type: "tag.created"})
	w.settle(t, dlv, feedmill.DeliveryExhausted, nil)
	a = w.do(t, "POST", "/events/deliveries/"+string(dlv.ID)+"/retry", "", "Idempotency-Key", "r")
	if readProblem(t, a); a.Code != 500 {
		t.Errorf("retrying: %d %s", a.Code, a.Body)
	}
	a = w.do(t, "POST", "/events/subscriptions/"+string(sub)+"/rotate_secret", "", "Idempotency-Key", "s")
	if readProblem(t, a); a.Code != 500 || string(w.subscription(t, sub).Secrets) != string(before.Secrets) {
		t.Errorf("rotating: %d %s", a.Code, a.Body)
	}
}

func TestKeepInsideNeverPanics(t *testing.T) {
	c := &call{idempotent: &idempotentCall{seal: func(answer) (*feedmill.IdempotentResponse, error) { return nil, errors.New("no") }}}
	for name, render := range map[string]func() answer{
		"sealing":   func() answer { return answer{} },
		"rendering": func() answer { panic("no") },
	} {
		if _, idempotent, err := c.keepInside(render); idempotent != nil || err == nil || !strings.Contains(err.Error(), "no") {
			t.Errorf("%s: %v, %v", name, idempotent, err)
		}
		if idempotent := c.keepOrFail(render); idempotent != nil || c.idempotent.failed == nil || c.idempotent.kept {
			t.Errorf("%s: %v, %v", name, idempotent, c.idempotent.failed)
		}
	}
}

// A key that is wrong hides no other fault, and nothing happens.
func TestBadOnceKey(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	for _, c := range []struct {
		path, body string
		faults     int
	}{
		{"/events/subscriptions?x=1", `{"url":7,"events":["tag.*"]}`, 3},
		{"/events/subscriptions", `{"url":"https://example.com/hook","events":["tag.*"]}`, 1},
		{"/events", `{"type":"tag.created"}`, 1},
		{"/events?x=1", `{"type":7}`, 3},
		{"/events/subscriptions/" + string(id) + "/test", "", 1},
		{"/events/subscriptions/" + string(id) + "/rotate_secret", "", 1},
		{"/events/subscriptions/" + string(id) + "/replay", `{"since":"2026-01-01T00:00:00Z"}`, 1},
	} {
		a := w.do(t, "POST", c.path, c.body, "Idempotency-Key", "a b")
		p := readProblem(t, a)
		if a.Code != 400 || len(p.Errors) != c.faults {
			t.Errorf("%s: %d %s, want %d faults", c.path, a.Code, a.Body, c.faults)
		}
	}
	if w.subscriptions(t) != 1 || len(w.events(t)) != 0 || len(w.store.replays) != 0 {
		t.Error("a refused request had an effect")
	}
}

// A request that takes long is in progress on every replica, and has no effect there. Its key is
// free when it has ended.
func TestInProgressOnEveryReplica(t *testing.T) {
	w := newWorld(t)
	replica := func(name string) *Server {
		o := w.Options
		o.Metrics, o.Permits = prometheus.NewRegistry(), share.NewPermits(w.db, name, w.Log)
		return New(o)
	}
	one, two := replica("one"), replica("two")
	body, send := io.Pipe()
	r := httptest.NewRequest("POST", "/events/subscriptions", body)
	r.Header.Set("Idempotency-Key", "k")
	first := httptest.NewRecorder()
	var ended sync.WaitGroup
	ended.Go(func() { one.ServeHTTP(first, r) })
	inProgress := func() bool {
		_, err := w.db.KeptResponse(t.Context(), w.workspace, "key_test", "k", now())
		return errors.Is(err, feedmill.ErrIdempotencyKeyInProgress)
	}
	for !inProgress() && t.Context().Err() == nil {
		runtime.Gosched()
	}
	const text = `{"url":"https://example.com/hook","events":["tag.*"]}`
	repeat := func() *httptest.ResponseRecorder {
		return ask(two, "POST", "/events/subscriptions", text, "Idempotency-Key", "k")
	}
	if got := repeat(); got.Code != 409 || readProblem(t, got).Type != "/problems/idempotency-in-progress" {
		t.Errorf("meanwhile: %d %s", got.Code, got.Body)
	}
	if got := ask(two, "POST", "/events/subscriptions", text, "Idempotency-Key", "other"); got.Code != 201 {
		t.Errorf("another key: %d %s", got.Code, got.Body)
	}
	_, err := io.WriteString(send, text)
	must(t, err)
	must(t, send.Close())
	ended.Wait()
	if got := repeat(); first.Code != 201 || got.Code != 201 || got.Body.String() != first.Body.String() || w.subscriptions(t) != 2 || inProgress() {
		t.Errorf("afterwards: %d %s, and again %d %s, %d subscriptions", first.Code, first.Body, got.Code, got.Body, w.subscriptions(t))
	}
}

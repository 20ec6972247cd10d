package app

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api/openapi"
)

func TestOpenPaths(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for path, want := range map[string]struct{ contentType, body string }{
		"/healthz":      {"application/json", `{"status":"ok"}`},
		"/readyz":       {"application/json", `{"status":"ready"}`},
		"/openapi.json": {"application/json", string(openapi.JSON())},
		"/docs/":        {"text/html; charset=utf-8", ""},
		"/docs/api":     {"text/html; charset=utf-8", ""},
	} {
		got := s.send(t, request{method: "GET", path: path, key: "-"})
		if got.status != 200 || got.header.Get("Content-Type") != want.contentType || (want.body != "" && got.body != want.body) {
			t.Errorf("%s: %d %v %.200s", path, got.status, got.header, got.body)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: headers are %v", path, got.header)
		}
	}
	docs := s.send(t, request{method: "GET", path: "/docs/", key: "-"})
	if !strings.HasPrefix(docs.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self';") {
		t.Errorf("the page's policy is %q", docs.header.Get("Content-Security-Policy"))
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]*)"`).FindAllStringSubmatch(docs.body, -1) {
		if got := s.send(t, request{method: "GET", path: m[1], key: "-"}); got.status != 200 && m[1] != "/ui/" { // which leads to the sign-in
			t.Errorf("the page refers to %s, which is answered %d", m[1], got.status)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	k := s.newKey(t, "", "api:read")
	s.send(t, request{method: "DELETE", path: "/keys/" + k.ID})
	s.send(t, request{method: "GET", path: "/nothing/" + k.ID})
	s.send(t, request{method: "BREW", path: "/nothing"})
	s.send(t, request{method: "GET", path: "/keys", key: "-"})
	metrics := s.send(t, request{method: "GET", path: "/metrics", key: "-", header: [][2]string{{"X-Request-Id", "mine"}}})
	if got := metrics.header.Get("X-Request-Id"); got != "mine" {
		t.Errorf("the request id is %q", got)
	}
	for _, line := range []string{
		`feedmill_http_requests_total{method="POST",route="/keys",status="201"} 1`,
		`feedmill_http_requests_total{method="DELETE",route="/keys/{id}",status="204"} 1`,
		`feedmill_http_requests_total{method="GET",route="/keys",status="401"} 1`,
		`feedmill_http_requests_total{method="GET",route="unmatched",status="404"} 1`,
		`feedmill_http_requests_total{method="other",route="unmatched",status="404"} 1`,
		`feedmill_http_request_seconds_count{route="/keys"} 2`,
		`# TYPE feedmill_http_request_seconds histogram`,
		`# TYPE go_goroutines gauge`,
	} {
		if !strings.Contains(metrics.body, line+"\n") {
			t.Errorf("the metrics do not have %s", line)
		}
	}
	// Labels are of the routes alone: what clients send does not make new ones.
	if strings.Contains(metrics.body, k.ID) || strings.Contains(metrics.body, k.WorkspaceID) {
		t.Error("the metrics name a record")
	}
}

// A server whose store is away is alive and not ready, and says so without
// saying why.
func TestReadiness(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{}
	s := start(t, setup{adapt: func(inner store) store { broken.store = inner; return broken }})
	for _, away := range []bool{false, true, false} {
		broken.fails.Store(away)
		ready := s.send(t, request{method: "GET", path: "/readyz", key: "-"})
		if alive := s.send(t, request{method: "GET", path: "/healthz", key: "-"}); alive.status != 200 {
			t.Errorf("a store that is away: %v; /healthz is answered %d", away, alive.status)
		}
		if !away {
			if ready.status != 200 {
				t.Errorf("/readyz is answered %d: %s", ready.status, ready.body)
			}
			continue
		}
		if ready.problem(t); ready.status != 503 || ready.header.Get("Retry-After") == "" || strings.Contains(ready.body, errBroken.Error()) {
			t.Errorf("/readyz is answered %d %v: %s", ready.status, ready.header, ready.body)
		}
		// A known key is remembered for a moment; an unknown one is not.
		write := s.send(t, request{method: "GET", path: "/keys", key: "fm_" + strings.Repeat("x", 43)})
		if write.problem(t); write.status != 503 || write.header.Get("Retry-After") == "" {
			t.Errorf("/keys is answered %d: %s", write.status, write.body)
		}
	}
	s.stop()
	if !strings.Contains(s.log.String(), errBroken.Error()) {
		t.Error("the log does not say why")
	}
}

// brokenStore is a store that fails on demand. Its changes fail before they
// have an effect.
type brokenStore struct {
	store
	fails, full atomic.Bool
}

var errBroken = errors.New("the disk of the test is full")

func (b *brokenStore) err() error {
	if b.fails.Load() {
		return errors.Join(feedmill.ErrUnavailable, errBroken)
	}
	if b.full.Load() {
		return &feedmill.Error{Kind: feedmill.ErrTooMany, Detail: "There is no room just now."}
	}
	return nil
}

func (b *brokenStore) Ping(ctx context.Context) error {
	if err := b.err(); err != nil {
		return err
	}
	return b.store.Ping(ctx)
}

func (b *brokenStore) KeyByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Key, error) {
	if err := b.err(); err != nil {
		return feedmill.Key{}, err
	}
	return b.store.KeyByHash(ctx, hash)
}

func (b *brokenStore) CreateKey(ctx context.Context, k feedmill.Key, response *feedmill.IdempotentResponse) error {
	if err := b.err(); err != nil {
		return err
	}
	return b.store.CreateKey(ctx, k, response)
}

func (b *brokenStore) KeepResponse(ctx context.Context, response feedmill.IdempotentResponse) error {
	if err := b.err(); err != nil {
		return err
	}
	return b.store.KeepResponse(ctx, response)
}

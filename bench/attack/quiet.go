package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// workspace is one that makes requests.
type workspace struct{ url, key, feed string }

// do makes a request and returns the answer, whatever its status.
func (w *workspace) do(ctx context.Context, method, path, contentType, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// upload makes a feed and returns its id.
func (w *workspace) upload(ctx context.Context, body string) (string, error) {
	status, answer, err := w.do(ctx, http.MethodPost, "/data_feeds?type=dataUpload", "application/json", body)
	if err != nil || status != http.StatusCreated {
		return "", fmt.Errorf("upload: %d %s, %w", status, answer, err)
	}
	_, after, _ := strings.Cut(answer, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id, nil
}

// kinds are what the quiet workspace does, in this order.
var kinds = []string{"upload", "read", "query", "publish"}

// taken is how long requests took, by kind.
type taken struct {
	mu sync.Mutex
	by map[string][]time.Duration
}

func (t *taken) add(kind string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.by[kind] = append(t.by[kind], took)
}

// all are the requests of every kind.
func (t *taken) all() (times []time.Duration) {
	for _, kind := range kinds {
		times = append(times, t.by[kind]...)
	}
	return times
}

// days begins a day of the workspace so many times a second, for a while: one that is slow
// does not put off the next, so that as many requests are made of a slow
// server as of a fast one. A request that fails ends it.
func (w *workspace) days(ctx context.Context, perSecond float64, length time.Duration) (*taken, error) {
	t := &taken{by: make(map[string][]time.Duration)}
	err := rig.Pace(ctx, int(perSecond*length.Seconds()), perSecond, func(ctx context.Context) error { return w.day(ctx, t) })
	return t, err
}

// day does everything once, one after the other.
func (w *workspace) day(ctx context.Context, t *taken) error {
	for i, step := range []struct{ method, path, body string }{
		{http.MethodPut, "/data_feeds/" + w.feed + "/data", `[{"a":1},{"a":2}]`},
		{http.MethodGet, "/data_feeds/" + w.feed + "/data", ""},
		{http.MethodPost, "/data_feeds/" + w.feed + "/query", `{"fields":[{"field":"a","aggregate":"max"}]}`},
		{http.MethodPost, "/events", `{"type":"metric.created"}`},
	} {
		began := time.Now()
		status, answer, err := w.do(ctx, step.method, step.path, "application/json", step.body)
		if err != nil || status >= 300 {
			return fmt.Errorf("%s %s: %d %s, %w", step.method, step.path, status, answer, err)
		}
		t.add(kinds[i], time.Since(began))
	}
	return nil
}

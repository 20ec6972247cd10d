package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// neighbour is a workspace that goes about its business beside an attack: it
// uploads, reads, refreshes, publishes and is delivered to, and nothing of it fails.
type neighbour struct {
	url, key     string
	upload, rest string // its feeds
	rounds       atomic.Int64
	published    atomic.Int64
	delivered    sync.Map // ids of deliveries
	took         []time.Duration
	requests     atomic.Int64 // as many as took has
	failed       atomic.Bool
}

// newNeighbour makes a workspace with a feed of each kind and a subscription.
func newNeighbour(t *testing.T, p *process) *neighbour {
	t.Helper()
	n := &neighbour{url: p.url}
	workspace := must(t, http.StatusCreated, sharedFirstKey, p.url+"/workspaces", `{"name":"quiet"}`)
	n.key = must(t, http.StatusCreated, sharedFirstKey, p.url+"/keys",
		fmt.Sprintf(`{"name":"k","scopes":["api:read","api:write","events:publish"],"workspaceId":%q}`, workspace["id"]))["key"].(string)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n.delivered.Store(r.Header.Get("x-service-delivery"), true)
	}))
	t.Cleanup(sink.Close)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `[{"id":1,"at":%d}]`, n.rounds.Load())
	}))
	t.Cleanup(source.Close)
	must(t, http.StatusCreated, n.key, n.url+"/events/subscriptions", fmt.Sprintf(`{"url":%q,"events":["metric.*"]}`, sink.URL))
	n.rest = must(t, http.StatusCreated, n.key, n.url+"/data_feeds?type=rest", fmt.Sprintf(`{"name":"r","request":{"url":%q}}`, source.URL))["id"].(string)
	n.upload = must(t, http.StatusCreated, n.key, n.url+"/data_feeds?type=dataUpload", `[{"a":1},{"a":2}]`)["id"].(string)
	return n
}

// live goes about its business until ctx ends, and at least once.
func (n *neighbour) live(ctx context.Context) error {
	for {
		if err := n.day(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		n.rounds.Add(1)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// day does everything once.
func (n *neighbour) day(ctx context.Context) error {
	round := n.rounds.Load()
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{http.MethodPut, "/data_feeds/" + n.upload + "/data", fmt.Sprintf(`[{"a":%d}]`, round), http.StatusOK, ""},
		{http.MethodGet, "/data_feeds/" + n.upload + "/data", "", http.StatusOK, fmt.Sprintf(`[{"a":%d}]`, round)},
		{http.MethodPost, "/data_feeds/" + n.rest + "/refresh", "", http.StatusAccepted, ""},
		{http.MethodPost, "/data_feeds/preview?type=dataUpload", `[{"a":1}]`, http.StatusOK, ""},
		{http.MethodPost, "/data_feeds/" + n.upload + "/query", `{"fields":[{"field":"a","aggregate":"max"}]}`, http.StatusOK, ""},
		{http.MethodPost, "/events", `{"type":"metric.created"}`, http.StatusAccepted, ""},
	} {
		began := time.Now()
		status, answer, err := request(ctx, n.key, step.method, n.url+step.path, nil, strings.NewReader(step.body))
		n.took = append(n.took, time.Since(began))
		n.requests.Add(1)
		if err != nil {
			return fmt.Errorf("%s %s: %w", step.method, step.path, err)
		}
		if status != step.status || step.want != "" && strings.TrimSpace(answer) != step.want {
			return fmt.Errorf("%s %s: %d %s", step.method, step.path, status, answer)
		}
	}
	n.published.Add(1)
	return nil
}

// slowest is what 99 of 100 requests took at most since it was last called, and how many there were.
func (n *neighbour) slowest() (took time.Duration, requests int) {
	slices.Sort(n.took)
	took, requests = n.took[(len(n.took)-1)*99/100], len(n.took)
	n.took = nil
	n.requests.Store(0)
	return took, requests
}

// awaitDelivered waits until everything that was published has arrived, and
// nothing else has.
func (n *neighbour) awaitDelivered(t *testing.T) {
	t.Helper()
	var arrived, published int64
	eventually(t, "everything of the neighbour is delivered", func() bool {
		arrived, published = 0, n.published.Load()
		n.delivered.Range(func(any, any) bool { arrived++; return true })
		return arrived >= published
	})
	if arrived != published {
		t.Errorf("%d deliveries arrived of %d events", arrived, published)
	}
}

// request makes a request with any body.
func request(ctx context.Context, key, method, url string, header map[string]string, body io.Reader) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// alone has the neighbour go about its business without an attack for a while.
func (n *neighbour) alone(t *testing.T) {
	t.Helper()
	stop := n.start(t)
	for began := time.Now(); time.Since(began) < longOr(0, 4*time.Second) || n.requests.Load() < enoughRequests && !n.failed.Load(); {
		time.Sleep(time.Millisecond)
	}
	stop()
}

// start has the neighbour go about its business until the function is called that it returns.
func (n *neighbour) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var living sync.WaitGroup
	living.Go(func() {
		if err := n.live(ctx); err != nil {
			n.failed.Store(true)
			t.Errorf("the neighbour: %v", err)
		}
	})
	return func() {
		cancel()
		living.Wait()
	}
}

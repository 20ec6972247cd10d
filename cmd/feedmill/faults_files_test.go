package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestFewFiles gives the server few file descriptors, and a workspace with more
// silent endpoints than it could have connections to. An endpoint of another
// workspace that answers gets everything at the first attempt: none is charged
// because the server had no descriptor.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	defer silent.Close()
	defer close(end)
	book := newLedger()
	var late atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Service-Attempt") != "1" {
			late.Add(1)
		}
		w.Header().Set("Connection", "close") // each needs a descriptor of its own
		book.note(t, r)
	}))
	defer sink.Close()

	const files = 256
	p := serveWithFiles(t, files)
	book.subscribe(t, p, sink)
	other := p.otherWorkspace(t)
	for range files / 2 {
		must(t, http.StatusCreated, other, p.url+"/events/subscriptions",
			fmt.Sprintf(`{"url":%q,"events":["metric.*"],"delivery":{"timeout":"3s"}}`, silent.URL))
	}
	for range 20 {
		must(t, http.StatusAccepted, other, p.url+"/events", `{"type":"metric.created"}`)
	}
	stop := book.publish(t, "1")
	book.awaitAcknowledged(t, 300)
	stop()
	n, _ := book.awaitAll(t)
	if late.Load() > 0 {
		t.Errorf("of %d deliveries %d came after an attempt that failed here", n*subscriptions, late.Load())
	}
	p.mustStop(t)
}

// otherWorkspace makes a workspace and returns a key of it.
func (p *process) otherWorkspace(t *testing.T) (key string) {
	t.Helper()
	workspace := must(t, http.StatusCreated, sharedFirstKey, p.url+"/workspaces", `{"name":"other"}`)
	return must(t, http.StatusCreated, sharedFirstKey, p.url+"/keys",
		fmt.Sprintf(`{"name":"k","scopes":["api:write","events:publish"],"workspaceId":%q}`, workspace["id"]))["key"].(string)
}

// must makes a POST that is answered with the status, and returns its data.
func must(t *testing.T, status int, key, url, body string) map[string]any {
	t.Helper()
	resp, answer, err := sendAs(key, http.MethodPost, url, body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("POST %s: %v %s, %v", url, resp, answer, err)
	}
	var made struct{ Data map[string]any }
	if err := json.Unmarshal(answer, &made); err != nil {
		t.Fatal(err)
	}
	return made.Data
}

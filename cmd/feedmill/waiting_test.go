package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestChangesCountAtOnce lets deliveries wait for an hour, by a rate limit and by
// a pause, and then ends what they wait for.
func TestChangesCountAtOnce(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer sink.Close()
	p := serve(t, t.TempDir(), onLoopback...)
	id := p.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"],"delivery":{"rateLimit":{"requests":1,"per":"1h"}}}`, sink.URL))
	change := func(body string) {
		t.Helper()
		resp, answer, err := send(http.MethodPatch, p.url+"/events/subscriptions/"+id, body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %s, %v", body, resp, answer, err)
		}
	}
	publishMany(t, p, 5)
	awaitCount(t, &arrived, 1)
	change(`{"delivery":{"rateLimit":null}}`)
	awaitCount(t, &arrived, 5)
	change(`{"state":"paused"}`)
	publishMany(t, p, 5)
	change(`{"state":"active"}`)
	awaitCount(t, &arrived, 10)
	p.mustStop(t)
}

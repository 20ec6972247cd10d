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

// One look at large events holds a few megabytes of them, and the looks together bring
// each of them once.
func TestStreamOfLargeEvents(t *testing.T) {
	w := newWorld(t)
	const events = 40
	for range events {
		if a := w.do(t, "POST", "/events", `{"type":"tag.created","data":{"text":"`+strings.Repeat("x", 240_000)+`"}}`); a.Code != http.StatusAccepted {
			t.Fatalf("%d: %s", a.Code, a.Body)
		}
	}
	c := &call{r: httptest.NewRequest(http.MethodGet, "/events/stream", nil)}
	c.who.Workspace = w.workspace
	tail := &eventTail{sent: make(map[feedmill.ID]struct{}), after: feedmill.FirstID(feedmill.PrefixEvent, now().Add(-time.Minute))}
	seen := make(map[feedmill.ID]int)
	for look := 0; ; look++ {
		// Nothing is too late for this test, however slow it is.
		tail.after = feedmill.FirstID(feedmill.PrefixEvent, now().Add(-time.Minute))
		found, skipped, err := w.newEvents(t.Context(), c, tail)
		must(t, err)
		if held := len(found) * 240_000; held > maxListBytes+512<<10 {
			t.Fatalf("look %d brings %d events, of %d bytes", look, len(found), held)
		}
		for _, e := range found {
			seen[e.ID]++
		}
		for id := range seen {
			tail.sent[id] = struct{}{}
		}
		if more := len(seen) < events; skipped != more && look == 0 {
			t.Errorf("after %d of %d events skipped is %v", len(seen), events, skipped)
		}
		if len(found) == 0 {
			break
		}
	}
	if len(seen) != events {
		t.Errorf("%d of %d events came", len(seen), events)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("event %s came %d times", id, times)
		}
	}
}

// A workspace has so many streams, and one that is closed makes room.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int)
	for range streamsEach {
		begun := make(chan struct{}, 1)
		go func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events/stream", nil)
			r.Header.Set("Authorization", "Bearer key")
			out := &begins{ResponseRecorder: httptest.NewRecorder(), begun: begun}
			w.ServeHTTP(out, r)
			ended <- out.Code
		}()
		<-begun
	}
	if a := w.do(t, http.MethodHead, "/events/stream", ""); a.Code != http.StatusOK {
		t.Errorf("HEAD is answered %d", a.Code)
	}
	if a := w.do(t, http.MethodGet, "/events/stream", ""); a.Code != http.StatusTooManyRequests || !strings.Contains(a.Body.String(), "too-many-streams") {
		t.Errorf("one more is answered %d: %s", a.Code, a.Body)
	}
	stop()
	for range streamsEach {
		if code := <-ended; code != http.StatusOK {
			t.Errorf("a stream was answered %d", code)
		}
	}
	if held := w.shares.streams.Held(string(w.workspace)); held != 0 {
		t.Errorf("%d places are still taken", held)
	}
}

// begins tells when the first line of an answer is written.
type begins struct {
	*httptest.ResponseRecorder
	begun chan struct{}
}

func (b *begins) Write(p []byte) (int, error) {
	select {
	case b.begun <- struct{}{}:
	default:
	}
	return b.ResponseRecorder.Write(p)
}

package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
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
	c := &call{r: httptest.NewRequest(http.MethodGet, "/events/stream", nil), context: t.Context()}
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
	running := *w.feeds.add(t, feedmill.FeedREST, feedmill.RefreshRunning).LastRefresh
	for path, of := range map[string]struct {
		slots *share.Slots
		each  int
	}{
		"/events/stream":    {w.shares.streams, streamsEach},
		refreshURL(running): {w.shares.watches, watchesEach},
	} {
		ask := func(ctx context.Context, method string, out http.ResponseWriter) {
			r := httptest.NewRequestWithContext(ctx, method, path, nil)
			r.Header.Set("Authorization", "Bearer key")
			r.Header.Set("Accept", "text/event-stream")
			w.ServeHTTP(out, r)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan int)
		for range of.each {
			begun := make(chan struct{}, 1)
			go func() {
				out := &begins{ResponseRecorder: httptest.NewRecorder(), begun: begun}
				ask(ctx, http.MethodGet, out)
				ended <- out.Code
			}()
			<-begun
		}
		head, more := httptest.NewRecorder(), httptest.NewRecorder()
		if ask(t.Context(), http.MethodHead, head); head.Code != http.StatusOK {
			t.Errorf("HEAD %s is answered %d", path, head.Code)
		}
		if ask(t.Context(), http.MethodGet, more); more.Code != http.StatusTooManyRequests || !strings.Contains(more.Body.String(), "too-many-streams") {
			t.Errorf("one more of %s is answered %d: %s", path, more.Code, more.Body)
		}
		stop()
		for range of.each {
			if code := <-ended; code != http.StatusOK {
				t.Errorf("a stream of %s was answered %d", path, code)
			}
		}
		if held := of.slots.Held(string(w.workspace)); held != 0 {
			t.Errorf("%d places of %s are still taken", held, path)
		}
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

package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// watcher keeps what a stream sends.
type watcher struct {
	*httptest.ResponseRecorder
	mu    sync.Mutex
	begun time.Time
	lines []string
}

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		if event, ok := strings.CutPrefix(line, "event: "); ok || strings.HasPrefix(line, ":") {
			w.lines = append(w.lines, time.Since(w.begun).String()+" "+strings.TrimSpace(event))
		}
	}
	return w.ResponseRecorder.Write(b)
}

// watch follows a refresh. What was sent can be read once all is quiet.
func watch(ctx context.Context, s *Server, r feedmill.Refresh) (*watcher, chan struct{}) {
	w := &watcher{ResponseRecorder: httptest.NewRecorder(), begun: time.Now()}
	q := httptest.NewRequestWithContext(ctx, "GET", refreshURL(r), http.NoBody)
	q.Header.Set("Accept", "text/event-stream")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.ServeHTTP(w, q)
	}()
	synctest.Wait()
	return w, ended
}

func (w *watcher) saw(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(w.lines, ", "); got != strings.Join(want, ", ") {
		t.Errorf("saw %s, want %s", got, strings.Join(want, ", "))
	}
}

func TestRefreshIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := newWorld(t)
		r := *world.feeds.add(t, feedmill.FeedREST, feedmill.RefreshRunning).LastRefresh
		w, ended := watch(t.Context(), world.Server, r)
		for range 5 { // faster than anybody wants to know
			time.Sleep(90 * time.Millisecond)
			r.Pages++
			r.RowsIn += 10
			world.feeds.record(t, r)
		}
		time.Sleep(20 * time.Second)
		r.State, r.EndedAt, r.Version = feedmill.RefreshSucceeded, now(), 1
		world.feeds.record(t, r)
		<-ended
		w.saw(t, "0s progress", "250ms progress", "500ms progress", "15s : keep-alive", "20.5s done")
		if got := w.Header().Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("the type is %s", got)
		}
		_, last, _ := strings.Cut(w.Body.String(), "event: done\n")
		if !strings.HasPrefix(last, `data: {"id":"`+string(r.ID)+`","state":"succeeded"`) || !strings.HasSuffix(last, "}\n\n") ||
			!strings.Contains(last, `"pages":5,`) || strings.Contains(last, `"trace"`) {
			t.Errorf("the last event is %s", last)
		}
		// Whoever comes late hears how it ended.
		late, ended := watch(t.Context(), world.Server, r)
		<-ended
		late.saw(t, "0s done")
	})
}

func TestWatchEnds(t *testing.T) {
	for name, end := range map[string]func(w *world, feed feedmill.ID, cancel context.CancelFunc) error{
		"with the client": func(_ *world, _ feedmill.ID, cancel context.CancelFunc) error { cancel(); return nil },
		"with the server": func(w *world, _ feedmill.ID, _ context.CancelFunc) error { w.Stop(); return nil },
		"with the feed": func(w *world, feed feedmill.ID, _ context.CancelFunc) error {
			err := w.db.DeleteFeed(context.Background(), w.workspace, feed, now(), nil)
			return err
		},
		"with the credential": func(w *world, _ feedmill.ID, _ context.CancelFunc) error {
			w.auth.fail(feedmill.ErrUnauthenticated)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := newWorld(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := *world.feeds.add(t, feedmill.FeedREST, feedmill.RefreshRunning).LastRefresh
				w, ended := watch(ctx, world.Server, r)
				must(t, end(world, r.Feed, cancel))
				<-ended
				w.saw(t, "0s progress")
			})
		})
	}
}

func TestWhoWantsEvents(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/event-stream": true, "text/event-stream, */*;q=0.1": true,
		"application/json, text/event-stream": false, "application/json;q=0.5, text/event-stream": true, "text/event-stream;q=0": false, "text/html": false,
	} {
		c := &call{r: httptest.NewRequest("GET", "/", http.NoBody)}
		if accept != "" {
			c.r.Header.Set("Accept", accept)
		}
		if got := c.wantsEvents(); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

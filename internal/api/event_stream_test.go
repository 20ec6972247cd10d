package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// A page of large events holds a few megabytes of them, and the pages together bring
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
	for range 2 { // the second look brings nothing
		look := tail.begin(now())
		for pages := 0; !look.done; pages++ {
			found, err := w.newEvents(t.Context(), c, tail, look)
			must(t, err)
			if held := len(found) * 240_000; held > maxListBytes+512<<10 {
				t.Fatalf("page %d has %d events, of %d bytes", pages, len(found), held)
			}
			for _, e := range found {
				seen[e.ID]++
			}
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

// A resumed stream brings the events that were committed after the last one that the
// client received although their ids are older, and all of more than a page.
func TestResumedStreamBringsLateEvents(t *testing.T) {
	w := newWorld(t)
	accept := func(at time.Time, n int) (ids []feedmill.ID) {
		var events []feedmill.Event
		for i := range n {
			id := feedmill.DerivedID(feedmill.PrefixEvent, feedmill.FirstID(feedmill.PrefixEvent, at), i)
			e := feedmill.Event{ID: id, Workspace: w.workspace, Type: "tag.created", Timestamp: at, Payload: []byte("{}")}
			events, ids = append(events, e), append(ids, e.ID)
		}
		_, _, err := w.db.Accept(t.Context(), events, nil)
		must(t, err)
		return ids
	}
	read := func(last feedmill.ID, n int) (got []feedmill.ID) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute) // what is missing never comes
		defer stop()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events/stream", nil)
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set("Last-Event-ID", string(last))
		pipe, out := io.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.ServeHTTP(&piped{ResponseRecorder: httptest.NewRecorder(), to: out}, r)
			out.Close()
		}()
		lines := bufio.NewScanner(pipe)
		for len(got) < n && lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				got = append(got, feedmill.ID(id))
			}
		}
		stop()
		pipe.Close()
		<-ended
		return got
	}
	at := now()
	first := accept(at.Add(-time.Hour), 1)
	last := accept(at, 1)
	if got := read(first[0], 1); !slices.Equal(got, last) {
		t.Fatalf("the stream begins with %v, want %v", got, last)
	}
	late := accept(at.Add(-tailLate+time.Second), 1)
	fresh := accept(at.Add(time.Millisecond), 3*tailPage+1) // all in one millisecond
	if got, want := read(last[0], 1+len(fresh)), append(late, fresh...); !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("%d events came behind the last, want %d", len(got), len(want))
	}
}

func sorted(ids []feedmill.ID) []feedmill.ID { return slices.Sorted(slices.Values(ids)) }

// piped is a response that is read while it is written.
type piped struct {
	*httptest.ResponseRecorder
	to io.Writer
}

func (p *piped) Write(b []byte) (int, error) { return p.to.Write(b) }

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

package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// maxWait is how long a client can have an answer wait.
const maxWait = 60 * time.Second

// awaitFeed answers with a feed, after its refresh where the client prefers so.
// An answer that is kept for its Idempotency-Key was written together with the
// feed: the client waits as long, and sees what a repetition will see.
func (s *Server) awaitFeed(c *call, f feedmill.Feed, render func(feedmill.Feed) answer) answer {
	wait, asked := preferredWait(c.r.Header)
	if !asked {
		return render(f)
	}
	ctx, done := s.untilStopped(c.ctx(), wait)
	later, err := s.Feeds.Await(ctx, c.who.Workspace, f.ID)
	done()
	if err != nil {
		return render(f) // which is made, whatever can be said of it now
	}
	if c.idempotent == nil {
		f = later
	}
	a := render(f)
	a.set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	return a
}

// untilStopped is a context that ends after a time, and at once when the server
// is to stop.
func (s *Server) untilStopped(ctx context.Context, after time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, after)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.stopped:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watch.Wait()
	}
}

// preferredWait reads how long the client prefers to wait (RFC 7240, section
// 4.3), at most [maxWait]. A preference that cannot be understood is none.
func preferredWait(h http.Header) (time.Duration, bool) {
	for _, preference := range splitUnquoted(strings.Join(h.Values("Prefer"), ","), ',') {
		preference = splitUnquoted(preference, ';')[0] // without parameters
		name, value, _ := strings.Cut(preference, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		if err != nil {
			return 0, false
		}
		return min(time.Duration(seconds)*time.Second, maxWait), true
	}
	return 0, false
}

// splitUnquoted splits a header at a separator that does not stand in quotes.
func splitUnquoted(text string, separator byte) []string {
	var parts []string
	begin, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case quoted && text[i] == '\\':
			i++
		case !quoted && text[i] == separator:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

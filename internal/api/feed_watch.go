package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// watchPace is how often a refresh that is watched is looked at.
	watchPace = 250 * time.Millisecond
	// watchPulse is how often somebody who watches gets a sign of life.
	watchPulse = 15 * time.Second
	// watchPatience is how long one look may take.
	watchPatience = 10 * time.Second
)

// wantsEvents reports whether the client would rather have events than a document.
func (c *call) wantsEvents() bool {
	for _, media := range acceptedTypes(strings.Join(c.r.Header.Values("Accept"), ",")) {
		switch {
		case media == "text/event-stream":
			return true
		case covers(media, "application/json"):
			return false
		}
	}
	return false
}

// watchRefresh answers with how far a refresh has come, as server-sent events:
// "progress" whenever something has changed, and "done" at the end. Whoever
// comes late, or again, begins with how it stands.
func (s *Server) watchRefresh(c *call, r feedmill.Refresh) (answer, error) {
	giveBack, err := s.shares.takeWatch(c)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, contentType: "text/event-stream"}
	a.set("Vary", "Accept")
	a.set("Cache-Control", "no-store")
	a.set("X-Accel-Buffering", "no") // proxies pass on each event as it comes
	a.stream = func(ctx context.Context, w http.ResponseWriter) {
		defer giveBack()
		ctx, stop := s.whileAdmitted(ctx, c, feedmill.ScopeRead)
		defer stop()
		s.streamRefresh(ctx, c, r, liveWriter{w, http.NewResponseController(w)})
	}
	return a, nil
}

// streamRefresh goes on until the refresh has ended or is gone, the client is
// gone or not admitted any more, or the server stops.
func (s *Server) streamRefresh(ctx context.Context, c *call, r feedmill.Refresh, out liveWriter) {
	look, pulse := time.NewTicker(watchPace), time.NewTicker(watchPulse)
	defer look.Stop()
	defer pulse.Stop()
	var sent []byte
	for {
		name := "progress"
		if ended(r) {
			name = "done"
		}
		if text := jsonAnswer(http.StatusOK, viewRefresh(r)).body; ended(r) || !bytes.Equal(text, sent) {
			if err := out.write("event: %s\ndata: %s\n\n", name, text); err != nil || ended(r) {
				return
			}
			sent = text
		}
		select {
		case <-ctx.Done():
			return
		case <-s.stopped:
			return
		case <-pulse.C:
			if out.write(": keep-alive\n\n") != nil {
				return
			}
		case <-look.C:
			later, err := s.watchedRefresh(ctx, c.who.Workspace, r)
			switch {
			case errors.Is(err, feedmill.ErrNotFound):
				return
			case err == nil: // what cannot be read now is read the next time
				r = later
			}
		}
	}
}

func (s *Server) watchedRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh) (feedmill.Refresh, error) {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return s.Store.Refresh(ctx, workspace, r.Feed, r.ID)
}

// liveWriter writes what arrives as it is written.
type liveWriter struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

func (e liveWriter) write(format string, args ...any) error {
	e.ctrl.SetWriteDeadline(time.Now().Add(lineTimeout)) // a recorder in a test has none
	if _, err := fmt.Fprintf(e.w, format, args...); err != nil {
		return err
	}
	return e.ctrl.Flush()
}

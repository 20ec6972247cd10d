package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

const (
	// tailPace is how often a stream of events looks for new ones.
	tailPace = 500 * time.Millisecond
	// tailLate is how much later than its id an event may come to be seen: requests
	// are committed together, and by several replicas.
	tailLate = 3 * time.Second
	// tailPage is how many events are read at once, and tailMost how many one look
	// brings, or maxListBytes of payloads. Of more, the newest come first, after a
	// word that some were skipped.
	tailPage = 500
	tailMost = 5000
)

// eventTail is what a stream of events has sent.
type eventTail struct {
	query feedmill.EventQuery
	// sent are the events that were sent of those that are looked at again.
	sent map[feedmill.ID]struct{}
	// after is the oldest id that counts.
	after feedmill.ID
}

// streamEvents answers with what happens in the workspace, as server-sent events. The id
// of each is the event's, so that whoever comes again goes on behind it.
func (s *Server) streamEvents(c *call) (answer, error) {
	t := &eventTail{
		query: feedmill.EventQuery{Types: s.typesParameter(c), ResourceID: c.query["resourceId"]},
		sent:  make(map[feedmill.ID]struct{}), after: feedmill.FirstID(feedmill.PrefixEvent, now()),
	}
	since := c.timeParameter("since")
	if !since.IsZero() {
		t.after = feedmill.FirstID(feedmill.PrefixEvent, since)
	}
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		id, err := feedmill.ParseID(feedmill.PrefixEvent, last)
		if err != nil {
			c.fault(feedmill.Fault{Header: "Last-Event-ID", Detail: "This is the id of an event that a stream has brought."})
		}
		if since.IsZero() || id > t.after { // a browser that comes again sends both
			t.after = id
		}
		t.sent[id] = struct{}{}
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	giveBack, err := s.shares.takeStream(c)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, contentType: "text/event-stream"}
	a.set("Cache-Control", "no-store")
	a.set("X-Accel-Buffering", "no") // proxies pass on each event as it comes
	a.stream = func(ctx context.Context, w http.ResponseWriter) {
		defer giveBack()
		ctx, stop := s.whileAdmitted(share.InBackground(ctx, string(c.who.Workspace)), c, feedmill.ScopeRead)
		defer stop()
		s.tailEvents(ctx, c, t, liveWriter{w, http.NewResponseController(w)})
	}
	return a, nil
}

// tailEvents goes on until the client is gone or not admitted any more, or the
// server stops.
func (s *Server) tailEvents(ctx context.Context, c *call, t *eventTail, out liveWriter) {
	look, pulse := time.NewTicker(tailPace), time.NewTicker(watchPulse)
	defer look.Stop()
	defer pulse.Stop()
	if out.write(": listening\n\n") != nil {
		return
	}
	for {
		if s.sendNew(ctx, c, t, out) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.stopped:
			return
		case <-pulse.C:
			if out.write(": still there\n\n") != nil {
				return
			}
		case <-look.C:
		}
	}
}

// sendNew sends the events that were not sent, and returns an error where the client
// does not take them. What cannot be read now is read the next time.
func (s *Server) sendNew(ctx context.Context, c *call, t *eventTail, out liveWriter) error {
	giveBack, err := s.shares.lists.Take(ctx)
	if err != nil {
		return nil
	}
	defer giveBack()
	found, skipped, err := s.newEvents(ctx, c, t)
	if err != nil {
		return nil
	}
	if skipped {
		if err := out.write("event: skipped\ndata: {}\n\n"); err != nil {
			return err
		}
	}
	for _, v := range found {
		if err := out.write("id: %s\nevent: event\ndata: %s\n\n", v.ID, jsonAnswer(http.StatusOK, v).body); err != nil {
			return err
		}
	}
	return nil
}

// newEvents are the events that were not sent, oldest first, and whether there were
// more than are sent at once.
func (s *Server) newEvents(ctx context.Context, c *call, t *eventTail) (_ []eventView, skipped bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	q := t.query
	q.Limit, q.MaxBytes, q.Since = tailPage, maxListBytes, t.after.Time()
	began, bytes := now(), 0
	var events []feedmill.Event
	for {
		page, err := s.Store.Events(ctx, c.who.Workspace, q)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			if _, sent := t.sent[e.ID]; !sent && e.ID >= t.after {
				events = append(events, e)
				bytes += len(e.Payload)
			}
		}
		skipped = len(events) >= tailMost || bytes >= maxListBytes
		whole := q.Fit(page) == len(page) // and not cut at its bytes
		if skipped || whole && len(page) < q.Limit {
			break
		}
		q.Before, q.MaxBytes = page[len(page)-1].ID, maxListBytes-bytes
	}
	slices.Reverse(events)
	views, err := s.routedEvents(ctx, c.who.Workspace, events, maxListedRoutes, maxListedRoutes)
	if err != nil {
		return nil, false, err
	}
	for _, e := range events {
		t.sent[e.ID] = struct{}{}
	}
	if late := feedmill.FirstID(feedmill.PrefixEvent, began.Add(-tailLate)); late > t.after {
		t.after = late
		for id := range t.sent {
			if id < late {
				delete(t.sent, id)
			}
		}
	}
	return views, skipped, nil
}

package api

import (
	"context"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

const (
	// tailPace is how often a stream of events looks for new ones.
	tailPace = 500 * time.Millisecond
	// tailLate is how much later than its id an event may be committed: requests
	// share transactions, and several replicas write. Most are visible within
	// tailSoon. Each look goes back that far, and one every tailFull as far as tailLate.
	tailLate = 40 * time.Second
	tailSoon = 3 * time.Second
	tailFull = 10 * time.Second
	// tailLong is after how long a look ends, so that the next one can go back again.
	tailLong = 5 * time.Second
	// tailAgain is how far a resumed stream goes back behind the last event that the
	// client received: an event that was committed late may have an older id. It covers
	// tailLate, the time between two looks that go back that far, and the clocks of replicas.
	tailAgain = tailLate + tailFull + 2*tailLong
	// tailPage is how many events are read at once, or maxListBytes of payloads.
	tailPage = 500
)

// eventTail is what a stream of events has sent.
type eventTail struct {
	query feedmill.EventQuery
	// sent are the events from after on that were sent.
	sent map[feedmill.ID]struct{}
	// after is the oldest id that can still be unsent.
	after feedmill.ID
	// full is when the last look went back to after, zero where the next one must.
	full time.Time
}

// streamEvents answers with what happens in the workspace, as server-sent events. The id
// of each is the event's. A client that resumes behind it receives the events of the time
// before it again, because some of them may have been committed after it.
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
			c.fault(feedmill.Fault{Header: "Last-Event-ID", Detail: "Last-Event-ID must be the ID of an event from the stream."})
		}
		if again := feedmill.FirstID(feedmill.PrefixEvent, id.Time().Add(-tailAgain)); since.IsZero() || again > t.after { // a browser that resumes sends both
			t.after = again
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
			if out.write(": keep-alive\n\n") != nil {
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
	for look := t.begin(now()); !look.done; {
		found, err := s.newEvents(ctx, c, t, look)
		if err != nil {
			t.full = time.Time{}
			return nil
		}
		for _, v := range found {
			if err := out.write("id: %s\nevent: event\ndata: %s\n\n", v.ID, jsonAnswer(http.StatusOK, v).body); err != nil {
				return err
			}
		}
	}
	return nil
}

// tailLook goes once through the events that can be unsent, page by page.
type tailLook struct {
	began time.Time
	// from is where the next page begins, and full says that the first began at the
	// oldest event that can be unsent. read says that there was a page, done that it was the last.
	from       feedmill.ID
	full       bool
	read, done bool
}

// begin begins a look. While the last full one has sent everything and is not long
// ago, a look goes back only as far as new events are likely to be.
func (t *eventTail) begin(at time.Time) *tailLook {
	l := &tailLook{began: at, from: t.after, full: at.Sub(t.full) >= tailFull}
	if l.full {
		t.full = at
	} else {
		l.from = max(t.after, feedmill.FirstID(feedmill.PrefixEvent, at.Add(-tailSoon)))
	}
	return l
}

// newEvents are the events of the next page that were not sent, oldest first.
func (s *Server) newEvents(ctx context.Context, c *call, t *eventTail, l *tailLook) ([]eventView, error) {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	q := t.query
	q.Limit, q.MaxBytes, q.Oldest, q.Since, q.After = tailPage, maxListBytes, true, l.from.Time(), l.from
	if !l.read {
		q.After = "" // the first page begins with that id
	}
	page, err := s.Store.Events(ctx, c.who.Workspace, q)
	if err != nil {
		return nil, err
	}
	fit := q.Fit(page)
	l.done = fit == len(page) && len(page) < q.Limit
	var events []feedmill.Event
	for _, e := range page[:fit] {
		if _, sent := t.sent[e.ID]; !sent && e.ID >= t.after {
			events = append(events, e)
		}
	}
	views, err := s.routedEvents(ctx, c.who.Workspace, events, maxListedRoutes, maxListedRoutes)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		t.sent[e.ID] = struct{}{}
	}
	if l.read = true; fit > 0 {
		l.from = page[fit-1].ID
	}
	if !l.done && now().Sub(l.began) >= tailLong {
		l.done, t.full = true, time.Time{}
	}
	if l.full {
		t.forget(l)
	}
	return views, nil
}

// forget forgets the events that a full look has passed, and that are too old for
// others of their time to come.
func (t *eventTail) forget(l *tailLook) {
	late := feedmill.FirstID(feedmill.PrefixEvent, l.began.Add(-tailLate))
	if !l.done {
		late = min(late, l.from)
	}
	if late <= t.after {
		return
	}
	t.after = late
	for id := range t.sent {
		if id < late {
			delete(t.sent, id)
		}
	}
}

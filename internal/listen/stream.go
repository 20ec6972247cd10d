package listen

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// Heartbeat is how often a listener gets a sign of life.
	Heartbeat = 15 * time.Second
	// pollEvery is how often the store is asked for what this process was
	// not told of: what other replicas accepted, and replays.
	pollEvery = 500 * time.Millisecond
	// recheckEvery is how often everything that is open is read, with what was
	// sent and not answered: only so is an answer seen that another replica
	// took, and a delivery that was written later than one with a higher id.
	recheckEvery = 2 * time.Second
	// retryRead is how long to wait after the store could not be read.
	retryRead = 2 * time.Second
)

// stream is the work on one connection.
type stream struct {
	*Hub
	conn    *conn
	sub     feedmill.Subscription
	headers func(feedmill.DueDelivery, time.Time) map[string]string
	send    func(feedmill.ListenerMessage) error

	until time.Time
	last  feedmill.ID // that was sent
	// touchAt is when to move the end, recheckAt when to read everything, and
	// readAt when to read at all, after the store could not be.
	touchAt, recheckAt, readAt time.Time
}

// stream sends until there is a reason to stop.
func (h *Hub) stream(ctx context.Context, c *conn, sub feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
	headers, err := h.Headers(ctx, sub)
	if err != nil {
		h.trouble(ctx, sub.ID, err)
		return feedmill.ListenerBroken
	}
	s := &stream{Hub: h, conn: c, sub: sub, headers: headers, send: send, until: sub.ListenUntil}
	beat, poll := time.NewTicker(Heartbeat), time.NewTicker(pollEvery)
	defer beat.Stop()
	defer poll.Stop()
	if why, over := s.extend(ctx); over {
		return why
	}
	if s.send(feedmill.ListenerMessage{Until: s.until}) != nil {
		return reason(ctx)
	}
	for {
		if s.fill(ctx) != nil {
			return reason(ctx)
		}
		select {
		case <-ctx.Done():
			return reason(ctx)
		case <-c.wake:
		case <-poll.C:
		case <-beat.C:
			if s.send(feedmill.ListenerMessage{Until: s.until}) != nil {
				return reason(ctx)
			}
		}
		if why, over := s.extend(ctx); over {
			return why
		}
	}
}

// extend moves the end of the listener now and then, and reports whether it has
// come.
func (s *stream) extend(ctx context.Context) (feedmill.ListenerEnded, bool) {
	now := time.Now()
	if now.Before(s.touchAt) {
		return "", false
	}
	end := feedmill.ListenerEnd(s.sub.CreatedAt, now)
	if !end.After(now) {
		return feedmill.ListenerExpired, true
	}
	// At the end of its life the listener ends to the moment.
	s.touchAt = earlier(now.Add(feedmill.ListenerTouch), end)
	switch err := s.Store.ExtendListener(ctx, s.sub.ID, end); {
	case errors.Is(err, feedmill.ErrNotFound):
		return feedmill.ListenerRemoved, true
	case err != nil:
		s.trouble(ctx, s.sub.ID, err) // there are minutes left to try again
	default:
		s.until = end
	}
	return "", false
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// fill sends what is due, as far as it may be unanswered, and comes back at once
// where there is more. A store that cannot be read is asked again later; an
// error is that of the connection.
func (s *stream) fill(ctx context.Context) error {
	if time.Now().Before(s.readAt) {
		return nil
	}
	due, cut, err := s.read(ctx)
	if err != nil {
		s.trouble(ctx, s.sub.ID, err)
		s.readAt = time.Now().Add(retryRead)
		return nil
	}
	for _, d := range due {
		if !s.conn.note(d.ID) {
			continue
		}
		if err := s.send(feedmill.ListenerMessage{Delivery: &d, Headers: s.headers(d, time.Now()), Until: s.until}); err != nil {
			return err
		}
		s.last = max(s.last, d.ID)
	}
	if cut {
		s.conn.wakeUp()
	}
	return nil
}

// read reads what is due behind what was sent, or everything where that is time
// or nothing waits for an answer. It reports whether there may be more.
func (s *stream) read(ctx context.Context) (due []feedmill.DueDelivery, cut bool, err error) {
	now := time.Now()
	waiting := s.conn.beginRead()
	// A space makes of an id what stands right behind it.
	q := feedmill.DueQuery{Subscription: s.sub.ID, Now: now, From: s.last + " ", Limit: feedmill.MaxListenerWindow - waiting}
	all := waiting == 0 || s.last == "" || !now.Before(s.recheckAt)
	if all {
		q.From, q.Limit = "", feedmill.MaxListenerWindow
	}
	if q.Limit == 0 {
		return nil, false, nil // what is answered makes room
	}
	if due, err = s.Store.Due(ctx, q); err != nil {
		return nil, false, err
	}
	if all {
		s.recheckAt = now.Add(recheckEvery)
		s.conn.forgetAnswered(due, len(due) == q.Limit)
	}
	return due, len(due) == q.Limit, nil
}

// trouble notes what went wrong with the store, unless it is that nobody is
// there any more.
func (h *Hub) trouble(ctx context.Context, listener feedmill.ID, err error) {
	if ctx.Err() == nil {
		h.Log.Warn("serving a listener", "listener", listener, "error", err)
	}
}

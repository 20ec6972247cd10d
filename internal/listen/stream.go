package listen

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// Heartbeat is the interval between heartbeats.
	Heartbeat = 15 * time.Second
	// pollEvery is the interval at which the store is read for deliveries that this process
	// was not notified of: those that other replicas accepted, and replays. It is also how
	// soon a connection ends that was replaced or removed through another replica.
	pollEvery = 500 * time.Millisecond
	// recheckEvery is the interval at which all open deliveries are read, including the
	// unacknowledged ones. Only this finds acknowledgements that another replica received,
	// and deliveries that were written after one with a higher id.
	recheckEvery = 2 * time.Second
	// retryRead is the wait after the store could not be read.
	retryRead = 2 * time.Second
)

// stream serves one connection.
type stream struct {
	*Hub
	conn    *conn
	sub     feedmill.Subscription
	headers func(feedmill.DueDelivery, time.Time, bool) map[string]string
	send    func(feedmill.ListenerMessage) error

	until time.Time
	last  feedmill.ID // the last delivery that was sent
	// touchAt is when to extend the listener, recheckAt when to read all open deliveries,
	// and readAt when to read again after a failure.
	touchAt, recheckAt, readAt time.Time
}

// stream serves a connection until it ends.
func (h *Hub) stream(ctx context.Context, c *conn, sub feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
	headers, err := h.Headers(ctx, sub)
	if err != nil {
		h.logFailure(ctx, sub.ID, err)
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
		if s.sendTests() != nil || s.fill(ctx) != nil {
			return reason(ctx)
		}
		select {
		case <-ctx.Done():
			return reason(ctx)
		case <-c.wake:
		case <-poll.C:
			if why, over := s.replaced(ctx); over {
				return why
			}
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

// replaced reports whether the listener has a newer connection, or was removed, on any replica.
func (s *stream) replaced(ctx context.Context) (feedmill.ListenerEnded, bool) {
	switch last, err := s.Store.ListenerConnection(ctx, s.sub.ID); {
	case errors.Is(err, feedmill.ErrNotFound):
		return feedmill.ListenerRemoved, true
	case err != nil:
		s.logFailure(ctx, s.sub.ID, err)
	case last != "" && last != s.conn.id:
		return feedmill.ListenerReplaced, true
	}
	return "", false
}

// extend extends the listener's lifetime from time to time, and reports whether it has
// ended.
func (s *stream) extend(ctx context.Context) (feedmill.ListenerEnded, bool) {
	now := time.Now()
	if now.Before(s.touchAt) {
		return "", false
	}
	end := feedmill.ListenerEnd(s.sub.CreatedAt, now)
	if !end.After(now) {
		return feedmill.ListenerExpired, true
	}
	// A listener at its maximum age ends exactly then.
	s.touchAt = earlier(now.Add(feedmill.ListenerTouch), end)
	switch err := s.Store.ExtendListener(ctx, s.sub.ID, end); {
	case errors.Is(err, feedmill.ErrNotFound):
		return feedmill.ListenerRemoved, true
	case err != nil:
		s.logFailure(ctx, s.sub.ID, err) // there are minutes left to try again
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

// sendTests sends the test events that wait. They are not acknowledged.
func (s *stream) sendTests() error {
	for _, d := range s.conn.takeTests() {
		if err := s.send(feedmill.ListenerMessage{Delivery: &d, Test: true, Headers: s.headers(d, time.Now(), true), Until: s.until}); err != nil {
			return err
		}
	}
	return nil
}

// fill sends due deliveries up to the window of unacknowledged ones, and wakes the stream
// again if there may be more. If the store cannot be read, it is read again later. fill
// returns only errors of the connection.
func (s *stream) fill(ctx context.Context) error {
	if time.Now().Before(s.readAt) {
		return nil
	}
	due, cut, err := s.read(ctx)
	if err != nil {
		s.logFailure(ctx, s.sub.ID, err)
		s.readAt = time.Now().Add(retryRead)
		return nil
	}
	for _, d := range due {
		if !s.conn.markSent(d.ID) {
			continue
		}
		if err := s.send(feedmill.ListenerMessage{Delivery: &d, Headers: s.headers(d, time.Now(), false), Until: s.until}); err != nil {
			return err
		}
		s.last = max(s.last, d.ID)
	}
	if cut {
		s.conn.wakeUp()
	}
	return nil
}

// read returns the due deliveries after the last one that was sent. It returns all open
// deliveries if that is due or if none is unacknowledged. It reports whether there may be
// more.
func (s *stream) read(ctx context.Context) (due []feedmill.DueDelivery, cut bool, err error) {
	now := time.Now()
	waiting := s.conn.beginRead()
	// An id with a space sorts directly after the id.
	q := feedmill.DueQuery{Subscription: s.sub.ID, Now: now, From: s.last + " ", Limit: feedmill.MaxListenerWindow - waiting}
	all := waiting == 0 || s.last == "" || !now.Before(s.recheckAt)
	if all {
		q.From, q.Limit = "", feedmill.MaxListenerWindow
	}
	if q.Limit == 0 {
		return nil, false, nil // an acknowledgement makes room
	}
	if due, err = s.Store.Due(ctx, q); err != nil {
		return nil, false, err
	}
	if all {
		s.recheckAt = now.Add(recheckEvery)
		if waiting == feedmill.MaxListenerWindow {
			s.recheckAt = now.Add(pollEvery) // acknowledgements that another replica received make room
		}
		s.conn.dropClosed(due, len(due) == q.Limit)
	}
	return due, len(due) == q.Limit, nil
}

// logFailure logs an error of the store, unless the connection has ended.
func (h *Hub) logFailure(ctx context.Context, listener feedmill.ID, err error) {
	if ctx.Err() == nil {
		h.Log.Warn("serving a listener failed", "listener", listener, "error", err)
	}
}

package database

import (
	"context"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// sessions are those of a database. Work in the background never has all of them: the
// last one is for requests that a client waits for.
type sessions struct {
	all, background chan struct{}
	// shared limits the sessions of all replicas, nil where there are none to share with.
	shared *share.Permits
	// wait is how long a request waits for a session before it is refused.
	wait time.Duration
}

// sessionWait is how long a request waits for a session. Requests that only look
// around are shorter than that.
const sessionWait = 2 * time.Second

// newSessions makes n sessions.
func newSessions(n int, shared *share.Permits) *sessions {
	return &sessions{all: make(chan struct{}, n), background: make(chan struct{}, n-1), shared: shared, wait: sessionWait}
}

// take waits for a session, which must be released. A request that a client waits for is
// refused with connection-busy where none is free in time.
func (s *sessions) take(ctx context.Context, of feedmill.Connection) (release func(), err error) {
	if share.Background(ctx) {
		if err := enter(ctx, s.background); err != nil {
			return nil, err
		}
		if err := enter(ctx, s.all); err != nil {
			<-s.background
			return nil, err
		}
		leave := func() { <-s.all; <-s.background }
		return s.share(ctx, of, 0, cap(s.background)-1, leave)
	}
	busy := &feedmill.Error{
		Kind: feedmill.ErrUnavailable, Type: ProblemBusy, Title: titles[ProblemBusy], RetryAfter: 5 * time.Second,
		Detail: fmt.Sprintf("All %d sessions of the connection %q are in use. Retry after the time in the Retry-After header, or raise maxSessions of the connection (at most %d).", cap(s.all), of.ServiceName, feedmill.MaxSessions),
	}
	inTime, cancel := context.WithTimeoutCause(ctx, s.wait, busy)
	defer cancel()
	if err := enter(inTime, s.all); err != nil {
		return nil, err
	}
	return s.share(inTime, of, cap(s.all)-1, 0, func() { <-s.all })
}

// share takes one of the sessions that all replicas share. Work in the background has the first
// numbers, and requests prefer the last ones.
func (s *sessions) share(ctx context.Context, of feedmill.Connection, first, last int, leave func()) (release func(), err error) {
	permit, err := s.shared.Take(ctx, "connection "+string(of.ID), first, last)
	if err != nil {
		leave()
		return nil, err
	}
	return func() { permit(); leave() }, nil
}

// enter waits for room.
func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	default:
	}
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

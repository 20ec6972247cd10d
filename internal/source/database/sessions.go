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
	// wait is how long a request waits for a session before it is refused.
	wait time.Duration
}

// sessionWait is how long a request waits for a session. Requests that only look
// around are shorter than that.
const sessionWait = 2 * time.Second

// newSessions makes n sessions.
func newSessions(n int) *sessions {
	return &sessions{all: make(chan struct{}, n), background: make(chan struct{}, n-1), wait: sessionWait}
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
		return func() { <-s.all; <-s.background }, nil
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
	return func() { <-s.all }, nil
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

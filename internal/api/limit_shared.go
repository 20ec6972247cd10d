package api

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"
)

// TokenStore has the buckets of tokens that all replicas take from.
type TokenStore interface {
	TakeTokens(ctx context.Context, subject string, most int, perSecond float64, burst int) (taken int, left float64, err error)
}

// leaseEvery is how often a replica takes tokens of a credential that uses all of its limit: it
// takes as many as the limit allows in this time, and asks no earlier after it got none.
const leaseEvery = 100 * time.Millisecond

// leased are the tokens of a subject that this replica has taken from the store.
type leased struct {
	mu     sync.Mutex
	tokens int
	// left is how many the store had at the time at, and after is when it may be asked again.
	left      float64
	at, after time.Time
}

// countShared is count with tokens from the store, some at a time. While the store does not
// respond, the limit holds for this replica.
func (l *limiter) countShared(ctx context.Context, subject string, h http.Header) error {
	s := l.sharedOf(subject, time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.tokens == 0 && !now.Before(s.after) {
		s.lease(ctx, l, subject)
		now = time.Now()
	}
	left := min(float64(l.burst), s.left+now.Sub(s.at).Seconds()*float64(l.limit)) + float64(s.tokens)
	if s.tokens == 0 {
		l.report(h, 0)
		return l.refuse(max(s.after.Sub(now), time.Duration((1-left)/float64(l.limit)*float64(time.Second))))
	}
	s.tokens--
	l.report(h, min(left-1, float64(l.burst-1)))
	return nil
}

// lease takes tokens from the store.
func (s *leased) lease(ctx context.Context, l *limiter, subject string) {
	batch := min(l.burst, max(1, int(float64(l.limit)*leaseEvery.Seconds())))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	taken, left, err := l.store.TakeTokens(ctx, subject, batch, float64(l.limit), l.burst)
	s.at = time.Now()
	if err != nil {
		taken, left = batch, 0
	}
	s.tokens, s.left, s.after = taken, left, s.at
	if taken == 0 || err != nil {
		wait := math.Max(leaseEvery.Seconds(), (1-left)/float64(l.limit))
		s.after = s.at.Add(time.Duration(wait * float64(time.Second)))
	}
}

// leaseTimeout bounds the wait for tokens.
const leaseTimeout = 2 * time.Second

// sharedOf finds the tokens of a subject. Those that were not used for a minute are forgotten.
func (l *limiter) sharedOf(subject string, at time.Time) *leased {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Sub(l.swept) > time.Minute {
		for name, s := range l.shared {
			if s.mu.TryLock() {
				if at.Sub(s.at) > time.Minute && !at.Before(s.after) {
					delete(l.shared, name)
				}
				s.mu.Unlock()
			}
		}
		l.swept = at
	}
	s, ok := l.shared[subject]
	if !ok {
		s = new(leased)
		l.shared[subject] = s
	}
	return s
}

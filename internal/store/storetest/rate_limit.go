package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// RateLimits are buckets of tokens, by the clock of the database.
type RateLimits interface {
	// TakeTokens takes up to most tokens and returns how many it took and how many are left. A
	// bucket that is not known is full.
	TakeTokens(ctx context.Context, subject string, most int, perSecond float64, burst int) (taken int, left float64, err error)
	// ForgetRateLimits removes buckets that are full at a time.
	ForgetRateLimits(ctx context.Context, now time.Time, limit int) (int64, error)
}

var rateLimitCases = []testCase{
	{name: "a bucket has so many tokens and fills again", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		take := func(subject string, most int, perSecond float64, burst, want int) {
			t.Helper()
			got, left, err := s.TakeTokens(ctx, subject, most, perSecond, burst)
			must(t, err)
			equal(t, subject, want, got)
			if left < 0 || left > float64(burst-got)+1 {
				t.Errorf("%g are left of %d", left, burst)
			}
		}
		const slow = 0.001
		take("a", 3, slow, 5, 3)
		take("a", 3, slow, 5, 2)
		take("a", 3, slow, 5, 0)
		take("b", 9, slow, 5, 5)
		take("c", 1, 1000, 1, 1)
		for range 3 {
			nextMillisecond()
		}
		take("c", 1, 1000, 1, 1)
		n, err := s.ForgetRateLimits(ctx, now().Add(time.Minute), 9)
		must(t, err)
		equal(t, "full", 1, n)
		take("a", 1, slow, 5, 0)
	}},
	{name: "several take no more tokens than there are", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		var all sync.WaitGroup
		var taken atomic.Int64
		for range 8 {
			all.Go(func() {
				n, _, err := s.TakeTokens(ctx, "a", 3, 0.001, 10)
				if err != nil {
					t.Error(err)
				}
				taken.Add(int64(n))
			})
		}
		all.Wait()
		equal(t, "taken", 10, taken.Load())
	}},
}

package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Permits are numbered and belong to a pool. Each is free or has a ticket and a holder, until its
// lease expires by the clock of the database.
type Permits interface {
	// TakePermit takes the first free permit from the first number to the last, and reports
	// whether one was free.
	TakePermit(ctx context.Context, pool string, first, last int, holder, ticket string, lease time.Duration) (bool, error)
	ReleasePermit(ctx context.Context, ticket string) error
	RenewPermits(ctx context.Context, tickets []string, lease time.Duration) error
	// ReleasePermits frees all permits of a holder.
	ReleasePermits(ctx context.Context, holder string) error
}

var permitCases = []testCase{
	{name: "a permit has one ticket until it is released or expires", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		take := func(pool string, first, last int, holder, ticket string, lease time.Duration, want bool) {
			t.Helper()
			got, err := s.TakePermit(ctx, pool, first, last, holder, ticket, lease)
			must(t, err)
			equal(t, ticket, want, got)
		}
		take("p", 0, 1, "one", "t0", time.Hour, true)
		take("p", 0, 1, "two", "t1", time.Hour, true)
		take("p", 1, 0, "two", "t2", time.Hour, false)
		take("q", 0, 0, "two", "t3", time.Hour, true)
		must(t, s.ReleasePermit(ctx, "t0"))
		must(t, s.ReleasePermit(ctx, "t0"))
		take("p", 1, 0, "two", "t4", time.Hour, true)
		take("p", 0, 1, "two", "t5", time.Hour, false)
		must(t, s.ReleasePermits(ctx, "two"))
		// Requests take the last numbers first, so that the first stay free for others.
		take("p", 2, 0, "one", "t6", time.Hour, true)
		take("p", 0, 1, "one", "t7", time.Hour, true)
		take("p", 0, 1, "one", "t8", time.Hour, true)
		take("p", 0, 1, "one", "t9", time.Hour, false)
		// Those that expire are free, also if they were renewed before.
		must(t, s.RenewPermits(ctx, []string{"t7"}, time.Millisecond))
		nextMillisecond()
		nextMillisecond()
		take("p", 0, 1, "two", "t10", time.Hour, true)
		take("p", 0, 1, "two", "t11", time.Hour, false)
		must(t, s.RenewPermits(ctx, []string{"t7"}, time.Hour)) // it is not its holder's any more
		must(t, s.ReleasePermit(ctx, "t7"))
		take("p", 0, 1, "two", "t12", time.Hour, false)
	}},
	{name: "of many at the same time only so many get a permit", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		var all sync.WaitGroup
		var taken atomic.Int64
		for i := range 8 {
			all.Go(func() {
				ok, err := s.TakePermit(ctx, "p", 0, 2, "one", fmt.Sprint("t", i), time.Hour)
				if err != nil {
					t.Error(err)
				}
				if ok {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		equal(t, "taken", 3, taken.Load())
	}},
}

package api

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 3, nil)
		take := func(subject string, refused bool, remaining string) {
			t.Helper()
			h := make(http.Header)
			err := l.count(t.Context(), subject, h)
			if (err != nil) != refused {
				t.Errorf("error is %v", err)
			}
			var refusal *feedmill.Error
			if refused && (!errors.As(err, &refusal) || !errors.Is(err, feedmill.ErrTooMany) || refusal.RetryAfter < time.Second/2) {
				t.Errorf("the refusal is %#v", err)
			}
			if got := h.Get("RateLimit"); got != remaining {
				t.Errorf("RateLimit is %s, want %s", got, remaining)
			}
			if got := h.Get("RateLimit-Policy"); got != `"default";q=3;w=2` {
				t.Errorf("RateLimit-Policy is %s", got)
			}
		}
		take("a", false, `"default";r=2;t=1`)
		take("a", false, `"default";r=1;t=1`)
		take("a", false, `"default";r=0;t=2`)
		take("a", true, `"default";r=0;t=2`)
		take("b", false, `"default";r=2;t=1`)
		time.Sleep(time.Second / 2)
		take("a", false, `"default";r=0;t=2`)
		take("a", true, `"default";r=0;t=2`)
		time.Sleep(time.Hour)
		take("b", false, `"default";r=2;t=1`)
		if len(l.of) != 1 {
			t.Errorf("%d counters are kept, want that of the last caller only", len(l.of))
		}
		take("a", false, `"default";r=2;t=1`)
	})
}

func TestLimiterBurst(t *testing.T) {
	for _, c := range []struct {
		perSecond   float64
		burst, want int
	}{
		{10, 0, 10},
		{0.1, 0, 1},
		{2.5, 0, 3},
		{10, 1, 1},
		{1, 20, 20},
	} {
		if got := newLimiter(c.perSecond, c.burst, nil).burst; got != c.want {
			t.Errorf("%g a second with a burst of %d allows %d at once, want %d", c.perSecond, c.burst, got, c.want)
		}
	}
	if newLimiter(0, 5, nil) != nil {
		t.Error("no limit is a limit")
	}
}

// countedStore counts how often tokens are taken, and fails where a test wants it to.
type countedStore struct {
	TokenStore
	calls int
	err   error
}

func (s *countedStore) TakeTokens(ctx context.Context, subject string, most int, perSecond float64, burst int) (int, float64, error) {
	s.calls++
	if s.err != nil {
		return 0, 0, s.err
	}
	return s.TokenStore.TakeTokens(ctx, subject, most, perSecond, burst)
}

// Replicas share the limit of a credential, without a call of the store for each request.
func TestReplicasShareTheRateLimit(t *testing.T) {
	store := &countedStore{TokenStore: sqlitetest.New(t)}
	allowed := func(subject string, replicas []*limiter, requests int) (n int) {
		for i := range requests {
			h := make(http.Header)
			if err := replicas[i%len(replicas)].count(t.Context(), subject, h); err == nil {
				n++
			} else if !errors.Is(err, feedmill.ErrTooMany) {
				t.Error(err)
			}
			if h.Get("RateLimit") == "" || !strings.HasPrefix(h.Get("RateLimit-Policy"), `"default";q=`) {
				t.Errorf("the headers are %v", h)
			}
		}
		return n
	}
	slow := []*limiter{newLimiter(0.001, 10, store), newLimiter(0.001, 10, store)}
	if a, b := allowed("a", slow, 30), allowed("b", slow, 5); a != 10 || b != 5 || store.calls != 10+5+2 {
		t.Errorf("%d of 30 and %d of 5 were allowed with %d calls", a, b, store.calls)
	}
	// Each replica takes a tenth of a second of the limit at a time.
	store.calls = 0
	fast := []*limiter{newLimiter(1000, 1000, store), newLimiter(1000, 1000, store)}
	if n := allowed("c", fast, 1000); n != 1000 || store.calls != 10 {
		t.Errorf("%d of 1000 were allowed with %d calls", n, store.calls)
	}
	// Without the store, each replica holds the limit.
	store.calls, store.err = 0, feedmill.ErrUnavailable
	if n := allowed("d", slow, 30); n != 2 || store.calls != 2 {
		t.Errorf("%d of 30 were allowed without the store, with %d calls", n, store.calls)
	}
}

// Over 10 s, all replicas together allow the limit, give or take a fifth.
func TestRateLimitOverTenSeconds(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("takes 12 s; set FEEDMILL_LONG=1")
	}
	const limit, replicas = 50, 4
	store := sqlitetest.New(t)
	var allowed atomic.Int64
	var all sync.WaitGroup
	end := time.Now().Add(10 * time.Second)
	for range replicas {
		l := newLimiter(limit, 0, store)
		all.Go(func() {
			for time.Now().Before(end) {
				if l.count(t.Context(), "a", make(http.Header)) == nil {
					allowed.Add(1)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	if n := allowed.Load(); n < 10*limit*8/10 || n > 10*limit*12/10 {
		t.Errorf("%d requests were allowed in 10 s, at %d a second", n, limit)
	}
}

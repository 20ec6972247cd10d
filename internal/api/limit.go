package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/feedmill/feedmill"
)

// limiter holds every credential to a number of requests a second, in this process or, with a
// store, across all replicas.
type limiter struct {
	limit rate.Limit
	burst int
	store TokenStore // nil to count in this process

	mu     sync.Mutex
	of     map[string]*rate.Limiter
	shared map[string]*leased
	swept  time.Time
}

func newLimiter(perSecond float64, burst int, store TokenStore) *limiter {
	if perSecond <= 0 {
		return nil
	}
	if burst <= 0 {
		burst = int(math.Ceil(perSecond))
	}
	return &limiter{limit: rate.Limit(perSecond), burst: burst, store: store, of: make(map[string]*rate.Limiter), shared: make(map[string]*leased)}
}

// count counts a request of the subject and says in the headers what is left.
func (l *limiter) count(ctx context.Context, subject string, h http.Header) error {
	if l == nil {
		return nil
	}
	if l.store != nil {
		return l.countShared(ctx, subject, h)
	}
	at := time.Now()
	r := l.get(subject, at)
	ok := r.AllowN(at, 1)
	tokens := r.TokensAt(at)
	l.report(h, tokens)
	if ok {
		return nil
	}
	return l.refuse(time.Duration((1 - tokens) / float64(l.limit) * float64(time.Second)))
}

// report sets the headers with what is left.
func (l *limiter) report(h http.Header, tokens float64) {
	full := time.Duration((float64(l.burst) - tokens) / float64(l.limit) * float64(time.Second))
	window := math.Ceil(float64(l.burst) / float64(l.limit))
	h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=%.0f`, l.burst, window))
	h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%.0f`, max(0, int(tokens)), math.Ceil(full.Seconds())))
}

// refuse is the error of a request above the limit.
func (l *limiter) refuse(wait time.Duration) error {
	return &feedmill.Error{Kind: feedmill.ErrTooMany, RetryAfter: max(wait, time.Second), Detail: fmt.Sprintf("The credential exceeded its limit of %g requests per second. Retry after the time in the Retry-After header.", float64(l.limit))}
}

// get finds the subject's counter. Those that have filled up again are
// forgotten now and then: a new one is no different.
func (l *limiter) get(subject string, at time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Sub(l.swept) > time.Minute {
		for s, r := range l.of {
			if r.TokensAt(at) >= float64(l.burst) {
				delete(l.of, s)
			}
		}
		l.swept = at
	}
	r, ok := l.of[subject]
	if !ok {
		r = rate.NewLimiter(l.limit, l.burst)
		l.of[subject] = r
	}
	return r
}

package fetch

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// paces keep to the rates of all sources of one host and credential.
type paces struct {
	mu sync.Mutex
	of map[string]*pace
}

// pace remembers when requests were made, or will be: the last maxRate of
// them, oldest first.
type pace struct {
	times []time.Time
}

// wait waits until one more request keeps to the rate, counting everybody's
// requests to the same place.
func (p *paces) wait(ctx context.Context, place string, r *spec.Rate) error {
	at := p.reserve(place, r, time.Now())
	return sleep(ctx, time.Until(at))
}

// reserve finds the next time for a request. A nil rate has no bounds, but what
// is asked for counts against those of others, once there are any.
func (p *paces) reserve(place string, r *spec.Rate, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = make(map[string]*pace)
	}
	one := p.of[place]
	if one == nil && r == nil {
		return now
	}
	if one == nil {
		p.forget(now)
		one = new(pace)
		p.of[place] = one
	}
	at := now
	if r != nil {
		if n := len(one.times); n >= r.Requests {
			// Only so many may lie within the time before this one.
			if free := one.times[n-r.Requests].Add(r.Per); free.After(at) {
				at = free
			}
		}
	}
	if n := len(one.times); n > 0 && one.times[n-1].After(at) {
		if r == nil {
			return at // It waits for nobody, and need not be remembered out of order.
		}
		at = one.times[n-1]
	}
	if len(one.times) == spec.MaxRate {
		copy(one.times, one.times[1:])
		one.times = one.times[:spec.MaxRate-1]
	}
	one.times = append(one.times, at)
	return at
}

// forget drops the places that nobody has asked for longer than any rate goes
// back, once there are many.
func (p *paces) forget(now time.Time) {
	const many = 1024
	if len(p.of) < many {
		return
	}
	for place, one := range p.of {
		if n := len(one.times); n == 0 || now.Sub(one.times[n-1]) > time.Hour {
			delete(p.of, place)
		}
	}
}

// sleep waits for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

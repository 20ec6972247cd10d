package share

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// shortPresence is how long a holder counts as present after a request, at least,
	// and longPresence how long at most.
	shortPresence, longPresence = 100 * time.Millisecond, 500 * time.Millisecond
	// manyVisitors is how many visitors are remembered before old ones are dropped.
	manyVisitors = 1000
)

// presence knows which holders make requests and which do long work.
//
// A holder is present for a moment after each request, and for longer if its requests
// come regularly: then the next one is expected. A single request, such as one that
// creates a key, therefore does not slow the uploads of others for seconds.
type presence struct {
	since time.Time
	// crowdedUntil is when several holders stop being present, in time since since.
	// It is read very often, so that reading it takes no lock.
	crowdedUntil atomic.Int64

	mu       sync.Mutex
	visitors map[string]visitor
	// last are the two holders that stay present the longest, the longest first.
	last [2]visit
	// working counts the long work of each holder.
	working map[string]int
}

// visitor is when a holder came last, and the longest pause between its recent requests.
type visitor struct{ at, pause time.Duration }

// visit is until when a holder is present.
type visit struct {
	holder string
	until  time.Duration
}

var present = newPresence()

func newPresence() *presence {
	return &presence{since: time.Now(), visitors: make(map[string]visitor), working: make(map[string]int)}
}

func (p *presence) now() time.Duration { return time.Since(p.since) }

// see records a request of a holder. The service's own work has no holder.
func (p *presence) see(holder string) {
	if holder == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	v, known := p.visitors[holder]
	if pause := now - v.at; known && pause <= longPresence {
		v.pause = max(v.pause, pause)
	} else {
		v.pause = 0
	}
	v.at = now
	if !known && len(p.visitors) >= manyVisitors {
		p.forget(now)
	}
	p.visitors[holder] = v
	p.extend(visit{holder, now + min(max(2*v.pause, shortPresence), longPresence)})
	p.recount()
}

// forget drops the visitors that are not expected any more, and all if there are none.
func (p *presence) forget(now time.Duration) {
	for holder, v := range p.visitors {
		if now-v.at > longPresence {
			delete(p.visitors, holder)
		}
	}
	if len(p.visitors) >= manyVisitors {
		clear(p.visitors)
	}
}

// extend enters a visit among the last two.
func (p *presence) extend(v visit) {
	switch {
	case v.holder == p.last[0].holder:
		p.last[0] = v
	case v.holder == p.last[1].holder || v.until >= p.last[1].until:
		p.last[1] = v
	}
	if p.last[1].until > p.last[0].until {
		p.last[0], p.last[1] = p.last[1], p.last[0]
	}
}

// work records that a holder does long work until the function is called that it returns.
func (p *presence) work(holder string) (end func()) {
	if holder == "" {
		return func() {}
	}
	p.add(holder, 1)
	return func() { p.add(holder, -1) }
}

func (p *presence) add(holder string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.working[holder] += n; p.working[holder] == 0 {
		delete(p.working, holder)
	}
	p.recount()
}

// recount finds out until when requests of one holder compete with those, or with the
// long work, of another. Long work alone competes with nothing that is short.
func (p *presence) recount() {
	until := p.last[1].until
	for holder := range p.working {
		if holder != p.last[0].holder {
			until = p.last[0].until
			break
		}
	}
	p.crowdedUntil.Store(int64(until))
}

// crowded reports whether several holders are present.
func (p *presence) crowded() bool { return int64(p.now()) < p.crowdedUntil.Load() }

// anybodyBut reports whether requests of another holder are present.
func (p *presence) anybodyBut(holder string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for _, v := range p.last {
		if v.holder != holder && now < v.until {
			return true
		}
	}
	return false
}

// AnybodyBut reports whether a holder other than this one makes requests, which
// background work should not delay.
func AnybodyBut(holder string) bool { return present.anybodyBut(holder) }

// Present records that a request of the holder of ctx goes on, such as one whose body arrives.
func Present(ctx context.Context) { present.see(Holder(ctx)) }

// Working records that the holder of ctx does long work until the function is called
// that it returns.
func Working(ctx context.Context) (end func()) { return present.work(Holder(ctx)) }

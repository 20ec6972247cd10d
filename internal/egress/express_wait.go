package egress

import (
	"context"
	"os"
	"slices"
	"time"
)

// To make a connection costs as much as many exchanges, and with TLS as hundreds.
// Where exchanges with a host take their time because this machine is busy, more
// connections would only make it busier. So they are made a few at a time, and
// where there are plenty an exchange waits a moment for one to come free.
const (
	maxOpening  = 8
	plentyConns = 128
	connWait    = 20 * time.Millisecond
)

// waiter is an exchange that waits for its turn: for a connection, or, where it
// is given none, to make one.
type waiter struct {
	turn      chan *conn // has room for one
	impatient bool
}

// acquire returns an idle connection that can be used, or nil to say that the caller
// shall make one: then it calls opened when that is done.
func (p *connPool) acquire(ctx context.Context, deadline time.Time, key connKey) (*conn, error) {
	for {
		c, err := p.await(ctx, deadline, key)
		if c == nil || c.isUsable() {
			return c, err
		}
		c.giveUp()
	}
}

// isUsable reports whether a connection that was idle can take an exchange.
func (c *conn) isUsable() bool {
	select {
	case <-c.watched: // its last exchange had a context that has ended
		return false
	default:
		return c.isSilent()
	}
}

func (p *connPool) await(ctx context.Context, deadline time.Time, key connKey) (*conn, error) {
	p.mu.Lock()
	h := p.at(key)
	if c := p.popIdle(key, h); c != nil {
		p.mu.Unlock()
		return c, nil
	}
	if h.opening < maxOpening && h.open < plentyConns {
		h.opening++
		p.mu.Unlock()
		return nil, nil
	}
	w := &waiter{turn: make(chan *conn, 1)}
	h.waiting = append(h.waiting, w)
	p.mu.Unlock()

	patience := time.AfterFunc(connWait, func() { p.losePatience(h, w) })
	defer patience.Stop()
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	var err error
	select {
	case c := <-w.turn:
		return c, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = os.ErrDeadlineExceeded
	}
	p.leave(key, h, w)
	return nil, err
}

// leave ends the waiting of an exchange that goes without. What it was given
// meanwhile goes to another.
func (p *connPool) leave(key connKey, h *hostConns, w *waiter) {
	p.mu.Lock()
	if i := slices.Index(h.waiting, w); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
		p.tidy(key)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	if c := <-w.turn; c != nil {
		p.keep(c)
	} else {
		p.opened(key)
	}
}

func (p *connPool) losePatience(h *hostConns, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.impatient = true
	p.letOpen(h)
}

// opening says that a connection is made instead of one that was of no use.
func (p *connPool) opening(key connKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(key).opening++
}

// opened says that a connection was made, or could not be.
func (p *connPool) opened(key connKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(key)
	h.opening--
	p.letOpen(h)
	p.tidy(key)
}

// letOpen lets those make a connection that wait and may. The first has waited
// longest.
func (p *connPool) letOpen(h *hostConns) {
	for len(h.waiting) > 0 && h.opening < maxOpening && (h.open+h.opening < plentyConns || h.waiting[0].impatient) {
		h.opening++
		h.next().turn <- nil
	}
}

// next takes the first of those that wait.
func (h *hostConns) next() *waiter {
	w := h.waiting[0]
	h.waiting[0] = nil
	h.waiting = h.waiting[1:]
	return w
}

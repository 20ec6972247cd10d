package egress

import (
	"context"
	"os"
	"slices"
	"time"
)

// Opening a connection costs as much as many exchanges, and with TLS as hundreds. If
// exchanges with a host are slow because this machine is busy, more connections would make
// it busier. So at most maxOpening connections to a host are opened concurrently, and with
// manyConns open an exchange first waits idleWait for an idle one.
const (
	maxOpening = 8
	manyConns  = 128
	idleWait   = 20 * time.Millisecond
)

// waiter is an exchange that waits for a connection, or for permission to open one.
type waiter struct {
	turn       chan *conn // with a buffer of one; nil permits to open a connection
	waitedLong bool       // for longer than idleWait
}

// acquire returns a usable idle connection, or nil if the caller should open one. In that
// case the caller must call opened afterwards.
func (p *connPool) acquire(ctx context.Context, deadline time.Time, key connKey) (*conn, error) {
	for {
		c, err := p.await(ctx, deadline, key)
		if c == nil || c.isUsable() {
			return c, err
		}
		c.abort()
	}
}

// isUsable reports whether an idle connection can be used for an exchange.
func (c *conn) isUsable() bool {
	select {
	case <-c.watched: // the context of its last exchange has ended
		return false
	default:
		return c.hasNoInput()
	}
}

func (p *connPool) await(ctx context.Context, deadline time.Time, key connKey) (*conn, error) {
	p.mu.Lock()
	h := p.at(key)
	if c := p.popIdle(key, h); c != nil {
		p.mu.Unlock()
		return c, nil
	}
	if h.opening < maxOpening && h.open < manyConns {
		h.opening++
		p.mu.Unlock()
		return nil, nil
	}
	w := &waiter{turn: make(chan *conn, 1)}
	h.waiting = append(h.waiting, w)
	p.mu.Unlock()

	idle := time.AfterFunc(idleWait, func() { p.endIdleWait(h, w) })
	defer idle.Stop()
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
	p.cancelWait(key, h, w)
	return nil, err
}

// cancelWait removes a waiter. If it was given a connection or a permission meanwhile, that
// is passed on.
func (p *connPool) cancelWait(key connKey, h *hostConns, w *waiter) {
	p.mu.Lock()
	if i := slices.Index(h.waiting, w); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
		p.forgetUnused(key)
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

// endIdleWait lets a waiter open a connection although there are many.
func (p *connPool) endIdleWait(h *hostConns, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.waitedLong = true
	p.permitOpening(h)
}

// opening counts a connection that the caller opens in place of an unusable one.
func (p *connPool) opening(key connKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(key).opening++
}

// opened counts down when a connection was opened or could not be.
func (p *connPool) opened(key connKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(key)
	h.opening--
	p.permitOpening(h)
	p.forgetUnused(key)
}

// permitOpening permits waiters to open connections, as far as the limits allow. The first
// has waited the longest.
func (p *connPool) permitOpening(h *hostConns) {
	for len(h.waiting) > 0 && h.opening < maxOpening && (h.open+h.opening < manyConns || h.waiting[0].waitedLong) {
		h.opening++
		h.next().turn <- nil
	}
}

// next removes and returns the first waiter.
func (h *hostConns) next() *waiter {
	w := h.waiting[0]
	h.waiting[0] = nil
	h.waiting = h.waiting[1:]
	return w
}

package egress

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// maxIdleOfHost and idleTime are those of [Client.Transport].
	maxIdleOfHost = 256
	idleTime      = 90 * time.Second
	sweepEvery    = idleTime / 3
)

// connKey is all that makes a connection another one. The name that TLS has
// verified is that of the host, and no connection of the pool goes through a proxy.
type connKey struct {
	workspace    feedmill.ID
	scheme, host string // as URLs have them
}

// connPool has all connections, and keeps those that no exchange uses.
type connPool struct {
	mu    sync.Mutex
	hosts map[connKey]*hostConns
	of    map[feedmill.ID]int // how many of a workspace are idle
	count int                 // and of all
	max   int
	sweep *time.Timer  // runs while there are any
	heads atomic.Int64 // bytes of headers that have come in part
}

// hostConns are the connections of one key.
type hostConns struct {
	idle []*conn // the last was used last
	// open is how many there are, the idle ones included, and opening how many
	// are being made.
	open, opening int
	// waiting are exchanges that may not make a connection now.
	waiting []*waiter
}

func newConnPool(most int) *connPool {
	return &connPool{hosts: make(map[connKey]*hostConns), of: make(map[feedmill.ID]int), max: most}
}

// at is what there is of a key. It is forgotten by tidy.
func (p *connPool) at(key connKey) *hostConns {
	h, ok := p.hosts[key]
	if !ok {
		h = new(hostConns)
		p.hosts[key] = h
	}
	return h
}

func (p *connPool) tidy(key connKey) {
	if h := p.hosts[key]; h != nil && h.open == 0 && h.opening == 0 && len(h.waiting) == 0 {
		delete(p.hosts, key)
	}
}

// add takes up a connection that was made.
func (p *connPool) add(key connKey, c net.Conn) *conn { return p.adopt(newConn(p, key, c, c)) }

func (p *connPool) addTLS(key connKey, c *tlsConn) *conn {
	made := newConn(p, key, c.Conn, c.records.Conn)
	made.secure = c
	return p.adopt(made)
}

func (p *connPool) adopt(c *conn) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(c.key).open++
	return c
}

// ended forgets a connection that is about to be closed.
func (p *connPool) ended(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(c.key)
	h.open--
	p.letOpen(h)
	p.tidy(c.key)
}

// popIdle takes the connection that was used last, nil where there is none.
func (p *connPool) popIdle(key connKey, h *hostConns) *conn {
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	c := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	p.less(key.workspace, 1)
	return c
}

// keep hands a connection to an exchange that waits for one, or keeps it, or ends
// it where there are enough.
func (p *connPool) keep(c *conn) {
	c.reused, c.idleAt = true, time.Now()
	if !p.keeps(c) {
		c.retire()
	}
}

// keeps decides on that. A workspace may have no more idle than there is still
// room for, so that it leaves some to others.
func (p *connPool) keeps(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(c.key)
	if len(h.waiting) > 0 {
		h.next().turn <- c
		return true
	}
	if len(h.idle) >= maxIdleOfHost || p.of[c.key.workspace] >= p.max-p.count {
		return false
	}
	h.idle = append(h.idle, c)
	p.count++
	p.of[c.key.workspace]++
	if p.sweep == nil {
		p.sweep = time.AfterFunc(sweepEvery, p.closeOld)
	}
	return true
}

// less counts connections of a workspace that are idle no more.
func (p *connPool) less(workspace feedmill.ID, n int) {
	p.count -= n
	if p.of[workspace] -= n; p.of[workspace] == 0 {
		delete(p.of, workspace)
	}
}

// closeOld closes the connections that have been idle for too long.
func (p *connPool) closeOld() {
	p.closeBefore(time.Now().Add(-idleTime))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sweep = nil; p.count > 0 {
		p.sweep = time.AfterFunc(sweepEvery, p.closeOld)
	}
}

func (p *connPool) closeIdle() { p.closeBefore(time.Now().Add(time.Hour)) }

func (p *connPool) closeBefore(t time.Time) {
	for _, c := range p.takeBefore(t) {
		c.retire()
	}
}

func (p *connPool) takeBefore(t time.Time) (old []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, h := range p.hosts {
		h.idle = slices.DeleteFunc(h.idle, func(c *conn) bool {
			isOld := c.idleAt.Before(t)
			if isOld {
				old = append(old, c)
				p.less(key.workspace, 1)
			}
			return isOld
		})
	}
	if p.count == 0 && p.sweep != nil {
		p.sweep.Stop()
		p.sweep = nil
	}
	return old
}

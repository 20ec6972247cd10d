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
	// maxIdleOfHost and idleTime have the values of [Client.Transport].
	maxIdleOfHost = 256
	idleTime      = 90 * time.Second
	sweepEvery    = idleTime / 3
)

// connKey identifies the connections that an exchange can use. TLS has verified the host's
// name, and no connection of the pool uses a proxy.
type connKey struct {
	workspace    feedmill.ID
	scheme, host string // as in the URL
	tls          string // the ID of a [feedmill.ClientTLS]
}

// connPool counts all connections and keeps the idle ones.
type connPool struct {
	mu     sync.Mutex
	hosts  map[connKey]*hostConns
	idleOf map[feedmill.ID]int // idle connections of each workspace
	count  int                 // idle connections in total
	max    int
	sweep  *time.Timer  // runs while there are idle connections
	heads  atomic.Int64 // bytes of incomplete response headers
}

// hostConns are the connections of one key.
type hostConns struct {
	idle []*conn // the most recently used last
	// open is the number of connections, including idle ones, and opening the number of
	// those that are being opened.
	open, opening int
	// waiting are exchanges that wait for a connection.
	waiting []*waiter
}

func newConnPool(most int) *connPool {
	return &connPool{hosts: make(map[connKey]*hostConns), idleOf: make(map[feedmill.ID]int), max: most}
}

// at returns the connections of a key. forgetUnused removes the entry again.
func (p *connPool) at(key connKey) *hostConns {
	h, ok := p.hosts[key]
	if !ok {
		h = new(hostConns)
		p.hosts[key] = h
	}
	return h
}

func (p *connPool) forgetUnused(key connKey) {
	if h := p.hosts[key]; h != nil && h.open == 0 && h.opening == 0 && len(h.waiting) == 0 {
		delete(p.hosts, key)
	}
}

// add adds a new connection.
func (p *connPool) add(key connKey, c net.Conn) *conn { return p.register(newConn(p, key, c, c)) }

func (p *connPool) addTLS(key connKey, c *tlsConn) *conn {
	made := newConn(p, key, c.Conn, c.records.Conn)
	made.secure = c
	return p.register(made)
}

func (p *connPool) register(c *conn) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(c.key).open++
	return c
}

// ended removes a connection that is about to be closed.
func (p *connPool) ended(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(c.key)
	h.open--
	p.permitOpening(h)
	p.forgetUnused(c.key)
}

// popIdle returns the most recently used idle connection, or nil.
func (p *connPool) popIdle(key connKey, h *hostConns) *conn {
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	c := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	p.subtractIdle(key.workspace, 1)
	return c
}

// keep passes a connection to a waiting exchange, or keeps it as idle, or closes it if
// there are enough.
func (p *connPool) keep(c *conn) {
	c.reused, c.idleAt = true, time.Now()
	if !p.tryKeep(c) {
		c.retire()
	}
}

// tryKeep does so and returns false if the connection must be closed. A workspace can have
// no more idle connections than are still free, so that others find some.
func (p *connPool) tryKeep(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(c.key)
	if len(h.waiting) > 0 {
		h.next().turn <- c
		return true
	}
	if len(h.idle) >= maxIdleOfHost || p.idleOf[c.key.workspace] >= p.max-p.count {
		return false
	}
	h.idle = append(h.idle, c)
	p.count++
	p.idleOf[c.key.workspace]++
	if p.sweep == nil {
		p.sweep = time.AfterFunc(sweepEvery, p.closeOld)
	}
	return true
}

// subtractIdle subtracts n from the idle connections of a workspace.
func (p *connPool) subtractIdle(workspace feedmill.ID, n int) {
	p.count -= n
	if p.idleOf[workspace] -= n; p.idleOf[workspace] == 0 {
		delete(p.idleOf, workspace)
	}
}

// closeOld closes connections that were idle for longer than idleTime.
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
				p.subtractIdle(key.workspace, 1)
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

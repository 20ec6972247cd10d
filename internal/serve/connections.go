package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// maxConnections is the maximum number of client connections.
const maxConnections = 10_000

// Connections limits the open connections of a server. Above the limit it closes the
// connection that has waited the longest: one that has not sent a complete request header,
// or that is idle between requests. So clients that open connections and send nothing
// displace each other and not active clients.
//
// Connections without an authenticated request can have three quarters of the limit. Above
// that the one that has waited the longest is closed, or else the oldest, so that
// authenticated clients always find room.
type Connections struct {
	limit, anonymousLimit int
	// onAdmitted registers a function that is called when a request is authenticated.
	onAdmitted func(context.Context, func()) context.Context

	mu             sync.Mutex
	open           int
	waiting        *list.List // of net.Conn, the longest wait first
	waitingEntry   map[net.Conn]*list.Element
	anonymous      *list.List // of net.Conn, the oldest first
	anonymousEntry map[net.Conn]*list.Element
}

// ConnectionLimit returns the connection limit of a process that can have so many files
// open: at most half of them, because the store and deliveries need the rest.
func ConnectionLimit(files int) int { return min(files/2, maxConnections) }

// NewConnections returns a limiter for so many connections. onAdmitted returns a context,
// and calls a function when a request with that context is authenticated.
func NewConnections(limit int, onAdmitted func(context.Context, func()) context.Context) *Connections {
	return &Connections{
		onAdmitted: onAdmitted, limit: limit, anonymousLimit: max(1, limit-limit/4),
		waiting: list.New(), waitingEntry: make(map[net.Conn]*list.Element),
		anonymous: list.New(), anonymousEntry: make(map[net.Conn]*list.Element),
	}
}

// Begin is the server's ConnContext hook. It returns the context of the requests of a
// connection.
func (c *Connections) Begin(ctx context.Context, conn net.Conn) context.Context {
	return c.onAdmitted(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.markAuthenticated(conn)
	})
}

// markAuthenticated removes a connection from the anonymous ones.
func (c *Connections) markAuthenticated(conn net.Conn) {
	if e, ok := c.anonymousEntry[conn]; ok {
		c.anonymous.Remove(e)
		delete(c.anonymousEntry, conn)
	}
}

// anonymousVictim returns the anonymous connection to close: the one that has waited the
// longest, or else the oldest. It spares the newest, which may be about to authenticate.
func (c *Connections) anonymousVictim(newest net.Conn) net.Conn {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		conn := e.Value.(net.Conn)
		if _, anonymous := c.anonymousEntry[conn]; anonymous && conn != newest {
			return conn
		}
	}
	return c.anonymous.Front().Value.(net.Conn)
}

// Observe is the server's ConnState hook. A connection is new or idle until a request
// header has arrived.
func (c *Connections) Observe(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if state == http.StateNew {
		c.open++
		c.anonymousEntry[conn] = c.anonymous.PushBack(conn)
	}
	c.stopWaiting(conn)
	var victim net.Conn
	switch state {
	case http.StateNew, http.StateIdle:
		c.waitingEntry[conn] = c.waiting.PushBack(conn)
		victim = c.victim(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
		c.markAuthenticated(conn)
	}
	c.mu.Unlock()
	if victim != nil {
		if over, ok := victim.(*tls.Conn); ok {
			victim = over.NetConn() // closing TLS properly could block this for seconds
		}
		victim.Close() // the server notices and reports it as closed
	}
}

// victim returns the connection to close for a new or idle one, or nil.
func (c *Connections) victim(newest net.Conn) net.Conn {
	var victim net.Conn
	switch {
	case c.anonymous.Len() > c.anonymousLimit:
		victim = c.anonymousVictim(newest)
	case c.open > c.limit && c.waiting.Len() > 0:
		victim = c.waiting.Front().Value.(net.Conn)
	default:
		return nil
	}
	// It is chosen only once, however long the server takes to report it as closed.
	c.markAuthenticated(victim)
	c.stopWaiting(victim)
	return victim
}

// stopWaiting removes a connection from those that wait for a request.
func (c *Connections) stopWaiting(conn net.Conn) {
	if e, ok := c.waitingEntry[conn]; ok {
		c.waiting.Remove(e)
		delete(c.waitingEntry, conn)
	}
}

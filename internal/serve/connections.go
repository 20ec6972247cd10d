package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// maxConnections bounds the connections that clients may have open. Where the
// process may have fewer than twice as many files open, it is half of those: the
// store and the deliveries need the others.
const maxConnections = 10_000

// Connections keeps a server's connections within a bound. One too many costs
// the one its place that has been waiting for the longest: a connection that
// has not sent the whole header of a request, or is idle between two. So those
// who open connections and send nothing get in the way of each other, and not
// of those who have something to say.
//
// Those that have never shown a credential, whatever they are doing, may have
// three quarters of the places: past that the oldest of them goes, so that there is
// always room for those that have one.
type Connections struct {
	most, strangers int
	// onAdmitted has a function called once a request of a connection is admitted.
	onAdmitted func(context.Context, func()) context.Context

	mu      sync.Mutex
	open    int
	waiting *list.List // of net.Conn, the longest wait first
	place   map[net.Conn]*list.Element
	unknown *list.List // of net.Conn, the oldest first
	of      map[net.Conn]*list.Element
}

// ConnectionLimit is the bound for a process that may have so many files open.
func ConnectionLimit(files int) int { return min(files/2, maxConnections) }

// NewConnections keeps so many. OnAdmitted has a function called once a request with the context that
// it returns is admitted.
func NewConnections(most int, onAdmitted func(context.Context, func()) context.Context) *Connections {
	return &Connections{
		onAdmitted: onAdmitted, most: most, strangers: max(1, most-most/4),
		waiting: list.New(), place: make(map[net.Conn]*list.Element),
		unknown: list.New(), of: make(map[net.Conn]*list.Element),
	}
}

// Begin is the server's ConnContext hook: the context of the requests of a
// connection, which is known once one of them is admitted.
func (c *Connections) Begin(ctx context.Context, conn net.Conn) context.Context {
	return c.onAdmitted(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.know(conn)
	})
}

// know takes a connection out of those that have shown no credential.
func (c *Connections) know(conn net.Conn) {
	if e, ok := c.of[conn]; ok {
		c.unknown.Remove(e)
		delete(c.of, conn)
	}
}

// stranger is the one to go of those that have shown no credential, except the newest,
// which may be about to: that which has waited for the longest, or else the oldest.
func (c *Connections) stranger(newest net.Conn) net.Conn {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		conn := e.Value.(net.Conn)
		if _, unknown := c.of[conn]; unknown && conn != newest {
			return conn
		}
	}
	return c.unknown.Front().Value.(net.Conn)
}

// Observe is the server's ConnState hook. A connection is new or idle until the
// header of a request has come in.
func (c *Connections) Observe(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if state == http.StateNew {
		c.open++
		c.of[conn] = c.unknown.PushBack(conn)
	}
	if e, ok := c.place[conn]; ok {
		c.waiting.Remove(e)
		delete(c.place, conn)
	}
	var excess net.Conn
	switch state {
	case http.StateNew, http.StateIdle:
		c.place[conn] = c.waiting.PushBack(conn)
		excess = c.excess(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
		c.know(conn)
	}
	c.mu.Unlock()
	if excess != nil {
		if over, ok := excess.(*tls.Conn); ok {
			excess = over.NetConn() // to say goodbye could take seconds, in which nobody would come in
		}
		excess.Close() // the server notices and reports it as closed
	}
}

// excess is the connection that has to go for one that has just come, or nil.
func (c *Connections) excess(newest net.Conn) net.Conn {
	var gone net.Conn
	switch {
	case c.unknown.Len() > c.strangers:
		gone = c.stranger(newest)
	case c.open > c.most && c.waiting.Len() > 0:
		gone = c.waiting.Front().Value.(net.Conn)
	default:
		return nil
	}
	// It is closed once, however long the server takes to notice.
	c.know(gone)
	if e, ok := c.place[gone]; ok {
		c.waiting.Remove(e)
		delete(c.place, gone)
	}
	return gone
}

package app

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// maxConnections bounds the connections that clients may have open. Where the
// process may have fewer than twice as many files open, it is half of those: the
// store and the deliveries need the others.
const maxConnections = 10_000

// connections keeps a server's connections within a bound. One too many costs
// the one its place that has been waiting for the longest: a connection that
// has not sent the whole header of a request, or is idle between two. So those
// who open connections and send nothing get in the way of each other, and not
// of those who have something to say.
type connections struct {
	most int

	mu      sync.Mutex
	open    int
	waiting *list.List // of net.Conn, the longest wait first
	place   map[net.Conn]*list.Element
}

// connectionLimit is the bound for this process.
func connectionLimit() int { return min(openFiles()/2, maxConnections) }

func newConnections(most int) *connections {
	return &connections{most: most, waiting: list.New(), place: make(map[net.Conn]*list.Element)}
}

// openFiles is how many files this process may have open, and at least more than
// it needs where that is not known.
func openFiles() int {
	const plenty = 4 * maxConnections
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return plenty
	}
	return int(min(uint64(files.Cur), plenty))
}

// observe is the server's ConnState hook. A connection is new or idle until the
// header of a request has come in.
func (c *connections) observe(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if state == http.StateNew {
		c.open++
	}
	if e, ok := c.place[conn]; ok {
		c.waiting.Remove(e)
		delete(c.place, conn)
	}
	var excess net.Conn
	switch state {
	case http.StateNew, http.StateIdle:
		c.place[conn] = c.waiting.PushBack(conn)
		if c.open > c.most {
			excess = c.waiting.Remove(c.waiting.Front()).(net.Conn)
			delete(c.place, excess)
		}
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	c.mu.Unlock()
	if excess != nil {
		excess.Close() // the server notices and reports it as closed
	}
}

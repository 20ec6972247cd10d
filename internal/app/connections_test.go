package app

import (
	"net"
	"net/http"
	"testing"
)

// TestConnectionsThatWaitMakeRoom takes a server's connections through their
// states: the one that has waited for the longest is closed, never one that is
// being served.
func TestConnectionsThatWaitMakeRoom(t *testing.T) {
	c := newConnections(3)
	conns := make([]*closeable, 6)
	for i := range conns {
		conns[i] = new(closeable)
	}
	for _, step := range []struct {
		conn   int
		state  http.ConnState
		closed int // the one that is closed by the step, -1 for none
	}{
		{0, http.StateNew, -1},
		{1, http.StateNew, -1},
		{2, http.StateNew, -1},
		{0, http.StateActive, -1},
		{0, http.StateIdle, -1}, // behind 1 and 2
		{3, http.StateNew, 1},
		{1, http.StateClosed, -1},
		{2, http.StateActive, -1},
		{4, http.StateNew, 0},
		{0, http.StateClosed, -1},
		{3, http.StateActive, -1},
		{4, http.StateActive, -1},
		{5, http.StateNew, 5}, // all others are busy
		{5, http.StateClosed, -1},
		{4, http.StateClosed, -1},
		{2, http.StateIdle, -1},
	} {
		c.observe(conns[step.conn], step.state)
		for i, conn := range conns {
			if want := i == step.closed; conn.closed != want {
				t.Fatalf("after %v of connection %d: connection %d is closed: %v, want %v", step.state, step.conn, i, conn.closed, want)
			}
			conn.closed = false
		}
	}
	if c.open != 2 || c.waiting.Len() != 1 || len(c.place) != 1 {
		t.Errorf("%d connections are open, %d of them waiting (%d places), want 2 and 1", c.open, c.waiting.Len(), len(c.place))
	}
}

type closeable struct {
	net.Conn
	closed bool
}

func (c *closeable) Close() error { c.closed = true; return nil }

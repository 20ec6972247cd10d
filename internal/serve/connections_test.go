package serve

import (
	"context"
	"net"
	"net/http"
	"testing"
)

// TestAnonymousConnectionsLeaveRoom checks that connections without a credential never use
// the whole limit, whatever they are doing.
func TestAnonymousConnectionsLeaveRoom(t *testing.T) {
	c := NewConnections(4, unwatched)
	var conns [6]closeable
	for i := range 3 {
		c.Observe(&conns[i], http.StateNew)
		c.Observe(&conns[i], http.StateActive)
	}
	c.Observe(&conns[3], http.StateNew)
	if !conns[0].closed || conns[3].closed {
		t.Error("the oldest anonymous connection does not make room for one more")
	}
	c.Observe(&conns[0], http.StateClosed)
	c.Begin(t.Context(), &conns[3])
	c.markAuthenticated(&conns[3])
	c.Observe(&conns[4], http.StateNew)
	if conns[1].closed || conns[2].closed || conns[3].closed || conns[4].closed {
		t.Error("there is no room for three anonymous connections and an authenticated one")
	}
	c.Observe(&conns[5], http.StateNew)
	if !conns[4].closed || conns[1].closed {
		t.Error("an anonymous connection that waits is not closed before one that is served")
	}
	for i := range conns[1:] {
		c.Observe(&conns[i+1], http.StateClosed)
	}
	if c.open != 0 || c.anonymous.Len() != 0 || len(c.anonymousEntry) != 0 || c.waiting.Len() != 0 {
		t.Errorf("%d connections are left, %d of them anonymous", c.open, c.anonymous.Len())
	}
}

// TestConnectionsThatWaitMakeRoom takes a server's connections through their
// states: the one that has waited for the longest is closed, never one that is
// being served.
func TestConnectionsThatWaitMakeRoom(t *testing.T) {
	c := NewConnections(3, unwatched)
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
		c.Observe(conns[step.conn], step.state)
		c.markAuthenticated(conns[step.conn])
		for i, conn := range conns {
			if want := i == step.closed; conn.closed != want {
				t.Fatalf("after %v of connection %d: connection %d is closed: %v, want %v", step.state, step.conn, i, conn.closed, want)
			}
			conn.closed = false
		}
	}
	if c.open != 2 || c.waiting.Len() != 1 || len(c.waitingEntry) != 1 {
		t.Errorf("%d connections are open, %d of them waiting (%d places), want 2 and 1", c.open, c.waiting.Len(), len(c.waitingEntry))
	}
}

type closeable struct {
	net.Conn
	closed bool
}

func (c *closeable) Close() error { c.closed = true; return nil }

// unwatched never reports that a request is admitted.
func unwatched(ctx context.Context, _ func()) context.Context { return ctx }

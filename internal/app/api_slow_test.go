package app

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// oneConn is a listener with a single connection to accept.
type oneConn struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error   { close(l.done); return nil }
func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{} }

// hold connects to the server over a pipe, whose deadlines run on the test's
// own clock, lets the client do its worst, and returns how long it was let.
func hold(t *testing.T, client func(net.Conn)) time.Duration {
	t.Helper()
	l := &oneConn{conns: make(chan net.Conn), done: make(chan struct{})}
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := newServer(ok, slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	ours, theirs := net.Pipe()
	l.conns <- theirs
	start := time.Now()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		io.Copy(io.Discard, ours)
	}()
	client(ours)
	<-gone
	took := time.Since(start)
	ours.Close()
	server.Close()
	<-ended
	return took
}

// trickle sends a byte a second for as long as they are taken.
func trickle(conn net.Conn) {
	for {
		if _, err := io.WriteString(conn, "a"); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func TestSlowClientsAreCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		most   time.Duration
		client func(net.Conn)
	}{
		{"header in a trickle", headerTimeout, func(conn net.Conn) {
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: f\r\nX-Slow: ")
			trickle(conn)
		}},
		{"request line in a trickle", headerTimeout, func(conn net.Conn) {
			io.WriteString(conn, "GET /")
			trickle(conn)
		}},
		{"nothing", headerTimeout, func(net.Conn) {}},
		{"nothing after a request", idleTimeout, func(conn net.Conn) {
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: f\r\n\r\n")
		}},
		{"a second header in a trickle", headerTimeout, func(conn net.Conn) {
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: f\r\n\r\nGET / HTTP/1.1\r\nX-Slow: ")
			trickle(conn)
		}},
		{"a header without end", time.Second, func(conn net.Conn) {
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: f\r\nX-Long: "+strings.Repeat("a", maxHeader+8<<10))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// A little more: the server lingers for a moment on a
				// connection that it refuses.
				if took := hold(t, c.client); took > c.most+2*time.Second {
					t.Errorf("the connection was held for %v, want at most %v", took, c.most)
				}
			})
		})
	}
}

package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// pipeListener hands out the one end of pipes whose other ends clients hold:
// connections whose deadlines run on a test's own clock.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

// connect serves s over a pipe and returns the client's end of it.
func connect(t *testing.T, s http.Handler) net.Conn {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: s}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	ours, theirs := net.Pipe()
	l.conns <- theirs
	t.Cleanup(func() {
		ours.Close()
		server.Close()
		<-ended
	})
	return ours
}

func TestBodyThatTricklesIsCut(t *testing.T) {
	for _, path := range []string{"/reads", "/ignores", "/healthz", "/docs", "/nothing"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTestServer(new(strings.Builder),
					route{method: "GET", path: "/reads", scope: feedmill.ScopeRead, body: smallBody, handle: func(c *call) (answer, error) {
						_, err := c.readJSON()
						return answer{status: http.StatusNoContent}, err
					}},
					route{method: "GET", path: "/ignores", scope: feedmill.ScopeRead, handle: ok})
				conn := connect(t, s)
				start := time.Now()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					io.Copy(io.Discard, conn)
				}()
				io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: f\r\nContent-Length: 100000\r\n\r\n")
				for {
					if _, err := io.WriteString(conn, " "); err != nil {
						break
					}
					time.Sleep(time.Second)
				}
				<-gone
				if took := time.Since(start); took > readTimeout+5*time.Second {
					t.Errorf("the connection was held for %v", took)
				}
			})
		})
	}
}

func TestAnswerThatIsNotFetchedIsCut(t *testing.T) {
	for _, path := range []string{"/openapi.json", "/docs/api", "/metrics", "/docs"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := connect(t, newTestServer(new(strings.Builder)))
				start := time.Now()
				io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: f\r\n\r\n")
				time.Sleep(writeTimeout + time.Second)
				conn.SetReadDeadline(time.Now().Add(time.Second))
				// A pipe has no buffer: what can still be read is what the
				// server is still trying to write.
				if n, err := io.Copy(io.Discard, conn); n != 0 || err != nil {
					t.Errorf("%d bytes came %v after the request, %v", n, time.Since(start), err)
				}
			})
		})
	}
}

// A store that has vanished does not hold a request for ever.
func TestWorkIsBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(new(strings.Builder), route{method: "GET", path: "/hangs", scope: feedmill.ScopeRead, handle: func(c *call) (answer, error) {
			<-c.ctx().Done()
			return answer{}, fmt.Errorf("reading: %w", c.ctx().Err())
		}})
		start := time.Now()
		w := ask(s, "GET", "/hangs", "")
		if took := time.Since(start); took != workTimeout {
			t.Errorf("it took %v, want %v", took, workTimeout)
		}
		if p := readProblem(t, w); w.Code != 503 || w.Header().Get("Retry-After") == "" || p.Type != "/problems/unavailable" || p.RequestID == "" {
			t.Errorf("%d %v: %s", w.Code, w.Header(), w.Body)
		}
	})
}

// The time that a client has for its body must not end the work on a request
// that has none, or has sent it.
func TestWorkMayTakeLongerThanABody(t *testing.T) {
	for _, body := range []string{"", "{}"} {
		synctest.Test(t, func(t *testing.T) {
			s := newTestServer(new(strings.Builder), route{method: "GET", path: "/slow", scope: feedmill.ScopeRead, body: smallBody, handle: func(c *call) (answer, error) {
				if body != "" {
					if _, err := c.readJSON(); err != nil {
						return answer{}, err
					}
				}
				select {
				case <-c.ctx().Done():
					return answer{}, errors.New("the context ended")
				case <-time.After(readTimeout + 10*time.Second):
					return ok(c)
				}
			}})
			conn := connect(t, s)
			io.WriteString(conn, "GET /slow HTTP/1.1\r\nHost: f\r\nContent-Length: "+map[string]string{"": "0", "{}": "2"}[body]+"\r\n\r\n"+body)
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != http.StatusNoContent {
				t.Errorf("with the body %q the answer is %d", body, answer.StatusCode)
			}
		})
	}
}

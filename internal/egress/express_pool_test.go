package egress

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

func TestExpressKeepsFewConnectionsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newConnPool(6)
		a, b := connKey{host: "a"}, connKey{host: "b"}
		var ends []net.Conn
		for i := range 5 {
			here, there := net.Pipe()
			ends = append(ends, there)
			p.keep(p.add([]connKey{a, b}[i%2], here))
		}
		if p.count != 3 {
			t.Errorf("%d are kept, want 3", p.count)
		}
		time.Sleep(idleTime / 2)
		c, err := p.acquire(t.Context(), time.Time{}, a)
		if err != nil {
			t.Fatal(err)
		}
		p.keep(c)
		time.Sleep(idleTime*3/4 + sweepEvery)
		synctest.Wait()
		if p.count != 1 || p.hosts[b] != nil {
			t.Errorf("%d are left, want the one that was used last", p.count)
		}
		p.closeIdle()
		if p.count != 0 || len(p.idleOf) != 0 || len(p.hosts) != 0 || p.sweep != nil {
			t.Error("some are left")
		}
		for _, c := range ends {
			c.Close()
		}
	})
}

// A workspace leaves room for the connections of others.
func TestIdleConnectionsAreShared(t *testing.T) {
	p := newConnPool(8)
	kept := func(workspace feedmill.ID) (n int) {
		for range 8 {
			here, there := net.Pipe()
			t.Cleanup(func() { there.Close() })
			p.keep(p.add(connKey{workspace: workspace, host: "a"}, here))
		}
		return p.idleOf[workspace]
	}
	if one, two, three := kept("one"), kept("two"), kept("three"); one != 4 || two != 2 || three != 1 {
		t.Errorf("%d, %d and %d are kept of 8", one, two, three)
	}
	p.closeIdle()
}

// talkative is an endpoint that answers each request with 204, and lets a test
// write more on its connections.
type talkative struct {
	url         string
	roots       func() Options
	connections chan net.Conn
}

func newTalkative(t *testing.T, secure bool) talkative {
	t.Helper()
	l, e := listenLocally(t), talkative{connections: make(chan net.Conn, 10)}
	e.url, e.roots = "http://"+l.Addr().String(), func() Options { return Options{Allow: []string{"127.0.0.1"}} }
	if secure {
		srv := startTLS(t, http.NotFoundHandler(), nil) // for its certificate
		e.url = "https://" + l.Addr().String()
		e.roots = func() Options { return Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(srv)} }
		l = tls.NewListener(l, &tls.Config{Certificates: srv.TLS.Certificates})
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go func() {
				r := bufio.NewReader(c)
				for {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					io.Copy(io.Discard, req.Body)
					io.WriteString(c, noContent)
					e.connections <- c
				}
			}()
		}
	}()
	return e
}

const (
	gone    = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
	tooSlow = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

// Unexpected input of an endpoint is not taken for a response.
func TestUnreadBytesAreNoAnswer(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		for _, said := range []string{gone, tooSlow, "H", ""} {
			t.Run(name+" "+said[:min(len(said), 12)], func(t *testing.T) {
				e := newTalkative(t, secure)
				x := newExpress(t, e.roots())
				for range 3 {
					status, _, err := post(t, x, e.url, "{}")
					if status != http.StatusNoContent || err != nil {
						t.Fatalf("answered %d, %v", status, err)
					}
					c := <-e.connections
					if said == "" {
						c.Close()
					} else {
						io.WriteString(c, said)
					}
					awaitSpeech(x)
				}
			})
		}
	}
}

// awaitSpeech waits until every idle connection has input.
func awaitSpeech(x *Express) {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	for _, h := range x.pool.hosts {
		for _, c := range h.idle {
			for c.hasNoInput() {
				runtime.Gosched()
			}
		}
	}
}

// What came together with an answer is seen below TLS as well, whole or not.
func TestWhatTLSHoldsIsUnread(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		cut  int // bytes that are held back of the last record
		kept int
	}{
		"an answer":                          {noContent, 0, 1},
		"an answer and more":                 {noContent + gone, 0, 0},
		"an answer and another record":       {noContent + "|" + gone, 0, 0},
		"an answer and a part of a record":   {noContent + "|" + gone, 7, 0},
		"an answer and a part of its header": {noContent + "|H", 1 + 1 + 16 + 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv := startTLS(t, http.NotFoundHandler(), nil)
			l := listenLocally(t)
			done := make(chan struct{})
			t.Cleanup(func() { l.Close(); <-done })
			end := make(chan struct{})
			go func() {
				defer close(done)
				socket, err := l.Accept()
				if err != nil {
					return
				}
				defer socket.Close()
				out := &heldBack{Conn: socket}
				c := tls.Server(out, &tls.Config{Certificates: srv.TLS.Certificates})
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				io.Copy(io.Discard, req.Body)
				out.hold = true
				for _, record := range splitRecords(tt.text) {
					io.WriteString(c, record)
				}
				socket.Write(out.held[:len(out.held)-tt.cut])
				<-end
			}()
			x := newExpress(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(srv)})
			status, _, err := post(t, x, "https://"+l.Addr().String(), "{}")
			if status != http.StatusNoContent || err != nil {
				t.Errorf("answered %d, %v", status, err)
			}
			if x.pool.count != tt.kept {
				t.Errorf("%d connections are kept, want %d", x.pool.count, tt.kept)
			}
			close(end)
		})
	}
}

func splitRecords(text string) (records []string) {
	for i, begin := 0, 0; i <= len(text); i++ {
		if i == len(text) || text[i] == '|' {
			records = append(records, text[begin:i])
			begin = i + 1
		}
	}
	return records
}

// heldBack is a socket that withholds what is written while hold is set.
type heldBack struct {
	net.Conn
	hold bool
	held []byte
}

func (h *heldBack) Write(p []byte) (int, error) {
	if !h.hold {
		return h.Conn.Write(p)
	}
	h.held = append(h.held, p...)
	return len(p), nil
}

// A connection serves the workspace that it was made for and no other.
func TestConnectionsBelongToWorkspaces(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			e := newTalkative(t, secure)
			x := newExpress(t, e.roots())
			used := make(map[feedmill.ID]net.Conn)
			for range 2 {
				for _, workspace := range []feedmill.ID{"ws_1", "ws_2"} {
					if status, _, err := postFor(t, x, workspace, e.url, "{}"); status != http.StatusNoContent {
						t.Fatalf("answered %d, %v", status, err)
					}
					c := <-e.connections
					if used[workspace] != nil && used[workspace] != c {
						t.Errorf("%s got another connection", workspace)
					}
					used[workspace] = c
				}
			}
			if used["ws_1"] == used["ws_2"] {
				t.Error("two workspaces share a connection")
			}
		})
	}
}

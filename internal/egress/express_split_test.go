package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// splitConn is a connection that returns a response in given parts and then ends.
type splitConn struct {
	net.Conn // nil
	parts    [][]byte
}

func (c *splitConn) Read(p []byte) (int, error) {
	for len(c.parts) > 0 && len(c.parts[0]) == 0 {
		c.parts = c.parts[1:]
	}
	if len(c.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.parts[0])
	c.parts[0] = c.parts[0][n:]
	return n, nil
}

func (c *splitConn) Write(p []byte) (int, error)    { return len(p), nil }
func (*splitConn) Close() error                     { return nil }
func (*splitConn) SetDeadline(time.Time) error      { return nil }
func (*splitConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *splitConn) socket(t *testing.T) *rawSocket { return &rawSocket{t: t, conn: c} }

// rawSocket is what is below a splitConn. Between two parts it has nothing to read.
type rawSocket struct {
	t    *testing.T
	conn *splitConn
}

func (s *rawSocket) Control(func(fd uintptr)) error    { return nil }
func (s *rawSocket) Write(func(fd uintptr) bool) error { return nil }

func (s *rawSocket) Read(take func(fd uintptr) bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	fd := r.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return err
	}
	if take(fd) {
		s.t.Error("something was read where there is nothing")
	}
	next := make([]byte, answerBuffer)
	n, err := s.conn.Read(next)
	if err == nil {
		w.Write(next[:n])
	} else {
		w.Close()
	}
	if !take(fd) {
		s.t.Error("nothing was read where there is something")
	}
	return nil
}

// asNetHTTP is what net/http reads of an answer, whatever comes before it.
func asNetHTTP(text string) (status int, body string, failed bool) {
	r := bufio.NewReader(strings.NewReader(text))
	for range maxInformational + 1 {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return 0, "", true
		}
		if resp.StatusCode >= 200 {
			b, err := io.ReadAll(resp.Body)
			return resp.StatusCode, string(b), err != nil
		}
	}
	return 0, "", true
}

var splitAnswers = map[string]struct {
	text string
	kept bool // the connection is
}{
	"small":         {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true},
	"no content":    {"HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n", true},
	"bare newlines": {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", true},
	"says to wait":  {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", true},
	"says to wait for ever": {strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", maxInformational+1) +
		"HTTP/1.1 204 No Content\r\n\r\n", false},
	"folded":               {"HTTP/1.1 200 OK\r\nX-A: a\r\n\tb\r\n \r\nContent-Length:\r\n 2\r\n\r\nok", true},
	"folded at once":       {"HTTP/1.1 200 OK\r\n X-A: a\r\nContent-Length: 2\r\n\r\nok", false},
	"chunks":               {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\nX-T: t\r\n\r\n", true},
	"chunks and a length":  {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true},
	"up to the end":        {"HTTP/1.1 200 OK\r\nX: y\r\n\r\nok", false},
	"closes":               {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false},
	"more than was asked":  {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", false},
	"more behind no body":  {"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", false},
	"more behind chunks":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 410 Gone\r\n\r\n", false},
	"two lengths":          {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!", false},
	"a name with a space":  {"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", false},
	"a return alone":       {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\r\n\r\nok", false},
	"ends within a line":   {"HTTP/1.1 200 OK\r\nContent-Le", false},
	"ends before a line":   {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", false},
	"ends within the body": {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", false},
	"is no HTTP":           {"SSH-2.0-OpenSSH\r\n\r\n", false},
	"begins like HTTP":     {"HTTPS\r\n\r\n", false},
	"is nothing":           {"", false},
}

// A response is read as net/http reads it however it is split, and a kept connection has
// no unread data.
func TestAnswersInPieces(t *testing.T) {
	u := &url.URL{Scheme: "http", Host: "example.com"}
	for name, tt := range splitAnswers {
		status, body, failed := asNetHTTP(tt.text)
		for i := range len(tt.text) + 1 {
			for kind, open := range map[string]func(*splitConn, *connPool) *conn{
				"a socket": func(s *splitConn, p *connPool) *conn {
					c := newConn(p, connKey{}, s, s)
					c.socket = s.socket(t)
					return c
				},
				"another connection": func(s *splitConn, p *connPool) *conn { return newConn(p, connKey{}, s, s) },
			} {
				pool := newConnPool(1)
				c := pool.register(open(&splitConn{parts: [][]byte{[]byte(tt.text[:i]), []byte(tt.text[i:])}}, pool))
				a, err := c.exchange(t.Context(), time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: u})
				var got []byte
				if err == nil {
					got, err = io.ReadAll(a.Body)
				}
				if (err != nil) != failed || a.Status != status || string(got) != body {
					t.Errorf("%s, cut at %d on %s: %d %q, %v; want %d %q", name, i, kind, a.Status, got, err, status, body)
				}
				// What comes alone behind an answer is seen before the connection is used again.
				if kept := pool.count == 1; kept != tt.kept && !(kept && strings.HasPrefix(name, "more")) || kept && (len(c.unread) > 0 || c.buffer != nil) {
					t.Errorf("%s, cut at %d on %s: the connection is kept: %v", name, i, kind, kept)
				}
				if n := pool.heads.Load(); n != 0 {
					t.Errorf("%s, cut at %d on %s: %d bytes are counted still", name, i, kind, n)
				}
				pool.closeIdle()
			}
		}
	}
}

// The same is true where the pieces are records of TLS.
func TestAnswersInRecords(t *testing.T) {
	srv := startTLS(t, speaker, nil)
	trusting := newHandshaker(rootsOf(srv))
	u := &url.URL{Scheme: "https", Host: "example.com"}
	for name, tt := range splitAnswers {
		status, body, failed := asNetHTTP(tt.text)
		for i := 0; i <= len(tt.text); i += 11 {
			here, there := net.Pipe()
			go func() {
				s := tls.Server(there, &tls.Config{Certificates: srv.TLS.Certificates, SessionTicketsDisabled: true})
				http.ReadRequest(bufio.NewReader(s))
				s.Write([]byte(tt.text[:i]))
				s.Write([]byte(tt.text[i:]))
				s.Close()
			}()
			secured, err := trusting.handshake(t.Context(), here, &feedmill.HTTPRequest{Workspace: "ws_1", URL: u}, "http/1.1")
			if err != nil {
				t.Fatal(err)
			}
			pool := newConnPool(1)
			c := pool.addTLS(connKey{}, secured)
			a, err := c.exchange(t.Context(), time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: u})
			var got []byte
			if err == nil {
				got, err = io.ReadAll(a.Body)
			}
			if (err != nil) != failed || a.Status != status || string(got) != body {
				t.Errorf("%s, cut at %d: %d %q, %v; want %d %q", name, i, a.Status, got, err, status, body)
			}
			if kept := pool.count == 1; kept && !tt.kept && !strings.HasPrefix(name, "more") || kept && (len(c.unread) > 0 || c.buffer != nil) {
				t.Errorf("%s, cut at %d: the connection is kept: %v", name, i, kept)
			}
			here.Close() // nobody listens to farewells
			pool.closeIdle()
		}
	}
}

// A header that is larger than one may be ends the exchange, wherever it gets so.
func TestHeadersThatAreTooLarge(t *testing.T) {
	u := &url.URL{Scheme: "http", Host: "example.com"}
	const begin = "HTTP/1.1 200 OK\r\n"
	for name, text := range map[string]string{
		"lines":         begin + strings.Repeat("X: "+strings.Repeat("v", 100)+"\r\n", maxHeaderBytes/100),
		"a line":        begin + "X: " + strings.Repeat("v", maxHeaderBytes),
		"folds":         begin + "X: v\r\n" + strings.Repeat(" "+strings.Repeat("v", 100)+"\r\n", maxHeaderBytes/100),
		"says to wait":  "HTTP/1.1 103 Early Hints\r\n" + strings.Repeat("X: "+strings.Repeat("v", 100)+"\r\n", maxHeaderBytes/210) + "\r\n" + begin + strings.Repeat("X: "+strings.Repeat("v", 100)+"\r\n", maxHeaderBytes/100),
		"a status line": "HTTP/1.1 200 " + strings.Repeat("v", maxHeaderBytes),
	} {
		for _, size := range []int{100, 5000} {
			var parts [][]byte
			for b := []byte(text); len(b) > 0; b = b[min(size, len(b)):] {
				parts = append(parts, bytes.Clone(b[:min(size, len(b))]))
			}
			pool, s := newConnPool(1), &splitConn{parts: parts}
			c := newConn(pool, connKey{}, s, s)
			c.socket = s.socket(t)
			pool.register(c)
			_, err := c.exchange(t.Context(), time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: u})
			if err != errHeaderTooLarge || pool.count != 0 || pool.heads.Load() != 0 || c.buffer != nil {
				t.Errorf("%s in parts of %d: %v, %d connections are kept and %d bytes counted", name, size, err, pool.count, pool.heads.Load())
			}
		}
	}
}

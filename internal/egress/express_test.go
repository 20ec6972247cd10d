package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

func newExpress(t *testing.T, o Options) *Express {
	t.Helper()
	x := newClient(t, o).Express(100, 1<<20)
	t.Cleanup(x.CloseIdleConnections)
	return x
}

// post posts a body and reads the answer.
func post(t *testing.T, x *Express, address, body string, header ...[2]string) (status int, answer string, err error) {
	t.Helper()
	return postFor(t, x, "ws_1", address, body, header...)
}

func postFor(t *testing.T, x *Express, workspace feedmill.ID, address, body string, header ...[2]string) (status int, answer string, err error) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var timing feedmill.Timing
	a, err := x.Exchange(t.Context(), time.Now().Add(time.Minute), &feedmill.HTTPRequest{Workspace: workspace, Method: http.MethodPost, URL: u, Header: header, Body: []byte(body)}, &timing)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a.Status, string(text), err
}

func TestExpressKeepsThePolicy(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(srv.Close)
	for _, tt := range []struct {
		allow []string
		url   string
		want  error
	}{
		{[]string{"127.0.0.1"}, srv.URL, nil},
		{[]string{"hooks.test"}, "http://hooks.test:" + portOf(srv), nil},
		{[]string{"hooks.test"}, srv.URL, ErrForbidden},
		{[]string{"127.0.0.1"}, "http://hooks.test:" + portOf(srv), ErrForbidden},
		{nil, srv.URL, ErrForbidden},
		{nil, "https://localhost:" + portOf(srv), ErrForbidden},
		{[]string{"127.0.0.1"}, "http://127.1:" + portOf(srv), ErrURL},
	} {
		x := newExpress(t, Options{Allow: tt.allow, Resolver: toLoopback})
		for range 2 { // a second time there may be a connection
			if _, _, err := post(t, x, tt.url, "{}"); !errors.Is(err, tt.want) {
				t.Errorf("POST %s with %v allowed = %v, want %v", tt.url, tt.allow, err, tt.want)
			}
		}
	}
}

func TestExpressSendsAsNetHTTPDoes(t *testing.T) {
	type seen struct {
		method, uri, host, body string
		header                  http.Header
		length                  int64
	}
	got := make(chan seen, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, r.RequestURI, r.Host, string(body), r.Header, r.ContentLength}
	}))
	t.Cleanup(srv.Close)
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	for _, tt := range []struct {
		method, path string
		body         []byte
		header       [][2]string
	}{
		{http.MethodPost, "/hook?a=1&b=%20", []byte(`{"x":1}`), [][2]string{{"Content-Type", "application/json"}, {"X-Service-Event", "metric.created"}}},
		{http.MethodPost, "", nil, nil},
		{http.MethodPost, "/large", bytes.Repeat([]byte("x"), 1<<20), nil},
		{http.MethodGet, "/get?payload=%7B%7D", nil, [][2]string{{"Accept-Encoding", "identity"}, {"User-Agent", "Feedmill/test"}}},
		{http.MethodPost, "/unusual", []byte("{}"), [][2]string{{"X-Name", "Zoë"}}}, // which net/http sends
	} {
		u, err := url.Parse(srv.URL + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		var both [2]seen
		for i, exchange := range []func(context.Context, time.Time, *feedmill.HTTPRequest, *feedmill.Timing) (feedmill.HTTPAnswer, error){x.Exchange, x.useNetHTTP} {
			var timing feedmill.Timing
			a, err := exchange(t.Context(), time.Time{}, &feedmill.HTTPRequest{Method: tt.method, URL: u, Header: tt.header, Body: tt.body}, &timing)
			if err != nil {
				t.Fatal(err)
			}
			a.Body.Close()
			both[i] = <-got
			if timing.FirstByte <= 0 {
				t.Errorf("%s: the first byte came after %v", tt.path, timing.FirstByte)
			}
		}
		for i := range both {
			if both[i].header.Get("User-Agent") == "Go-http-client/1.1" {
				both[i].header.Del("User-Agent") // net/http's own
			}
		}
		if diff := cmp.Diff(both[1], both[0], cmp.AllowUnexported(seen{})); diff != "" {
			t.Errorf("%s %s differs from what net/http sends:\n%.1000s", tt.method, tt.path, diff)
		}
	}
}

// script is a server that answers each request on a connection with the next of
// its texts, and then closes the connection.
func script(t *testing.T, connections *atomic.Int32, texts ...string) string {
	t.Helper()
	l := listenLocally(t)
	play(t, l, connections, texts...)
	return "http://" + l.Addr().String()
}

func listenLocally(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func play(t *testing.T, l net.Listener, connections *atomic.Int32, texts ...string) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			r := bufio.NewReader(c)
			for _, text := range texts {
				req, err := http.ReadRequest(r)
				if err != nil {
					break
				}
				io.Copy(io.Discard, req.Body)
				io.WriteString(c, text)
			}
			c.Close()
		}
	}()
}

const (
	noContent = "HTTP/1.1 204 No Content\r\n\r\n"
	inChunks  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
)

func TestExpressReadsAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		texts       []string
		posts       int
		status      int
		answer      string
		connections int32
		fails       error
	}{
		"kept open":            {[]string{noContent, noContent, noContent}, 3, 204, "", 1, nil},
		"with a length":        {[]string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", noContent}, 1, 200, "ok", 1, nil},
		"in chunks":            {[]string{inChunks, inChunks, inChunks}, 3, 200, "ok", 1, nil},
		"up to the end":        {[]string{"HTTP/1.1 200 OK\r\n\r\nall of it"}, 2, 200, "all of it", 2, nil},
		"HTTP/1.0":             {[]string{"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", noContent}, 2, 200, "ok", 2, nil},
		"to be closed":         {[]string{"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", noContent}, 2, 204, "", 2, nil},
		"more than an answer":  {[]string{noContent + noContent}, 2, 204, "", 2, nil},
		"told to wait":         {[]string{"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + noContent}, 1, 204, "", 1, nil},
		"told to wait forever": {[]string{strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 10)}, 1, 0, "", 1, errTooManyInformational},
		"another protocol":     {[]string{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"}, 1, 101, "", 1, nil},
		"no HTTP":              {[]string{"220 mail.example.org ESMTP\r\n"}, 1, 0, "", 1, errNotHTTP},
		"no HTTP further on":   {[]string{"HTTP/1.1 OK\r\n\r\n"}, 1, 0, "", 1, errNotHTTP},
		"two lengths":          {[]string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"}, 1, 0, "", 1, errNotHTTP},
		"a part of a header":   {[]string{"HTTP/1.1 200 OK\r\nDate: x"}, 1, 0, "", 1, io.ErrUnexpectedEOF},
		"a trailer":            {[]string{strings.Replace(inChunks, "0\r\n\r\n", "0\r\nX: y\r\n\r\n", 1), noContent}, 1, 200, "ok", 1, nil},
		"kept open in 1.0":     {[]string{"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", noContent}, 1, 200, "ok", 1, nil},
		"nothing":              {[]string{""}, 1, 0, "", 1, io.EOF},
		"a broken length":      {[]string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok"}, 1, 200, "ok", 1, io.ErrUnexpectedEOF},
		"an endless header":    {[]string{"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHeaderBytes) + "\r\n\r\n"}, 1, 0, "", 1, errHeaderTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int32
			address := script(t, &connections, tt.texts...)
			x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
			for range tt.posts {
				status, answer, err := post(t, x, address, "{}")
				if status != tt.status || answer != tt.answer || !errors.Is(err, tt.fails) {
					t.Errorf("answered %d %q and %v, want %d %q", status, answer, err, tt.status, tt.answer)
				}
			}
			if n := connections.Load(); n != tt.connections {
				t.Errorf("%d connections were made, want %d", n, tt.connections)
			}
		})
	}
}

// An endpoint that answers before it has read all of a request, and closes, is heard.
func TestExpressHearsEarlyAnswers(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			l, o, scheme := listenLocally(t), Options{Allow: []string{"127.0.0.1"}}, "http://"
			if secure {
				srv := startTLS(t, http.NotFoundHandler(), nil) // for its certificate
				l, scheme = tls.NewListener(l, &tls.Config{Certificates: srv.TLS.Certificates}), "https://"
				o.RootCAs = rootsOf(srv)
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
					http.ReadRequest(bufio.NewReader(c)) // its header
					io.WriteString(c, tooLarge)
					c.Close()
				}
			}()
			x := newExpress(t, o)
			body := strings.Repeat("x", 64<<20) // more than sockets take
			for range 2 {
				if status, _, err := post(t, x, scheme+l.Addr().String(), body); status != http.StatusRequestEntityTooLarge {
					t.Errorf("answered %d, %v", status, err)
				}
			}
			if x.pool.count != 0 {
				t.Error("the connection is kept")
			}
		})
	}
}

const tooLarge = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"

// If the endpoint closed an idle connection, the request is sent again in the same attempt.
func TestExpressSendsAgainOnAClosedConnection(t *testing.T) {
	var connections atomic.Int32
	address := script(t, &connections, noContent) // closed after each
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	for i := range 3 {
		if status, _, err := post(t, x, address, "{}"); status != 204 {
			t.Errorf("request %d is answered with %d and %v", i, status, err)
		}
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("%d connections were made, want 3", n)
	}
}

func TestExpressEndsWithItsContext(t *testing.T) {
	began := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/quick" {
			return
		}
		if r.URL.Path == "/body" {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
		}
		began <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	for _, path := range []string{"/", "/body"} {
		u, _ := url.Parse(srv.URL + path)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-began; cancel() }()
		var timing feedmill.Timing
		// Leave an idle connection that has watched the context.
		quick, _ := url.Parse(srv.URL + "/quick")
		if _, err := x.Exchange(ctx, time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: quick}, &timing); err != nil {
			t.Fatal(err)
		}
		a, err := x.Exchange(ctx, time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: u, Body: []byte("{}")}, &timing)
		if err == nil {
			_, err = io.ReadAll(a.Body)
			a.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the exchange went on without its context", path)
		}
	}
	if n := x.pool.count; n != 0 {
		t.Errorf("%d connections were kept", n)
	}
}

// A context of its own for each exchange costs no connection.
func TestExpressOutlivesItsContext(t *testing.T) {
	var connections atomic.Int32
	address := script(t, &connections, noContent, noContent, noContent, noContent)
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	u, _ := url.Parse(address)
	for range 4 {
		ctx, end := context.WithCancel(t.Context())
		var timing feedmill.Timing
		a, err := x.Exchange(ctx, time.Now().Add(time.Minute), &feedmill.HTTPRequest{Method: http.MethodPost, URL: u}, &timing)
		if err != nil || a.Status != 204 {
			t.Errorf("answered %d and %v", a.Status, err)
		}
		end()
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("there were %d connections, want 1", n)
	}
}

func TestExpressChangesItsContext(t *testing.T) {
	var connections atomic.Int32
	address := script(t, &connections, noContent, noContent, noContent, noContent)
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	u, _ := url.Parse(address)
	first, endFirst := context.WithCancel(t.Context())
	second, endSecond := context.WithCancel(t.Context())
	defer endSecond()
	for i, tt := range []struct {
		ctx         context.Context
		before      func()
		connections int32
		fails       bool
	}{
		{ctx: first, connections: 1},
		{ctx: first, connections: 1},
		{ctx: second, connections: 1}, // the first still lives
		{ctx: first, before: endFirst, connections: 1, fails: true},
		{ctx: second, connections: 2},
		{ctx: second, connections: 2},
		{ctx: t.Context(), before: endSecond, connections: 3},
	} {
		if tt.before != nil {
			tt.before()
		}
		var timing feedmill.Timing
		a, err := x.Exchange(tt.ctx, time.Now().Add(time.Minute), &feedmill.HTTPRequest{Method: http.MethodPost, URL: u}, &timing)
		if (err != nil) != tt.fails || err == nil && a.Status != 204 {
			t.Errorf("exchange %d answered %d and %v", i, a.Status, err)
		}
		if n := connections.Load(); n != tt.connections {
			t.Errorf("after exchange %d there were %d connections, want %d", i, n, tt.connections)
		}
	}
}

package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRedirects(t *testing.T) {
	var plainPosts atomic.Int32
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			plainPosts.Add(1)
		}
	}))
	t.Cleanup(plain.Close)

	hops := func(w http.ResponseWriter, r *http.Request) {
		var left int
		fmt.Sscan(r.URL.Query().Get("left"), &left)
		if left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/hops?left=%d", left-1), http.StatusFound)
		}
	}
	to := func(target string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/hops", hops)
	mux.Handle("/plain", to(plain.URL))
	mux.Handle("/forbidden", to("https://127.0.0.2/"))
	mux.Handle("/metadata", to("http://169.254.169.254/latest/meta-data/"))
	mux.Handle("/odd", to("https://2130706433/"))
	mux.Handle("/file", to("file:///etc/passwd"))
	mux.Handle("/self", to("/hops"))
	secure := startTLS(t, mux, nil)
	open := httptest.NewServer(mux)
	t.Cleanup(open.Close)

	c := newClient(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(secure)})
	hc := c.HTTPClient(time.Minute)
	t.Cleanup(hc.CloseIdleConnections)
	anyError := errors.New("any")
	for _, tt := range []struct {
		method, url string
		want        error
	}{
		{"GET", secure.URL + "/hops?left=5", nil},
		{"GET", secure.URL + "/hops?left=6", anyError},
		{"GET", open.URL + "/plain", nil},
		{"GET", secure.URL + "/plain", ErrForbidden},
		{"GET", secure.URL + "/forbidden", ErrForbidden},
		{"GET", open.URL + "/metadata", ErrForbidden},
		{"GET", secure.URL + "/odd", ErrURL},
		{"GET", open.URL + "/file", anyError},
		{"POST", secure.URL + "/self", nil},
		{"POST", open.URL + "/plain", ErrForbidden},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, strings.NewReader("client_secret=x"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := hc.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		if tt.want == anyError && err != nil {
			continue
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s %s = %v, want %v", tt.method, tt.url, err, tt.want)
		}
	}
	if n := plainPosts.Load(); n != 0 {
		t.Errorf("%d posts went to another origin", n)
	}
}

func TestHTTPClientLimitsAndDecodesTheBody(t *testing.T) {
	var encoding string
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		w.Write(body)
	}))
	t.Cleanup(srv.Close)
	hc := newClient(t, Options{Allow: []string{"127.0.0.1"}}).HTTPClient(0)
	t.Cleanup(hc.CloseIdleConnections)
	fits, bomb := make([]byte, maxClientBody), make([]byte, maxClientBody+1)
	for _, tt := range []struct {
		encoding string
		body     []byte
		want     error
	}{
		{"", fits, nil},
		{"", bomb, ErrTooLarge},
		{"gzip", gzipped(t, fits), nil},
		{"gzip", gzipped(t, bomb), ErrTooLarge},
		{"zstd", zstandard(t, fits), nil},
		{"zstd", zstandard(t, bomb), ErrTooLarge},
	} {
		encoding, body = tt.encoding, tt.body
		resp, err := hc.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if !errors.Is(err, tt.want) || n != maxClientBody {
			t.Errorf("%q: read %d bytes, %v, want %d and %v", tt.encoding, n, err, maxClientBody, tt.want)
		}
		if got := resp.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("a decoded answer still says that it is %s", got)
		}
	}
}

func TestTheDeadlineCoversTheBody(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, 0: defaultTimeout} {
		synctest.Test(t, func(t *testing.T) {
			hc := newClient(t, Options{Allow: []string{"127.0.0.1"}}).HTTPClient(timeout)
			client, server := net.Pipe()
			hc.Transport.(limitedTransport).DialContext = func(context.Context, string, string) (net.Conn, error) { return client, nil }
			go func() {
				defer server.Close()
				buf := make([]byte, 4096)
				server.Read(buf)
				io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegins")
				io.Copy(io.Discard, server) // until the client gives up
			}()
			start := time.Now()
			resp, err := hc.Get("http://127.0.0.1/")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if string(got) != "begins" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("read %q, %v, want the beginning and the deadline", got, err)
			}
			if took := time.Since(start); took != want {
				t.Errorf("gave up after %v, want %v", took, want)
			}
		})
	}
}

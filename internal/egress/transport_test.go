package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

func TestTransportKeepsThePolicy(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(srv.Close)
	port := portOf(srv)
	for _, tt := range []struct {
		allow []string
		url   string
		want  error
	}{
		{[]string{"127.0.0.1"}, srv.URL, nil},
		{[]string{"127.0.0.1"}, "http://localhost:" + port, nil},
		{[]string{"hooks.test"}, "http://hooks.test:" + port, nil},
		{[]string{"hooks.test"}, srv.URL, ErrForbidden},
		{[]string{"127.0.0.1"}, "http://hooks.test:" + port, ErrForbidden}, // plain http to a name that is not covered
		{nil, srv.URL, ErrForbidden},
		{nil, "https://hooks.test:" + port, ErrForbidden},
		{nil, "https://localhost:" + port, ErrForbidden},
		{[]string{"127.0.0.1"}, "http://127.1:" + port, ErrURL},
	} {
		c := newClient(t, Options{Allow: tt.allow, Resolver: toLoopback})
		if err := get(t, c.Transport(), tt.url); !errors.Is(err, tt.want) {
			t.Errorf("GET %s with %v allowed = %v, want %v", tt.url, tt.allow, err, tt.want)
		}
	}
}

func TestTransportIgnoresTheEnvironment(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	var served atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	t.Cleanup(srv.Close)
	c := newClient(t, Options{Allow: []string{"hooks.test"}, Resolver: toLoopback})
	if err := get(t, c.Transport(), "http://hooks.test:"+portOf(srv)); err != nil {
		t.Fatal(err)
	}
	if proxied.Load() != 0 || served.Load() != 1 {
		t.Errorf("the proxy saw %d requests and the server %d, want 0 and 1", proxied.Load(), served.Load())
	}
}

func TestTransportSpeaksHTTP2OverModernTLS(t *testing.T) {
	srv := startTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }), nil)
	c := newClient(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(srv)})
	hc := c.HTTPClient(0)
	t.Cleanup(hc.CloseIdleConnections)
	for range 2 {
		resp, err := hc.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "HTTP/2.0" {
			t.Errorf("spoke %q, %v", body, err)
		}
	}
}

func TestTransportRefusesOldTLSAndUnknownAuthorities(t *testing.T) {
	old := startTLS(t, http.NotFoundHandler(), &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	tr := newClient(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(old)}).Transport()
	if err := get(t, tr, old.URL); err == nil {
		t.Error("spoke TLS 1.1")
	}
	tr = tr.Clone()
	tr.TLSClientConfig.MinVersion = tls.VersionTLS11
	if err := get(t, tr, old.URL); err != nil {
		t.Errorf("the version is not what kept the server away: %v", err)
	}

	srv := startTLS(t, http.NotFoundHandler(), nil)
	c := newClient(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: x509.NewCertPool()})
	var unknown x509.UnknownAuthorityError
	if err := get(t, c.Transport(), srv.URL); !errors.As(err, &unknown) {
		t.Errorf("GET from an unknown authority = %v", err)
	}
}

func TestTransportLimitsTheHeader(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("a", maxHeaderBytes))
	}))
	t.Cleanup(srv.Close)
	c := newClient(t, Options{Allow: []string{"127.0.0.1"}})
	if err := get(t, c.Transport(), srv.URL); err == nil {
		t.Error("read a header past the limit")
	}
}

func TestTransportsAreIndependent(t *testing.T) {
	c := newClient(t, Options{})
	a, b := c.Transport(), c.Transport()
	a.TLSClientConfig.ServerName = "changed"
	a.DisableCompression = true
	if a == b || b.TLSClientConfig.ServerName != "" || b.DisableCompression {
		t.Error("two transports share their settings")
	}
}

// get makes one request, reads the answer and closes the connection.
func get(t *testing.T, tr *http.Transport, url string) error {
	t.Helper()
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// toLoopback resolves every name to 127.0.0.1.
func toLoopback(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{loopback}, nil
}

// startTLS starts a server, with HTTP/2 unless it has its own configuration, that keeps failed handshakes to itself.
func startTLS(t *testing.T, h http.Handler, config *tls.Config) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = config == nil
	srv.TLS = config
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func portOf(srv *httptest.Server) string {
	return srv.URL[strings.LastIndex(srv.URL, ":")+1:]
}

func rootsOf(srv *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return pool
}

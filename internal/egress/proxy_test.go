package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// connectProxy is a forward proxy that resolves every host to one server.
type connectProxy struct {
	target string // host:port of the server
	mu     sync.Mutex
	seen   []string // method, host and credentials of each request
}

func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
	p.mu.Unlock()
	if strings.HasPrefix(r.Host, "refused.") {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	upstream, err := net.Dial("tcp", p.target)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer upstream.Close()
	if r.Method != http.MethodConnect {
		io.WriteString(w, "by the proxy")
		return
	}
	w.WriteHeader(http.StatusOK)
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	var copies sync.WaitGroup
	copies.Go(func() {
		io.Copy(upstream, buffered)
		upstream.(*net.TCPConn).CloseWrite()
	})
	io.Copy(client, upstream)
	client.Close()
	copies.Wait()
}

func (p *connectProxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

func TestProxy(t *testing.T) {
	srv := startTLS(t, http.NotFoundHandler(), nil)
	proxy := &connectProxy{target: srv.Listener.Addr().String()}
	proxySrv := httptest.NewServer(proxy)
	t.Cleanup(proxySrv.Close)

	for _, tt := range []struct {
		name, proxy string
	}{
		{"by address", "http://user:hunter2@127.0.0.1:" + portOf(proxySrv)},
		{"by name", "http://user:hunter2@Proxy.test:" + portOf(proxySrv) + "/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The proxy has an address that the policy forbids, and only its own name
			// is resolved here.
			c := newClient(t, Options{
				Allow:   []string{"plain.test"},
				Proxy:   tt.proxy,
				RootCAs: rootsOf(srv),
				Resolver: func(ctx context.Context, network, host string) ([]netip.Addr, error) {
					if host != "proxy.test" {
						t.Errorf("resolved %s", host)
					}
					return toLoopback(ctx, network, host)
				},
			})
			const credentials = " Basic dXNlcjpodW50ZXIy"
			for _, req := range []struct {
				url  string
				want error
				seen []string
			}{
				{"https://example.com/", nil, []string{"CONNECT example.com:443" + credentials}},
				{"http://plain.test/", nil, []string{"GET plain.test" + credentials}},
				{"http://example.com/", ErrForbidden, nil},
				{"https://10.0.0.1/", ErrForbidden, nil},
				{"https://[::ffff:169.254.169.254]/", ErrForbidden, nil},
				{"https://localhost/", ErrForbidden, nil},
				{"https://0x7f.1/", ErrURL, nil},
			} {
				if err := get(t, c.Transport(), req.url); !errors.Is(err, req.want) {
					t.Errorf("GET %s = %v, want %v", req.url, err, req.want)
				}
				if seen := proxy.requests(); !slices.Equal(seen, req.seen) {
					t.Errorf("GET %s: the proxy saw %q, want %q", req.url, seen, req.seen)
				}
			}
		})
	}
}

// Only a transport reaches the proxy: a database source cannot name it.
func TestTheProxyIsNoWayIn(t *testing.T) {
	port := listen(t)
	c := newClient(t, Options{Proxy: "http://127.0.0.1:" + port})
	if _, err := c.DialContext(t.Context(), "tcp", "127.0.0.1:"+port); !errors.Is(err, ErrForbidden) {
		t.Errorf("DialContext of the proxy's address = %v, want forbidden", err)
	}
}

func TestProxyErrorsKeepThePassword(t *testing.T) {
	proxySrv := httptest.NewServer(&connectProxy{})
	t.Cleanup(proxySrv.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, tt := range []struct{ proxy, url string }{
		{"http://user:hunter2@" + proxySrv.Listener.Addr().String(), "https://refused.example/"},
		{"http://user:hunter2@" + closed.Listener.Addr().String(), "https://example.com/"},
		{"https://user:hunter2@" + proxySrv.Listener.Addr().String(), "https://example.com/"},
	} {
		c := newClient(t, Options{Proxy: tt.proxy})
		hc := c.HTTPClient(time.Minute)
		_, err := hc.Get(tt.url)
		hc.CloseIdleConnections()
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("GET %s = %v, want an error without the password", tt.url, err)
		}
	}
}

func TestBadProxies(t *testing.T) {
	for _, proxy := range []string{
		"proxy.internal:3128",
		"proxy.internal",
		"socks5://user:hunter2@proxy.internal:1080",
		"http://",
		"http://user:hunter2@:3128",
		"http://user:hunter2@proxy.internal:0",
		"http://user:hunter2@proxy.internal:port",
		"http://user:hunter2@proxy.internal:3128/path",
		"http://user:hunter2@proxy.internal:3128?hunter2",
		"http://user:hunter2@proxy.internal:3128#hunter2",
		"http://user:hun%ter2@proxy.internal:3128",
		"http://user:hunter2@127.1:3128",
		"http:user:hunter2@proxy.internal",
	} {
		_, err := New(Options{Proxy: proxy})
		if !errors.Is(err, ErrURL) {
			t.Errorf("New with proxy %q = %v, want not usable", proxy, err)
			continue
		}
		for _, secret := range []string{"hunter2", "hun%ter2", "proxy.internal"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("New with proxy %q = %q, which repeats it", proxy, err)
			}
		}
	}
}

func TestNewReportsEveryBadOption(t *testing.T) {
	_, err := New(Options{Allow: []string{"127.1"}, Proxy: "socks5://proxy.internal"})
	if err == nil || !strings.Contains(err.Error(), "127.1") || !strings.Contains(err.Error(), "egress proxy") {
		t.Errorf("New = %v, want both options named", err)
	}
	if c := newClient(t, Options{}); c.Policy() == nil {
		t.Error("a client without a policy")
	}
}

func TestProxyPortsDefaultToTheScheme(t *testing.T) {
	for proxy, want := range map[string]string{
		"http://proxy.internal":         "proxy.internal:80",
		"https://PROXY.internal./":      "proxy.internal:443",
		"https://[fd00::1]":             "[fd00::1]:443",
		"http://[fd00::1]:3128":         "[fd00::1]:3128",
		"http://user@10.0.0.1:3128":     "10.0.0.1:3128",
		"https://bücher.example:8443/":  "xn--bcher-kva.example:8443",
		"http://user:p%40ss@proxy:3128": "proxy:3128",
	} {
		if got := newClient(t, Options{Proxy: proxy}).proxy.Host; got != want {
			t.Errorf("proxy %q is dialled at %q, want %q", proxy, got, want)
		}
	}
}

package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/feedmill/feedmill"
)

// speaker answers with the protocol that is spoken and whether the session was
// resumed.
var speaker = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	resumed := ""
	if r.TLS.DidResume {
		resumed = ", resumed"
	}
	io.WriteString(w, r.Proto+resumed)
})

func TestExpressSpeaksTLS(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			srv := startTLS(t, speaker, &tls.Config{MinVersion: version, MaxVersion: version})
			x := newExpress(t, Options{Allow: []string{"127.0.0.1", "example.com"}, RootCAs: rootsOf(srv), Resolver: toLoopback})
			for i, tt := range []struct {
				workspace feedmill.ID
				host      string
				close     bool
				want      string
			}{
				{"ws_1", "example.com", false, "HTTP/1.1"},
				{"ws_1", "example.com", true, "HTTP/1.1"},
				{"ws_1", "example.com", false, "HTTP/1.1, resumed"},
				{"ws_2", "example.com", false, "HTTP/1.1"}, // the session of another
				{"ws_1", "127.0.0.1", false, "HTTP/1.1"},   // of another name
			} {
				status, answer, err := postFor(t, x, tt.workspace, "https://"+tt.host+":"+portOf(srv), strings.Repeat("x", 100_000))
				if status != http.StatusOK || answer != tt.want || err != nil {
					t.Errorf("exchange %d answered %d %q, %v; want %q", i, status, answer, err, tt.want)
				}
				if tt.close {
					x.CloseIdleConnections()
				}
			}
		})
	}
}

func TestExpressChecksCertificates(t *testing.T) {
	srv := startTLS(t, speaker, nil)
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: x509.NewCertPool()})
	var unknown x509.UnknownAuthorityError
	if _, _, err := post(t, x, srv.URL, "{}"); !errors.As(err, &unknown) {
		t.Errorf("an unknown authority: %v", err)
	}
	x = newExpress(t, Options{Allow: []string{"hooks.test"}, RootCAs: rootsOf(srv), Resolver: toLoopback})
	var wrongName x509.HostnameError
	if _, _, err := post(t, x, "https://hooks.test:"+portOf(srv), "{}"); !errors.As(err, &wrongName) {
		t.Errorf("another's certificate: %v", err)
	}
	old := startTLS(t, speaker, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	x = newExpress(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(old)})
	if _, _, err := post(t, x, old.URL, "{}"); err == nil {
		t.Error("spoke TLS 1.1")
	}
}

// An endpoint that speaks HTTP/2 alone is spoken to in that.
func TestExpressSpeaksHTTP2WhereItMust(t *testing.T) {
	var refused atomic.Int32
	srv := startTLS(t, speaker, nil)
	own := srv.TLS.Clone()
	// Go's server accepts clients that only offer HTTP/1.1. Other servers do not.
	srv.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if slices.Contains(hello.SupportedProtos, "h2") {
			return nil, nil
		}
		refused.Add(1)
		strict := own.Clone()
		strict.NextProtos = []string{"none of theirs"}
		return strict, nil
	}
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(srv)})
	for _, workspace := range []feedmill.ID{"ws_1", "ws_1", "ws_2"} {
		status, answer, err := postFor(t, x, workspace, srv.URL, "{}")
		if status != http.StatusOK || answer != "HTTP/2.0" || err != nil {
			t.Errorf("answered %d %q, %v", status, answer, err)
		}
	}
	if n := refused.Load(); n != 1 {
		t.Errorf("HTTP/1.1 was tried %d times", n)
	}
}

// So is one that lets HTTP/1.1 in without a word, as Go's servers do, and then speaks
// HTTP/2 all the same, or hangs up.
func TestExpressSpeaksHTTP2WhereHTTP1IsNotUnderstood(t *testing.T) {
	certified := startTLS(t, speaker, nil)
	stubborn := tls.NewListener(listenLocally(t), &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}})
	t.Cleanup(func() { stubborn.Close() })
	go func() {
		for {
			c, err := stubborn.Accept()
			if err != nil {
				return
			}
			go func() {
				if err := c.(*tls.Conn).Handshake(); err == nil {
					//lint:ignore SA1019 net/http's own speaks HTTP/2 only to who has agreed to it
					new(http2.Server).ServeConn(c, &http2.ServeConnOpts{Handler: speaker})
				}
			}()
		}
	}()
	curt := httptest.NewUnstartedServer(speaker)
	curt.EnableHTTP2, curt.Config.Protocols = true, new(http.Protocols)
	curt.Config.Protocols.SetHTTP2(true)
	curt.StartTLS()
	t.Cleanup(curt.Close)
	for name, address := range map[string]string{"speaks": "https://" + stubborn.Addr().String(), "hangs up": curt.URL} {
		t.Run(name, func(t *testing.T) {
			x := newExpress(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(certified)})
			for range 2 {
				status, answer, err := post(t, x, address, "{}")
				if status != http.StatusOK || !strings.HasPrefix(answer, "HTTP/2.0") || err != nil {
					t.Errorf("answered %d %q, %v", status, answer, err)
				}
			}
			if u, _ := url.Parse(address); !x.secure.onlyHTTP2.has(u.Host) {
				t.Error("it is not remembered")
			}
		})
	}
}

// Where the time of an exchange went is known for the first and for those after it.
func TestExpressTimesHandshakes(t *testing.T) {
	srv := startTLS(t, speaker, &tls.Config{})
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}, RootCAs: rootsOf(srv)})
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		var timing feedmill.Timing
		a, err := x.Exchange(t.Context(), time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: u}, &timing)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, a.Body)
		a.Body.Close()
		first := i == 0
		if (timing.Connect > 0) != first || (timing.TLS > 0) != first || timing.FirstByte <= timing.Connect+timing.TLS {
			t.Errorf("exchange %d took %+v", i, timing)
		}
	}
}

// A handshake that never ends, ends with the time of its exchange.
func TestExpressGivesUpOnAHandshake(t *testing.T) {
	l := listenLocally(t)
	defer l.Close()
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	u, err := url.Parse("https://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c, err := l.Accept()
		if err == nil {
			defer c.Close()
			c.Read(make([]byte, 1)) // a hello has come
		}
		cancel()
		<-t.Context().Done()
	}()
	var timing feedmill.Timing
	if _, err := x.Exchange(ctx, time.Time{}, &feedmill.HTTPRequest{Method: http.MethodPost, URL: u}, &timing); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

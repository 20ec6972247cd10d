package egress

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"time"
)

// maxHeaderBytes is the maximum size of a response header.
const maxHeaderBytes = 256 << 10

// maxIdleConns is the maximum number of idle connections.
const maxIdleConns = 4096

// Transport returns a transport with a connection pool of its own. Reuse it, and close its
// idle connections when done. The caller can change its settings, except Proxy and the dial
// functions, which enforce the policy.
//
// [Policy.CheckURL] checks every request and [Client.DialContext] every connection. The
// transport limits connecting, the handshake and the size of the header. The caller limits
// the time of an exchange with a context and the size of a response with [LimitedBody].
func (c *Client) Transport() *http.Transport {
	return &http.Transport{
		Proxy:       c.route,
		DialContext: c.dialTransport,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			RootCAs:            c.rootCAs,
			ClientSessionCache: tls.NewLRUClientSessionCache(1024),
		},
		ForceAttemptHTTP2: true,
		// Pings find dead connections before requests are sent on them.
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// SecureTransport is [Client.Transport] with certificate authorities for servers (nil for
// the default ones) and a client certificate (nil for none).
func (c *Client) SecureTransport(authorities *x509.CertPool, certificate *tls.Certificate) *http.Transport {
	t := c.Transport()
	if authorities != nil {
		t.TLSClientConfig.RootCAs = authorities
	}
	if certificate != nil {
		t.TLSClientConfig.Certificates = []tls.Certificate{*certificate}
	}
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 16, 16 // there can be many such transports
	return t
}

// route checks a request before a connection is chosen, and returns the proxy, if there is
// one. It is not called for requests on an open HTTP/2 connection; it was called for the
// request that opened it.
func (c *Client) route(r *http.Request) (*url.URL, error) {
	if err := c.policy.CheckURL(r.URL); err != nil {
		return nil, err
	}
	return c.proxy, nil
}

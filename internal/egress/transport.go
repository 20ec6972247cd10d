package egress

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"time"
)

// maxHeaderBytes bounds the header of an answer.
const maxHeaderBytes = 256 << 10

// maxIdleConns bounds the connections that are kept open.
const maxIdleConns = 4096

// Transport makes a transport with a connection pool of its own: keep it, and
// close its idle connections when done. The caller may tune it, but leaves its
// Proxy and its dial functions alone, for they are what keeps the policy.
//
// Every request is checked by [Policy.CheckURL] and every connection by
// [Client.DialContext]. The transport bounds connecting, the handshake and the
// header's size; the time of an exchange and the size of the answer are bounded
// by the caller, with a context and [LimitedBody].
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
		// A connection that died in silence is found by a ping, not by
		// the requests sent on it.
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// SecureTransport is [Client.Transport] with authorities that verify servers, nil for the
// usual ones, and a certificate that servers are shown, nil for none.
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

// route checks a request before a connection is chosen for it and sends it
// through the proxy, if there is one. A request that an open HTTP/2 connection
// takes does not come here; the one that opened it to the same host has.
func (c *Client) route(r *http.Request) (*url.URL, error) {
	if err := c.policy.CheckURL(r.URL); err != nil {
		return nil, err
	}
	return c.proxy, nil
}

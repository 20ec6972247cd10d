package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"
)

// Options configures a [Client]. The zero value allows public addresses, without a proxy.
type Options struct {
	// Allow is the allow-list; see [NewPolicy].
	Allow []string
	// Proxy is the URL of a forward proxy for HTTP, http(s)://[user:password@]host[:port],
	// or empty for none. Proxies in the environment are never used.
	//
	// The proxy can be at any address, because the operator chose it. The proxy resolves
	// hosts, so the policy only checks names and literal addresses of requests. The proxy
	// must block its own network. Databases are dialed directly.
	Proxy string
	// RootCAs verifies servers. Nil means the system's roots.
	RootCAs *x509.CertPool
	// DialTimeout is the timeout for resolving and connecting together; 10 s if zero.
	DialTimeout time.Duration
	// Resolver looks up the addresses of a host for the network "ip", "ip4" or "ip6". Nil
	// means [net.Resolver.LookupNetIP] of the default resolver.
	Resolver func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Client makes outgoing connections under a policy. It is safe for concurrent use.
type Client struct {
	policy      *Policy
	proxy       *url.URL // nil for none
	rootCAs     *x509.CertPool
	dialTimeout time.Duration
	resolve     func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// New returns a client, or an error that lists the invalid options. The error does not
// contain the proxy's URL, which can have a password.
func New(o Options) (*Client, error) {
	policy, err := NewPolicy(o.Allow)
	proxy, proxyErr := parseProxy(o.Proxy)
	if err := errors.Join(err, proxyErr); err != nil {
		return nil, err
	}
	c := &Client{
		policy:      policy,
		proxy:       proxy,
		rootCAs:     o.RootCAs,
		dialTimeout: o.DialTimeout,
		resolve:     o.Resolver,
	}
	if c.dialTimeout <= 0 {
		c.dialTimeout = 10 * time.Second
	}
	if c.resolve == nil {
		c.resolve = net.DefaultResolver.LookupNetIP
	}
	return c, nil
}

// Policy returns the client's policy.
func (c *Client) Policy() *Policy { return c.policy }

// parseProxy parses the proxy's URL and adds its port, so that its host is the address that
// a transport dials.
func parseProxy(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	// The parser's error contains the URL with its password.
	malformed := fmt.Errorf("egress proxy: must be http://host:port or https://host:port, "+
		"optionally with user:password@ before the host, special characters percent-encoded: %w", ErrURL)
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil, malformed
	}
	port := u.Port()
	switch {
	case u.Scheme == "http" && port == "":
		port = "80"
	case u.Scheme == "https" && port == "":
		port = "443"
	case u.Scheme != "http" && u.Scheme != "https", !isPort(port):
		return nil, malformed
	}
	h, err := parseHost(u.Hostname())
	if err != nil {
		return nil, malformed
	}
	name := h.name
	if h.addr.IsValid() {
		name = h.addr.String()
	}
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: net.JoinHostPort(name, port)}, nil
}

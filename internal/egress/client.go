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

// Options is what the operator decides about the way out. The zero value lets
// out to public addresses, directly.
type Options struct {
	// Allow is the allow-list; see [NewPolicy].
	Allow []string
	// Proxy is the URL of a forward proxy for HTTP,
	// http(s)://[user:password@]host[:port], or empty for none. Proxies that
	// the environment names are never used.
	//
	// The proxy itself may be at any address, since the operator named it.
	// Hosts are resolved by the proxy, so that the policy sees the names and
	// literal addresses of requests and not what the names resolve to: the
	// proxy has to keep them off its own network. Databases are dialled
	// directly.
	Proxy string
	// RootCAs verifies servers; nil means those of the system.
	RootCAs *x509.CertPool
	// DialTimeout bounds resolution and connection together; 10 s if zero.
	DialTimeout time.Duration
	// Resolver looks up the addresses of a host, for network "ip", "ip4" or
	// "ip6"; nil means [net.Resolver.LookupNetIP] of the default resolver.
	Resolver func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Client is the way out. It is safe for concurrent use.
type Client struct {
	policy      *Policy
	proxy       *url.URL // nil for none
	rootCAs     *x509.CertPool
	dialTimeout time.Duration
	resolve     func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// New makes a client, or says which options are wrong. The error holds nothing
// of the proxy's URL, which can hold a password.
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

// Policy is the policy that the client keeps.
func (c *Client) Policy() *Policy { return c.policy }

// parseProxy reads the proxy's URL and completes its port, so that its host is
// the very address that a transport asks to be dialled.
func parseProxy(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	// The parser's own error repeats the URL with its password.
	malformed := fmt.Errorf("egress proxy: write http://host:port or https://host:port, "+
		"with user:password@ before the host if needed and special characters in it percent-encoded: %w", ErrURL)
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

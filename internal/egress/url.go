package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// CheckURL checks a URL without resolving its host. The URL must be absolute, with https, or
// with http if the allow-list has the host. For a literal address or a loopback name,
// [Policy.CheckAddr] decides. Any other name passes, and its addresses are checked when it
// is dialed.
//
// The error matches [ErrForbidden] if the policy forbids the URL, and [ErrURL] if it is
// malformed or unsupported. It contains no part of the URL except its host and its scheme.
func (p *Policy) CheckURL(u *url.URL) error {
	if u == nil || u.Opaque != "" || u.Host == "" {
		return fmt.Errorf("the URL must be absolute, such as https://host/path: %w", ErrURL)
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("scheme %q is neither https nor http: %w", u.Scheme, ErrURL)
	}
	h, err := parseHost(u.Hostname())
	if err != nil {
		return err
	}
	if h.addr.Is6() != strings.HasPrefix(u.Host, "[") {
		return fmt.Errorf("host %q: only IPv6 addresses can be in brackets: %w", u.Host, ErrURL)
	}
	if port := u.Port(); port != "" && !isPort(port) {
		return fmt.Errorf("port %s is not between 1 and 65535: %w", port, ErrURL)
	}
	if err := p.checkHost(h); err != nil {
		return err
	}
	if u.Scheme == "http" && !p.covers(h) {
		return fmt.Errorf("plain http to %s is %w: use https; the operator can allow the host in %s", u.Hostname(), ErrForbidden, allowSetting)
	}
	return nil
}

// CheckHost is [Policy.CheckURL] for a host without a URL, such as that of a database. An
// IPv6 address has no brackets.
func (p *Policy) CheckHost(name string) error {
	h, err := parseHost(name)
	if err != nil {
		return err
	}
	return p.checkHost(h)
}

func (p *Policy) checkHost(h host) error {
	if h.addr.IsValid() {
		return p.CheckAddr(h.addr)
	}
	if !isLoopbackName(h.name) || p.allowsName(h.name) {
		return nil
	}
	if err := p.CheckAddr(loopback); err != nil {
		return fmt.Errorf("host %s: %w", h.name, err)
	}
	return nil
}

// covers reports whether the allow-list has the host itself. Only such hosts can use plain
// http.
func (p *Policy) covers(h host) bool {
	if h.addr.IsValid() {
		return p.allowsAddr(h.addr)
	}
	return p.allowsName(h.name) || isLoopbackName(h.name) && p.allowsAddr(loopback)
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

package egress

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// host is the host of a URL or a dialed address: either a name in lower-case ASCII without
// a final dot, or an address.
type host struct {
	name string
	addr netip.Addr
}

// parseHost parses a host unambiguously. Resolvers accept other spellings of IPv4 addresses
// (127.1, 0x7f.0.0.1, 0177.0.0.1, 2130706433) and disagree on their meaning, so those are
// refused. So is a text that becomes an address when it is normalized.
func parseHost(s string) (host, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return host{addr: addr}, nil
	}
	name, err := canonicalName(s)
	if err != nil {
		return host{}, err
	}
	return host{name: name}, nil
}

func canonicalName(s string) (string, error) {
	name := s
	if !isASCII(s) {
		// net/http applies the same mapping before it dials.
		ascii, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return "", fmt.Errorf("host %q is not a valid internationalized domain name: %w", s, ErrURL)
		}
		name = ascii
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" {
		return "", fmt.Errorf("the host is missing: %w", ErrURL)
	}
	if len(name) > 253 {
		return "", fmt.Errorf("a host name of %d characters is longer than the 253 that DNS allows: %w", len(name), ErrURL)
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("host %q is neither a host name nor an address: %w", s, ErrURL)
		}
		last = label
	}
	if isNumber(last) {
		return "", fmt.Errorf("host %q is an ambiguous IPv4 address; write four decimal numbers without leading zeros: %w", s, ErrURL)
	}
	return name, nil
}

// isNumber reports whether a last label makes a resolver treat the whole name as an IPv4
// address. No top-level domain is such a label.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// isLoopbackName reports whether RFC 6761 reserves the name for loopback addresses.
func isLoopbackName(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

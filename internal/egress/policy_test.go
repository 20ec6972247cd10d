package egress

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAllowedPrefixes(t *testing.T) {
	p := newPolicy(t, "10.1.0.0/16", " 192.168.7.9 ", "fd00:1::/32", "::ffff:172.16.0.0/112", "::ffff:172.20.0.1")
	for addr, allowed := range map[string]bool{
		"10.1.0.0":             true,
		"10.1.255.255":         true,
		"10.0.255.255":         false,
		"10.2.0.0":             false,
		"::ffff:10.1.2.3":      true,
		"::ffff:10.2.0.0":      false,
		"::10.1.2.3":           false,
		"64:ff9b::10.1.2.3":    false,
		"2002:a01:203::1":      false,
		"192.168.7.9":          true,
		"192.168.7.10":         false,
		"fd00:1::1":            true,
		"fd00:2::1":            false,
		"172.16.255.255":       true,
		"172.17.0.0":           false,
		"172.20.0.1":           true,
		"8.8.8.8":              true,
		"2606:4700:4700::1111": true,
		"::ffff:192.168.7.9":   true,
		"::ffff:172.20.0.1":    true,
		"::ffff:172.20.0.2":    false,
	} {
		if err := p.CheckAddr(netip.MustParseAddr(addr)); (err == nil) != allowed {
			t.Errorf("CheckAddr(%s) = %v, want allowed: %v", addr, err, allowed)
		}
	}
}

// The whole of IPv6 does not include IPv4 in its mapped form.
func TestAllowingIPv6DoesNotAllowIPv4(t *testing.T) {
	p := newPolicy(t, "::/0")
	wantClass(t, p, netip.MustParseAddr("::ffff:127.0.0.1"), "loopback")
	wantClass(t, p, netip.MustParseAddr("::1"), public)
}

func TestAnAllowedPrefixAllowsAllOfItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := addr().Draw(t, "addr").Unmap()
		prefix, err := a.Prefix(rapid.IntRange(0, a.BitLen()).Draw(t, "bits"))
		if err != nil {
			t.Fatal(err)
		}
		if prefix.Addr().Is4In6() {
			t.Skip("written in its IPv4 form")
		}
		p, err := NewPolicy([]string{prefix.String()})
		if err != nil {
			t.Fatal(err)
		}
		first, last := edges(prefix)
		for _, inside := range []netip.Addr{a, first, last, netip.AddrFrom16(a.As16())} {
			if a.Is6() && inside.Is4In6() {
				continue // an IPv6 prefix that spans the mapped addresses
			}
			if err := p.CheckAddr(inside); err != nil {
				t.Fatalf("allowed %v, but %v", prefix, err)
			}
		}
	})
}

func TestAllowedNames(t *testing.T) {
	p := newPolicy(t, "Hooks.Internal.", "*.example.com", "bücher.example")
	for name, allowed := range map[string]bool{
		"hooks.internal":        true,
		"HOOKS.internal.":       true,
		"a.hooks.internal":      false,
		"internal":              false,
		"example.com":           false,
		"a.example.com":         true,
		"a.b.Example.com":       true,
		"aexample.com":          false,
		"example.com.evil.test": false,
		"bücher.example":        true,
		"BÜCHER.example":        true,
		"xn--bcher-kva.example": true,
		"other.test":            false,
	} {
		h, err := parseHost(name)
		if err != nil {
			t.Errorf("parseHost(%q): %v", name, err)
			continue
		}
		if got := p.allowsName(h.name); got != allowed {
			t.Errorf("allowsName(%q) = %v, want %v", name, got, allowed)
		}
	}
}

func TestBadEntriesSayWhatToWrite(t *testing.T) {
	for entry, want := range map[string]string{
		"":                        "must be a prefix",
		"*":                       "must be a prefix",
		"*.":                      "*.example.com",
		"*.10.0.0.1":              "*.example.com",
		"a.*.example.com":         "must be a prefix",
		"hooks.internal:8080":     "no port",
		"http://hooks.internal":   "address/length",
		"10.0.0.0/33":             "address/length",
		"10.0.0/8":                "address/length",
		"10.1.2.3/8":              "write 10.0.0.0/8 for the network, or 10.1.2.3",
		"fd00::1/64":              "write fd00::/64 for the network",
		"::ffff:0:0/90":           "write ",
		"127.1":                   "must be a prefix",
		"0x7f.0.0.1":              "must be a prefix",
		"fe80::1%eth0":            "must not have a zone",
		"[::1]":                   "must be a prefix",
		"two words":               "must be a prefix",
		strings.Repeat("a", 64):   "must be a prefix",
		strings.Repeat("a.", 200): "must be a prefix",
	} {
		_, err := NewPolicy([]string{"10.0.0.0/8", entry})
		if err == nil {
			t.Errorf("NewPolicy(%q) passes", entry)
			continue
		}
		if !strings.Contains(err.Error(), `"`+entry+`"`) || !strings.Contains(err.Error(), want) {
			t.Errorf("NewPolicy(%q) = %q, which does not name the entry or say %q", entry, err, want)
		}
	}
}

func TestAllBadEntriesAreReported(t *testing.T) {
	_, err := NewPolicy([]string{"127.1", "10.0.0.0/8", "a b"})
	if err == nil || !strings.Contains(err.Error(), "127.1") || !strings.Contains(err.Error(), "a b") {
		t.Errorf("NewPolicy = %v, want both entries named", err)
	}
	if errors.Is(err, ErrForbidden) {
		t.Error("a malformed allow-list is no refusal by the policy")
	}
}

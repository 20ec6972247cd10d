package egress

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// public is the class of an allowed address, and none that of an invalid one.
const (
	public = ""
	none   = "-"
)

func TestEveryRangeToItsEdges(t *testing.T) {
	p := newPolicy(t)
	for _, tt := range []struct {
		prefix, class string
		before, after string // the classes of the neighbours
	}{
		{"0.0.0.0/32", "unspecified", none, "this network"},
		{"0.0.0.1/32", "this network", "unspecified", "this network"},
		{"0.128.0.0/9", "this network", "this network", public},
		{"10.0.0.0/8", "private network", public, public},
		{"100.64.0.0/10", "carrier-grade NAT", public, public},
		{"100.100.100.200/32", "cloud metadata", "carrier-grade NAT", "carrier-grade NAT"},
		{"127.0.0.0/8", "loopback", public, public},
		{"168.63.129.16/32", "cloud metadata", public, public},
		{"169.254.0.0/16", "link-local", public, public},
		{"169.254.169.254/32", "cloud metadata", "link-local", "link-local"},
		{"169.254.170.2/32", "cloud metadata", "link-local", "link-local"},
		{"172.16.0.0/12", "private network", public, public},
		{"192.0.0.0/24", "IETF protocol assignments", public, public},
		{"192.0.0.192/32", "cloud metadata", "IETF protocol assignments", "IETF protocol assignments"},
		{"192.0.2.0/24", "documentation", public, public},
		{"192.31.196.0/24", "AS112", public, public},
		{"192.52.193.0/24", "multicast tunnel", public, public},
		{"192.88.99.0/24", "6to4 relay", public, public},
		{"192.168.0.0/16", "private network", public, public},
		{"192.175.48.0/24", "AS112", public, public},
		{"198.18.0.0/15", "benchmarking", public, public},
		{"198.51.100.0/24", "documentation", public, public},
		{"203.0.113.0/24", "documentation", public, public},
		{"224.0.0.0/4", "multicast", public, "reserved"},
		{"240.0.0.0/5", "reserved", "multicast", "reserved"},
		{"255.255.255.254/32", "reserved", "reserved", "broadcast"},
		{"255.255.255.255/32", "broadcast", "reserved", none},

		{"::/128", "unspecified", none, "loopback"},
		{"::1/128", "loopback", "unspecified", "IPv4-compatible form of 0.0.0.2, this network"},
		{"::ffff:0:0:0/96", "not global unicast", "not global unicast", "not global unicast"},
		{"64:ff9b:1::/48", "local-use NAT64", "not global unicast", "not global unicast"},
		{"100::/64", "discard-only", "not global unicast", "dummy prefix"},
		{"100:0:0:1::/64", "dummy prefix", "discard-only", "not global unicast"},
		{"1000::/4", "not global unicast", "not global unicast", public},
		{"2001:1::/32", "IETF protocol assignments", "Teredo form of 255.255.255.255, broadcast", "benchmarking"},
		{"2001:2::/48", "benchmarking", "IETF protocol assignments", "IETF protocol assignments"},
		{"2001:3::/32", "IETF protocol assignments", "IETF protocol assignments", "IETF protocol assignments"},
		{"2001:4:112::/48", "AS112", "IETF protocol assignments", "IETF protocol assignments"},
		{"2001:10::/28", "ORCHID", "IETF protocol assignments", "ORCHID"},
		{"2001:20::/28", "ORCHID", "ORCHID", "IETF protocol assignments"},
		{"2001:30::/28", "IETF protocol assignments", "ORCHID", "IETF protocol assignments"},
		{"2001:100::/24", "IETF protocol assignments", "IETF protocol assignments", public},
		{"2001:db8::/32", "documentation", public, public},
		{"2620:4f:8000::/48", "AS112", public, public},
		{"3fff::/20", "documentation", public, public},
		{"4000::/4", "not global unicast", public, "not global unicast"},
		{"5f00::/16", "segment routing", "not global unicast", "not global unicast"},
		{"fc00::/7", "private network", "not global unicast", "not global unicast"},
		{"fd00:42::42/128", "cloud metadata", "private network", "private network"},
		{"fd00:ec2::23/128", "cloud metadata", "private network", "private network"},
		{"fd00:ec2::254/128", "cloud metadata", "private network", "private network"},
		{"fd20:ce::254/128", "cloud metadata", "private network", "private network"},
		{"fe80::/10", "link-local", "not global unicast", "site-local"},
		{"fec0::/10", "site-local", "link-local", "multicast"},
		{"ff00::/8", "multicast", "site-local", none},
	} {
		first, last := edges(netip.MustParsePrefix(tt.prefix))
		wantClass(t, p, first, tt.class)
		wantClass(t, p, last, tt.class)
		if tt.before != none {
			wantClass(t, p, first.Prev(), tt.before)
		}
		if tt.after != none {
			wantClass(t, p, last.Next(), tt.after)
		}
	}
}

func TestFormsThatCarryIPv4(t *testing.T) {
	p := newPolicy(t)
	for addr, class := range map[string]string{
		"::ffff:8.8.8.8":                       public,
		"::ffff:10.0.0.1":                      "private network",
		"::ffff:169.254.169.254":               "cloud metadata",
		"::8.8.8.8":                            public,
		"::127.0.0.1":                          "IPv4-compatible form of 127.0.0.1, loopback",
		"64:ff9b::8.8.8.8":                     public,
		"64:ff9b::10.0.0.1":                    "NAT64 form of 10.0.0.1, private network",
		"64:ff9b::1:0:0":                       "not global unicast",
		"64:ff9b:1::8.8.8.8":                   "local-use NAT64",
		"2002:808:808::1":                      public,
		"2002:a00:1::1":                        "6to4 form of 10.0.0.1, private network",
		"2002:7f00:1:ffff:ffff:ffff:ffff:ffff": "6to4 form of 127.0.0.1, loopback",
		// Server 8.8.8.8, client 8.8.4.4, with the client's bits inverted.
		"2001:0:808:808::f7f7:fbfb": public,
		"2001:0:808:808::f5ff:fffe": "Teredo form of 10.0.0.1, private network",
		"2001:0:a00:1::f7f7:fbfb":   "Teredo form of 10.0.0.1, private network",
	} {
		wantClass(t, p, netip.MustParseAddr(addr), class)
	}
}

func TestZonesAndNoAddressAreForbidden(t *testing.T) {
	p := newPolicy(t, "::/0", "0.0.0.0/0")
	for _, a := range []netip.Addr{{}, netip.MustParseAddr("fe80::1%eth0"), netip.MustParseAddr("2606:4700::1%1")} {
		if err := p.CheckAddr(a); !errors.Is(err, ErrForbidden) {
			t.Errorf("CheckAddr(%v) = %v, want forbidden", a, err)
		}
	}
}

// Whatever the standard library knows not to be a public address is forbidden.
func TestPolicyIsNoLaxerThanNetip(t *testing.T) {
	p := newPolicy(t)
	rapid.Check(t, func(t *rapid.T) {
		a := addr().Draw(t, "addr")
		u := a.Unmap()
		if (!u.IsGlobalUnicast() || u.IsPrivate()) && p.CheckAddr(a) == nil {
			t.Fatalf("%v passes", a)
		}
		if u.Is6() && u.As16()[0]&0xe0 != 0x20 && p.CheckAddr(a) == nil && !embedsIPv4(u) {
			t.Fatalf("%v passes, and is outside of 2000::/3", a)
		}
	})
}

func TestTranslatedFormsAreAsGoodAsTheirIPv4(t *testing.T) {
	p := newPolicy(t)
	rapid.Check(t, func(t *rapid.T) {
		v4 := addr4().Draw(t, "v4")
		good := p.CheckAddr(v4) == nil
		b := v4.As4()
		compatible := netip.AddrFrom16([16]byte{12: b[0], 13: b[1], 14: b[2], 15: b[3]})
		for _, form := range []netip.Addr{
			netip.AddrFrom16(v4.As16()),
			compatible,
			netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 12: b[0], 13: b[1], 14: b[2], 15: b[3]}),
			netip.AddrFrom16([16]byte{0x20, 0x02, b[0], b[1], b[2], b[3], 15: 1}),
			netip.AddrFrom16([16]byte{0x20, 0x01, 0, 0, 8, 8, 8, 8, 12: ^b[0], 13: ^b[1], 14: ^b[2], 15: ^b[3]}),
		} {
			if got := p.CheckAddr(form) == nil; got != good {
				t.Fatalf("%v passes: %v; its form %v passes: %v", v4, good, form, got)
			}
		}
	})
}

func newPolicy(t *testing.T, allow ...string) *Policy {
	t.Helper()
	p, err := NewPolicy(allow)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wantClass(t *testing.T, p *Policy, a netip.Addr, class string) {
	t.Helper()
	err := p.CheckAddr(a)
	if class == public {
		if err != nil {
			t.Errorf("CheckAddr(%v) = %v, want nil", a, err)
		}
		return
	}
	if !errors.Is(err, ErrForbidden) {
		t.Errorf("CheckAddr(%v) = %v, want forbidden as %s", a, err, class)
		return
	}
	for _, want := range []string{a.Unmap().String() + " ", "(" + class + ")", "FEEDMILL_EGRESS_ALLOW"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("CheckAddr(%v) = %q, which does not say %q", a, err, want)
		}
	}
}

// edges are the first and the last address of a prefix.
func edges(p netip.Prefix) (first, last netip.Addr) {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ = netip.AddrFromSlice(b)
	return p.Masked().Addr(), last
}

func embedsIPv4(a netip.Addr) bool {
	return netip.MustParsePrefix("::/96").Contains(a) || netip.MustParsePrefix("64:ff9b::/96").Contains(a)
}

// addr4 draws addresses all over IPv4, half of them near the edge of a range.
func addr4() *rapid.Generator[netip.Addr] {
	return rapid.Custom(func(t *rapid.T) netip.Addr {
		return near(t, func(p netip.Prefix) bool { return p.Addr().Is4() }, 4)
	})
}

func addr() *rapid.Generator[netip.Addr] {
	return rapid.Custom(func(t *rapid.T) netip.Addr {
		n := rapid.SampledFrom([]int{4, 16}).Draw(t, "length")
		return near(t, func(p netip.Prefix) bool { return p.Addr().BitLen() == n*8 }, n)
	})
}

func near(t *rapid.T, keep func(netip.Prefix) bool, n int) netip.Addr {
	if rapid.Bool().Draw(t, "anywhere") {
		a, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes"))
		return a
	}
	var all []netip.Addr
	for _, r := range ranges {
		if keep(r.prefix) {
			first, last := edges(r.prefix)
			for _, a := range []netip.Addr{first.Prev(), first, last, last.Next()} {
				if a.IsValid() {
					all = append(all, a)
				}
			}
		}
	}
	return rapid.SampledFrom(all).Draw(t, "edge")
}

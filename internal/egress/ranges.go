package egress

import "net/netip"

// addrRange classifies the addresses of a prefix.
type addrRange struct {
	prefix netip.Prefix
	// class is the reason why the range is forbidden, or "" if it is public.
	class string
	// embedded returns the IPv4 addresses that traffic for an address of this range
	// reaches, if it is set. The address is forbidden if any of them is; class names the
	// form of embedding.
	embedded func(b [16]byte) []netip.Addr
}

// ranges classifies all addresses; the first match applies. It follows the IANA IPv4 and
// IPv6 Special-Purpose Address Registries, and adds multicast, the metadata addresses of
// cloud providers, and all IPv6 addresses that are not global unicast.
var ranges = []addrRange{
	{prefix: netip.MustParsePrefix("100.100.100.200/32"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("168.63.129.16/32"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("169.254.169.254/32"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("169.254.170.2/32"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("192.0.0.192/32"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("0.0.0.0/32"), class: "unspecified"},
	{prefix: netip.MustParsePrefix("0.0.0.0/8"), class: "this network"},
	{prefix: netip.MustParsePrefix("10.0.0.0/8"), class: "private network"},
	{prefix: netip.MustParsePrefix("100.64.0.0/10"), class: "carrier-grade NAT"},
	{prefix: netip.MustParsePrefix("127.0.0.0/8"), class: "loopback"},
	{prefix: netip.MustParsePrefix("169.254.0.0/16"), class: "link-local"},
	{prefix: netip.MustParsePrefix("172.16.0.0/12"), class: "private network"},
	{prefix: netip.MustParsePrefix("192.0.0.0/24"), class: "IETF protocol assignments"},
	{prefix: netip.MustParsePrefix("192.0.2.0/24"), class: "documentation"},
	{prefix: netip.MustParsePrefix("192.31.196.0/24"), class: "AS112"},
	{prefix: netip.MustParsePrefix("192.52.193.0/24"), class: "multicast tunnel"},
	{prefix: netip.MustParsePrefix("192.88.99.0/24"), class: "6to4 relay"},
	{prefix: netip.MustParsePrefix("192.168.0.0/16"), class: "private network"},
	{prefix: netip.MustParsePrefix("192.175.48.0/24"), class: "AS112"},
	{prefix: netip.MustParsePrefix("198.18.0.0/15"), class: "benchmarking"},
	{prefix: netip.MustParsePrefix("198.51.100.0/24"), class: "documentation"},
	{prefix: netip.MustParsePrefix("203.0.113.0/24"), class: "documentation"},
	{prefix: netip.MustParsePrefix("224.0.0.0/4"), class: "multicast"},
	{prefix: netip.MustParsePrefix("255.255.255.255/32"), class: "broadcast"},
	{prefix: netip.MustParsePrefix("240.0.0.0/4"), class: "reserved"},
	{prefix: netip.MustParsePrefix("0.0.0.0/0")},

	{prefix: netip.MustParsePrefix("fd00:ec2::254/128"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("fd00:ec2::23/128"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("fd20:ce::254/128"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("fd00:42::42/128"), class: "cloud metadata"},
	{prefix: netip.MustParsePrefix("::/128"), class: "unspecified"},
	{prefix: netip.MustParsePrefix("::1/128"), class: "loopback"},
	{prefix: netip.MustParsePrefix("::/96"), class: "IPv4-compatible", embedded: ipv4At(12)},
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), class: "NAT64", embedded: ipv4At(12)},
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), class: "local-use NAT64"},
	{prefix: netip.MustParsePrefix("100::/64"), class: "discard-only"},
	{prefix: netip.MustParsePrefix("100:0:0:1::/64"), class: "dummy prefix"},
	{prefix: netip.MustParsePrefix("2001::/32"), class: "Teredo", embedded: teredo},
	{prefix: netip.MustParsePrefix("2001:2::/48"), class: "benchmarking"},
	{prefix: netip.MustParsePrefix("2001:4:112::/48"), class: "AS112"},
	{prefix: netip.MustParsePrefix("2001:10::/28"), class: "ORCHID"},
	{prefix: netip.MustParsePrefix("2001:20::/28"), class: "ORCHID"},
	{prefix: netip.MustParsePrefix("2001::/23"), class: "IETF protocol assignments"},
	{prefix: netip.MustParsePrefix("2001:db8::/32"), class: "documentation"},
	{prefix: netip.MustParsePrefix("2002::/16"), class: "6to4", embedded: ipv4At(2)},
	{prefix: netip.MustParsePrefix("2620:4f:8000::/48"), class: "AS112"},
	{prefix: netip.MustParsePrefix("3fff::/20"), class: "documentation"},
	{prefix: netip.MustParsePrefix("2000::/3")},
	{prefix: netip.MustParsePrefix("5f00::/16"), class: "segment routing"},
	{prefix: netip.MustParsePrefix("fc00::/7"), class: "private network"},
	{prefix: netip.MustParsePrefix("fe80::/10"), class: "link-local"},
	{prefix: netip.MustParsePrefix("fec0::/10"), class: "site-local"},
	{prefix: netip.MustParsePrefix("ff00::/8"), class: "multicast"},
	{prefix: netip.MustParsePrefix("::/0"), class: "not global unicast"},
}

// classOf returns why an address is forbidden, or "" if it is public. The address must not
// be IPv4-mapped or have a zone.
func classOf(a netip.Addr) string {
	for _, r := range ranges {
		if !r.prefix.Contains(a) {
			continue
		}
		if r.embedded == nil {
			return r.class
		}
		for _, v4 := range r.embedded(a.As16()) {
			if class := classOf(v4); class != "" {
				return r.class + " form of " + v4.String() + ", " + class
			}
		}
		return ""
	}
	return "not an address"
}

// ipv4At returns a function that extracts the IPv4 address at byte i.
func ipv4At(i int) func([16]byte) []netip.Addr {
	return func(b [16]byte) []netip.Addr {
		return []netip.Addr{netip.AddrFrom4([4]byte(b[i : i+4]))}
	}
}

// teredo extracts the server and the client, whose bits are inverted.
func teredo(b [16]byte) []netip.Addr {
	client := [4]byte(b[12:])
	for i := range client {
		client[i] = ^client[i]
	}
	return append(ipv4At(4)(b), netip.AddrFrom4(client))
}

package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// maxTargets is the maximum number of addresses of a name that are tried, so that a DNS
// response with many addresses does not make the service scan a network.
const maxTargets = 16

// addrCheck returns an error for an address that must not be dialed.
type addrCheck func(netip.Addr) error

// DialContext connects to host:port over TCP ("tcp", "tcp4" or "tcp6") if the policy allows
// it. It skips forbidden addresses of a name; if no other is left, the error matches
// [ErrForbidden]. It connects directly even if a proxy is configured, because proxies
// support HTTP only.
func (c *Client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.dial(ctx, network, addr, c.policy.CheckAddr)
}

// dialTransport is DialContext for a transport, which can connect to the operator's proxy at
// any address. Only transports have this exception: a database source must not be able to
// reach the proxy's address.
func (c *Client) dialTransport(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.proxy != nil && addr == c.proxy.Host {
		return c.dial(ctx, network, addr, allowAny)
	}
	return c.DialContext(ctx, network, addr)
}

func allowAny(netip.Addr) error { return nil }

func (c *Client) dial(ctx context.Context, network, addr string, check addrCheck) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, fmt.Errorf("dial %s: a network other than TCP is %w", network, ErrForbidden)
	}
	name, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial %s: the address must be host:port: %w", addr, ErrURL)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("dial %s: the port is not between 1 and 65535: %w", addr, ErrURL)
	}
	h, err := parseHost(name)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	if h.name != "" && c.policy.allowsName(h.name) {
		check = allowAny
	}

	ctx, cancel := context.WithTimeout(ctx, c.dialTimeout)
	defer cancel()
	addrs := []netip.Addr{h.addr}
	if h.name != "" {
		// Look up the name as written: a final dot disables the machine's search domains.
		if addrs, err = c.resolve(ctx, "ip"+network[len("tcp"):], name); err != nil {
			return nil, fmt.Errorf("resolve %s: %w", name, err)
		}
	}
	targets, err := pickTargets(addrs, uint16(port), check)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return race(ctx, targets, func(ctx context.Context, target netip.AddrPort) (net.Conn, error) {
		// Check the address that the socket connects to once more, so that nothing in
		// between can change it.
		d := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			dialled, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%s is %w", address, ErrForbidden)
			}
			return check(dialled.Addr())
		}}
		return d.DialContext(ctx, network, target.String())
	})
}

// pickTargets returns the addresses that pass the check, alternating the two families and
// starting with the resolver's first choice (RFC 8305, section 4).
func pickTargets(addrs []netip.Addr, port uint16, check addrCheck) ([]netip.AddrPort, error) {
	var errs []error
	var first, other []netip.AddrPort
	for _, a := range addrs {
		a = a.Unmap()
		if err := check(a); err != nil {
			errs = append(errs, err)
			continue
		}
		target := netip.AddrPortFrom(a, port)
		if len(first) == 0 || first[0].Addr().Is4() == a.Is4() {
			first = append(first, target)
		} else {
			other = append(other, target)
		}
	}
	if len(first) == 0 {
		if len(errs) == 0 {
			return nil, errors.New("the name has no address")
		}
		return nil, errs[0]
	}
	var targets []netip.AddrPort
	for i := range max(len(first), len(other)) {
		targets = append(targets, first[min(i, len(first)):min(i+1, len(first))]...)
		targets = append(targets, other[min(i, len(other)):min(i+1, len(other))]...)
	}
	return targets[:min(len(targets), maxTargets)], nil
}

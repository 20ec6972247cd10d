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

// maxTargets bounds how many addresses of one name are tried, so that an
// answer full of addresses does not make the service scan a network.
const maxTargets = 16

// addrCheck decides on an address that is about to be dialled.
type addrCheck func(netip.Addr) error

// DialContext connects to host:port over TCP ("tcp", "tcp4" or "tcp6") where
// the policy lets it. Forbidden addresses of a name are passed over; the error
// matches [ErrForbidden] when no other is left. It connects directly even where
// a proxy is configured, because proxies carry HTTP only.
func (c *Client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.dial(ctx, network, addr, c.policy.CheckAddr)
}

// dialTransport is DialContext for a transport, which may reach the operator's
// proxy wherever it is. Nothing else gets this exception: a database source
// must not be able to name the proxy's address.
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
		return nil, fmt.Errorf("dial %s: write host:port: %w", addr, ErrURL)
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
		// The name is looked up as it was written: a final dot keeps the
		// resolver from trying the machine's search domains.
		if addrs, err = c.resolve(ctx, "ip"+network[len("tcp"):], name); err != nil {
			return nil, fmt.Errorf("resolve %s: %w", name, err)
		}
	}
	targets, err := pickTargets(addrs, uint16(port), check)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return race(ctx, targets, func(ctx context.Context, target netip.AddrPort) (net.Conn, error) {
		// The check is repeated on what the socket is about to connect to,
		// so that it holds whatever happens to the address on its way there.
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

// pickTargets keeps the addresses that pass the check and alternates the two
// families, beginning with the resolver's first choice (RFC 8305, section 4).
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

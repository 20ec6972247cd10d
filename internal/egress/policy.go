package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// allowSetting is the name of the setting with the allow-list.
const allowSetting = "FEEDMILL_EGRESS_ALLOW"

var (
	// ErrForbidden reports that the policy forbids something.
	ErrForbidden = errors.New("forbidden by the egress policy")
	// ErrURL reports a URL or host that is invalid under any policy.
	ErrURL = errors.New("not valid")
)

// Policy decides which addresses can be dialed: all public ones, and those that the operator
// allows. It is immutable and safe for concurrent use.
type Policy struct {
	prefixes []netip.Prefix
	// names has exact host names, and domains those whose subdomains are allowed.
	names, domains map[string]bool
}

// NewPolicy returns a policy with the operator's allow-list. An entry is a prefix
// (10.1.0.0/16), an address (10.1.2.3), a host name (hooks.internal), or a wildcard for
// subdomains (*.hooks.internal, which does not include hooks.internal). All invalid entries
// are reported together.
//
// An allowed host name allows every address that it resolves to when it is dialed by name.
func NewPolicy(allow []string) (*Policy, error) {
	p := &Policy{names: map[string]bool{}, domains: map[string]bool{}}
	var errs []error
	for _, entry := range allow {
		if err := p.add(strings.TrimSpace(entry)); err != nil {
			errs = append(errs, fmt.Errorf("egress allow-list: entry %q: %w", entry, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return p, nil
}

func (p *Policy) add(entry string) error {
	if strings.Contains(entry, "/") {
		prefix, err := parsePrefix(entry)
		if err != nil {
			return err
		}
		p.prefixes = append(p.prefixes, prefix)
		return nil
	}
	if domain, ok := strings.CutPrefix(entry, "*."); ok {
		h, err := parseHost(domain)
		if err != nil || h.name == "" {
			return errors.New(`"*." must be followed by a domain, such as *.example.com`)
		}
		p.domains[h.name] = true
		return nil
	}
	h, err := parseHost(entry)
	switch {
	case err != nil:
		return errors.New("must be a prefix (10.1.0.0/16), an address (10.1.2.3), a host name (hooks.internal) " +
			"or a wildcard (*.hooks.internal), with no scheme and no port")
	case h.addr.Zone() != "":
		return errors.New("the address must not have a zone")
	case h.name != "":
		p.names[h.name] = true
	default:
		addr := h.addr.Unmap()
		p.prefixes = append(p.prefixes, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return nil
}

// parsePrefix parses a prefix. It refuses one with bits set after its length, which is a
// mistake in either the length or the address.
func parsePrefix(s string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, errors.New("must be address/length, such as 10.1.0.0/16 or fd00:1::/32, or a host name without a path")
	}
	if masked := prefix.Masked(); masked != prefix {
		return netip.Prefix{}, fmt.Errorf("the address has bits set after the prefix length; write %v for the network, or %v for the single address", masked, prefix.Addr())
	}
	if prefix.Addr().Is4In6() {
		if prefix.Bits() < 96 {
			return netip.Prefix{}, errors.New("must be an IPv4 prefix, such as 10.1.0.0/16")
		}
		return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96), nil
	}
	return prefix, nil
}

// CheckAddr returns nil if an address can be dialed. Otherwise it returns an error that
// matches [ErrForbidden] and contains the address and the reason.
//
// An IPv4-mapped address is treated as its IPv4 address. Other forms with an embedded IPv4
// address are forbidden if that address is not public, even if the operator allows it:
// behind a translator it belongs to another network.
func (p *Policy) CheckAddr(a netip.Addr) error {
	if a.Zone() != "" {
		return fmt.Errorf("%v: an address with a zone is %w", a, ErrForbidden)
	}
	a = a.Unmap()
	if p.allowsAddr(a) {
		return nil
	}
	if class := classOf(a); class != "" {
		return fmt.Errorf("%v (%s) is %w; the operator can allow it in %s", a, class, ErrForbidden, allowSetting)
	}
	return nil
}

// allowsAddr reports whether the allow-list has a prefix of the address.
func (p *Policy) allowsAddr(a netip.Addr) bool {
	a = a.Unmap()
	for _, prefix := range p.prefixes {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// allowsName reports whether the allow-list has the host name or a wildcard for it.
func (p *Policy) allowsName(name string) bool {
	if p.names[name] {
		return true
	}
	for {
		_, parent, ok := strings.Cut(name, ".")
		if !ok {
			return false
		}
		if p.domains[parent] {
			return true
		}
		name = parent
	}
}

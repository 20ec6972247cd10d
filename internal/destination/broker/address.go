package broker

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Address is the URL of a broker.
type Address struct {
	Scheme string
	// Hosts are host:port, in lower case.
	Hosts []string
	// Path is without its first slash, and without percent-encoding.
	Path  string
	Query url.Values
}

// parseAddress parses the URL of a broker. It can have several hosts, separated by commas,
// which net/url refuses. The error is a sentence without a period that repeats no part of
// the URL except a host.
func parseAddress(text string, form Form) (a Address, err error) {
	malformed := fmt.Errorf("url must be an ASCII URL such as %s. Percent-encode special characters", form.Example)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return a, malformed
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return a, malformed
	}
	if strings.Contains(rest, "#") {
		return a, errors.New("url must not have a fragment")
	}
	a.Scheme = strings.ToLower(scheme)
	rest, query, _ := strings.Cut(rest, "?")
	hosts, path, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") {
		return a, errors.New("url must not contain a user name or password. Set delivery.credentials instead")
	}
	if a.Path, err = url.PathUnescape(path); err != nil {
		return a, malformed
	}
	if a.Query, err = url.ParseQuery(query); err != nil {
		return a, malformed
	}
	port := form.PlainPort
	if a.Scheme == form.Secure {
		port = form.SecurePort
	}
	for host := range strings.SplitSeq(hosts, ",") {
		address, err := parseHost(host, port)
		if err != nil {
			return a, err
		}
		a.Hosts = append(a.Hosts, address)
	}
	if len(a.Hosts) > form.MaxHosts {
		return a, fmt.Errorf("url must have at most %d hosts; got %d", form.MaxHosts, len(a.Hosts))
	}
	return a, nil
}

// parseHost parses a host with an optional port. An IPv6 address is in brackets.
func parseHost(text, port string) (string, error) {
	host, rest, _ := strings.Cut(text, ":")
	if inner, ok := strings.CutPrefix(text, "["); ok {
		host, rest, ok = strings.Cut(inner, "]")
		if address, err := netip.ParseAddr(host); !ok || err != nil || !address.Is6() || rest != "" && rest[0] != ':' {
			return "", errors.New("url has an IPv6 address that is not valid")
		}
		rest = strings.TrimPrefix(rest, ":")
	}
	if host == "" {
		return "", errors.New("url must have a host")
	}
	if rest != "" {
		port = rest
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", errors.New("url must have a port between 1 and 65535")
	}
	return net.JoinHostPort(strings.ToLower(host), strconv.FormatUint(n, 10)), nil
}

// sameOrigin reports whether two URLs have the same scheme and the same hosts, in any order.
func sameOrigin(a, b string, form Form) bool {
	u, err := parseAddress(a, form)
	v, err2 := parseAddress(b, form)
	slices.Sort(u.Hosts)
	slices.Sort(v.Hosts)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && slices.Equal(slices.Compact(u.Hosts), slices.Compact(v.Hosts))
}

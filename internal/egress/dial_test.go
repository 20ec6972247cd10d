package egress

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestDialKeepsThePolicy(t *testing.T) {
	port := listen(t)
	names := map[string][]string{
		"hooks.test":     {"127.0.0.1"},
		"mixed.test":     {"127.0.0.2", "::1", "127.0.0.1"},
		"mapped.test":    {"::ffff:127.0.0.1"},
		"forbidden.test": {"127.0.0.2", "::1"},
		"empty.test":     {},
	}
	for _, tt := range []struct {
		name    string
		allow   []string
		network string
		host    string
		want    error
	}{
		{"literal", []string{"127.0.0.1"}, "tcp", "127.0.0.1", nil},
		{"mapped literal", []string{"127.0.0.1"}, "tcp", "::ffff:127.0.0.1", nil},
		{"name of an allowed address", []string{"127.0.0.1"}, "tcp", "hooks.test", nil},
		{"tcp4", []string{"127.0.0.1"}, "tcp4", "hooks.test", nil},
		{"forbidden addresses of a name are passed over", []string{"127.0.0.1"}, "tcp", "mixed.test", nil},
		{"name of a mapped address", []string{"127.0.0.1"}, "tcp", "mapped.test", nil},
		{"allowed name", []string{"hooks.test"}, "tcp", "hooks.test", nil},
		{"allowed name as another writes it", []string{"hooks.test"}, "tcp", "HOOKS.test.", nil},
		{"allowed subdomain", []string{"*.test"}, "tcp", "hooks.test", nil},

		{"forbidden literal", nil, "tcp", "127.0.0.1", ErrForbidden},
		{"forbidden mapped literal", nil, "tcp", "::ffff:127.0.0.1", ErrForbidden},
		{"forbidden name", nil, "tcp", "hooks.test", ErrForbidden},
		{"no address left", []string{"127.0.0.1"}, "tcp", "forbidden.test", ErrForbidden},
		{"an allowed name does not allow its address", []string{"hooks.test"}, "tcp", "127.0.0.1", ErrForbidden},
		{"nor another name of it", []string{"hooks.test"}, "tcp", "mixed.test", ErrForbidden},
		{"udp", []string{"127.0.0.1"}, "udp", "127.0.0.1", ErrForbidden},
		{"ambiguous spelling", []string{"127.0.0.1"}, "tcp", "127.1", ErrURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, Options{Allow: tt.allow, Resolver: func(_ context.Context, _, host string) ([]netip.Addr, error) {
				return parseAddrs(names[strings.ToLower(strings.TrimSuffix(host, "."))]), nil
			}})
			var dialled []string
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				ConnectStart: func(_, addr string) { dialled = append(dialled, addr) },
			})
			conn, err := c.DialContext(ctx, tt.network, net.JoinHostPort(tt.host, port))
			if !errors.Is(err, tt.want) {
				t.Fatalf("DialContext = %v, want %v", err, tt.want)
			}
			want := []string{"127.0.0.1:" + port}
			if tt.want != nil {
				want = nil
			} else {
				conn.Close()
			}
			if !slices.Equal(dialled, want) {
				t.Errorf("dialled %v, want %v", dialled, want)
			}
		})
	}
}

func TestDialReportsNamesThatCannotBeResolved(t *testing.T) {
	broken := errors.New("no such host")
	c := newClient(t, Options{Resolver: func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if host == "empty.test" {
			return nil, nil
		}
		return nil, broken
	}})
	if _, err := c.DialContext(t.Context(), "tcp", "gone.test:443"); !errors.Is(err, broken) {
		t.Errorf("DialContext = %v, want the resolver's error", err)
	}
	if _, err := c.DialContext(t.Context(), "tcp", "empty.test:443"); err == nil || errors.Is(err, ErrForbidden) {
		t.Errorf("DialContext of a name without addresses = %v, want an error that is no refusal", err)
	}
}

func TestDialRefusesMalformedAddresses(t *testing.T) {
	c := newClient(t, Options{Allow: []string{"127.0.0.1"}})
	for _, addr := range []string{"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http", "::1:80"} {
		if _, err := c.DialContext(t.Context(), "tcp", addr); !errors.Is(err, ErrURL) {
			t.Errorf("DialContext(%q) = %v, want not usable", addr, err)
		}
	}
}

func TestDialAsksTheResolverForTheFamilyOfTheNetwork(t *testing.T) {
	for network, want := range map[string]string{"tcp": "ip", "tcp4": "ip4", "tcp6": "ip6"} {
		c := newClient(t, Options{Resolver: func(_ context.Context, network, _ string) ([]netip.Addr, error) {
			if network != want {
				t.Errorf("asked for %q, want %q", network, want)
			}
			return nil, nil
		}})
		if _, err := c.DialContext(t.Context(), network, "hooks.test:443"); err == nil {
			t.Error("dialled a name without addresses")
		}
	}
}

func TestARebindingNameIsNotDialled(t *testing.T) {
	port := listen(t)
	answers := []string{"127.0.0.1", "127.0.0.2"}
	c := newClient(t, Options{Allow: []string{"127.0.0.1"}, Resolver: func(context.Context, string, string) ([]netip.Addr, error) {
		answer := answers[0]
		answers = answers[1:]
		return parseAddrs([]string{answer}), nil
	}})
	conn, err := c.DialContext(t.Context(), "tcp", "rebind.test:"+port)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		ConnectStart: func(_, addr string) { t.Errorf("dialled %s", addr) },
	})
	if _, err := c.DialContext(ctx, "tcp", "rebind.test:"+port); !errors.Is(err, ErrForbidden) {
		t.Errorf("second dial = %v, want forbidden", err)
	}
}

// The check at the socket does not rely on the one before it.
func TestTheSocketIsCheckedOnItsOwn(t *testing.T) {
	port := listen(t)
	c := newClient(t, Options{})
	asked := 0
	_, err := c.dial(t.Context(), "tcp", "127.0.0.1:"+port, func(a netip.Addr) error {
		if asked++; asked == 1 {
			return nil
		}
		return c.policy.CheckAddr(a)
	})
	if asked != 2 || !errors.Is(err, ErrForbidden) {
		t.Errorf("asked %d times, dial = %v, want a refusal the second time", asked, err)
	}
}

func TestDialIsTraced(t *testing.T) {
	port := listen(t)
	c := newClient(t, Options{Allow: []string{"127.0.0.1"}})
	var steps []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { steps = append(steps, "dns") },
		DNSDone:      func(httptrace.DNSDoneInfo) { steps = append(steps, "resolved") },
		ConnectStart: func(_, _ string) { steps = append(steps, "connect") },
		ConnectDone:  func(_, _ string, _ error) { steps = append(steps, "connected") },
	})
	conn, err := c.DialContext(ctx, "tcp", "localhost:"+port)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if want := []string{"dns", "resolved", "connect", "connected"}; !slices.Equal(steps, want) {
		t.Errorf("traced %v, want %v", steps, want)
	}
}

func TestPickTargetsAlternatesFamilies(t *testing.T) {
	got, err := pickTargets(parseAddrs([]string{"2606::1", "2606::2", "2606::3", "1.1.1.1", "10.0.0.1", "::ffff:1.1.1.2"}), 443, newPolicy(t).CheckAddr)
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, target := range got {
		hosts = append(hosts, target.Addr().String())
	}
	if want := []string{"2606::1", "1.1.1.1", "2606::2", "1.1.1.2", "2606::3"}; !slices.Equal(hosts, want) {
		t.Errorf("got %v, want %v", hosts, want)
	}
	many := slices.Repeat(parseAddrs([]string{"1.1.1.1"}), 1000)
	if got, _ := pickTargets(many, 443, allowAny); len(got) != maxTargets {
		t.Errorf("%d targets of a thousand, want %d", len(got), maxTargets)
	}
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// listen accepts connections on 127.0.0.1 and returns the port.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func parseAddrs(texts []string) []netip.Addr {
	var addrs []netip.Addr
	for _, s := range texts {
		addrs = append(addrs, netip.MustParseAddr(s))
	}
	return addrs
}

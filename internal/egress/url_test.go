package egress

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/idna"
)

func TestCheckURL(t *testing.T) {
	closed := newPolicy(t)
	open := newPolicy(t, "127.0.0.0/8", "fd00::/8", "hooks.internal", "*.lan")
	for _, tt := range []struct {
		policy *Policy
		url    string
		want   error
	}{
		{closed, "https://example.com/hook?a=b", nil},
		{closed, "https://example.com:8443", nil},
		{closed, "https://EXAMPLE.com.", nil},
		{closed, "https://bücher.example/", nil},
		{closed, "https://a_b.example/", nil},
		{closed, "https://8.8.8.8/", nil},
		{closed, "https://[2606:4700:4700::1111]:443/", nil},
		{closed, "https://[::ffff:8.8.8.8]/", nil},
		{closed, "https://hooks.internal/", nil}, // resolved and checked when dialled

		{closed, "http://example.com/", ErrForbidden},
		{closed, "http://8.8.8.8/", ErrForbidden},
		{closed, "https://127.0.0.1/", ErrForbidden},
		{closed, "https://10.1.2.3:8443/", ErrForbidden},
		{closed, "https://169.254.169.254/latest", ErrForbidden},
		{closed, "https://[::1]/", ErrForbidden},
		{closed, "https://[::ffff:127.0.0.1]/", ErrForbidden},
		{closed, "https://[fe80::1%25eth0]/", ErrForbidden},
		{closed, "https://localhost/", ErrForbidden},
		{closed, "https://LOCALHOST.:8080/", ErrForbidden},
		{closed, "https://a.localhost/", ErrForbidden},
		{closed, "https://localhost.example/", nil},

		{open, "http://127.0.0.1:8080/", nil},
		{open, "https://127.9.9.9/", nil},
		{open, "http://[::ffff:127.0.0.1]/", nil},
		{open, "http://localhost:8080/", nil},
		{open, "http://a.localhost/", nil},
		{open, "http://hooks.internal/", nil},
		{open, "http://HOOKS.internal./", nil},
		{open, "http://a.b.lan/", nil},
		{open, "http://[fd00::1]/", nil},
		{open, "http://lan/", ErrForbidden},
		{open, "http://[::1]/", ErrForbidden},
		{open, "http://10.0.0.1/", ErrForbidden},
		{open, "http://example.com/", ErrForbidden},
		{newPolicy(t, "localhost"), "http://localhost/", nil},
		{newPolicy(t, "localhost"), "http://127.0.0.1/", ErrForbidden},
		{newPolicy(t, "::1"), "http://localhost/", ErrForbidden},

		{open, "", ErrURL},
		{open, "/relative", ErrURL},
		{open, "//example.com/", ErrURL},
		{open, "https:example.com", ErrURL},
		{open, "https:///path", ErrURL},
		{open, "https://:443/", ErrURL},
		{open, "ftp://example.com/", ErrURL},
		{open, "file:///etc/passwd", ErrURL},
		{open, "https://example.com:0/", ErrURL},
		{open, "https://example.com:65536/", ErrURL},
		{open, "https://a..b/", ErrURL},
		{open, "https://a*b/", ErrURL},
		{open, "https://" + strings.Repeat("a", 64) + ".example/", ErrURL},
		{open, "https://127.1/", ErrURL},
		{open, "https://0x7f.1/", ErrURL},
		{open, "https://0X7F000001/", ErrURL},
		{open, "https://127.0.0.0x1/", ErrURL},
		{open, "https://127.0.0.0x/", ErrURL},
		{open, "https://2130706433/", ErrURL},
		{open, "https://0177.0.0.1/", ErrURL},
		{open, "https://127.0.0.1./", ErrURL},
		{open, "https://127.0.0.1.1/", ErrURL},
		{open, "https://256.0.0.1/", ErrURL},
		{open, "https://１２７.０.０.１/", ErrURL},
		{open, "https://127。0。0。1/", ErrURL},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.url, err)
			continue
		}
		if err := tt.policy.CheckURL(u); !errors.Is(err, tt.want) {
			t.Errorf("CheckURL(%q) = %v, want %v", tt.url, err, tt.want)
		}
	}
}

// A URL put together by hand can hold what the parser refuses.
func TestCheckURLOfUnparsedURLs(t *testing.T) {
	p := newPolicy(t, "::/0", "0.0.0.0/0")
	for _, u := range []*url.URL{
		nil,
		{Scheme: "https", Host: "[127.0.0.1]"},
		{Scheme: "https", Host: "::1"},
		{Scheme: "https", Host: "::1:80"},
		{Scheme: "https", Host: "[example.com]"},
		{Scheme: "https", Host: "host:port"},
		{Scheme: "https", Host: "a b"},
		{Scheme: "https", Host: "example.com", Opaque: "//127.0.0.1/"},
		{Scheme: "HTTPS", Host: "example.com"},
	} {
		if err := p.CheckURL(u); !errors.Is(err, ErrURL) {
			t.Errorf("CheckURL(%#v) = %v, want not usable", u, err)
		}
	}
}

func TestCheckURLKeepsSecretsToItself(t *testing.T) {
	p := newPolicy(t)
	for _, s := range []string{
		"http://user:hunter2@example.com/hunter2?q=hunter2#hunter2",
		"https://user:hunter2@127.0.0.1/hunter2?q=hunter2",
		"ftp://user:hunter2@example.com/hunter2",
		"https://user:hunter2@127.1/hunter2",
		"https://user:hunter2@example.com:0/hunter2",
		"https://user:hunter2@/hunter2",
	} {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckURL(u); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("CheckURL of a URL with secrets = %v", err)
		}
	}
}

func TestCheckHost(t *testing.T) {
	p := newPolicy(t, "10.1.0.0/16")
	for name, want := range map[string]error{
		"db.example.com": nil,
		"10.1.2.3":       nil,
		"10.2.0.0":       ErrForbidden,
		"::1":            ErrForbidden,
		"localhost":      ErrForbidden,
		"[::1]":          ErrURL,
		"/var/run":       ErrURL,
		"":               ErrURL,
	} {
		if err := p.CheckHost(name); !errors.Is(err, want) {
			t.Errorf("CheckHost(%q) = %v, want %v", name, err, want)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{
		"https://example.com/", "http://127.0.0.1:80", "https://[::ffff:10.0.0.1]/", "https://0x7f.1/",
		"https://0177.0.0.1", "https://2130706433", "https://１２７.１/", "https://[fe80::1%25a]/", "https://a.localhost./",
	} {
		f.Add(s)
	}
	p, err := NewPolicy(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := url.Parse(s)
		if err != nil {
			return
		}
		if err := p.CheckURL(u); err != nil {
			if errors.Is(err, ErrForbidden) == errors.Is(err, ErrURL) {
				t.Fatalf("CheckURL(%q) = %v, which is not exactly one of forbidden and not usable", s, err)
			}
			return
		}
		if u.Scheme != "https" {
			t.Fatalf("%q passes", s)
		}
		for _, name := range spellings(u.Hostname()) {
			a, err := netip.ParseAddr(name)
			if err != nil {
				a, err = looseIPv4(name)
			}
			if err == nil && p.CheckAddr(a) != nil {
				t.Fatalf("%q passes, and is %v", s, a)
			}
		}
	})
}

// spellings are the forms in which layers below may see a host.
func spellings(s string) []string {
	all := []string{s, strings.TrimSuffix(s, ".")}
	if ascii, err := idna.Lookup.ToASCII(s); err == nil {
		all = append(all, ascii, strings.TrimSuffix(ascii, "."))
	}
	return all
}

// looseIPv4 reads an address as inet_aton does: one to four numbers in C's
// notations, the last of which fills what is left.
func looseIPv4(s string) (netip.Addr, error) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, errors.New("too many parts")
	}
	var v uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, 0, bits)
		if err != nil {
			return netip.Addr{}, err
		}
		v = v<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), nil
}

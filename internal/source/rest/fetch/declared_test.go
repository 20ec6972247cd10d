package fetch

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Neither the body nor a header that was given for the first page goes to a next
// page, or a redirect, at another origin.
func TestNothingOfTheFirstPageLeavesItsOrigin(t *testing.T) {
	for _, way := range []string{"next", "redirect"} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
				if way == "redirect" {
					http.Redirect(w, r, "https://other.test/2", http.StatusFound)
					return
				}
				w.Header().Set("Link", `<https://other.test/2>; rel="next"`)
				respond(w, `[{"id":1}]`)
			})
			l.serve("other.test", func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				if r.Method != "GET" || len(text) > 0 || strings.Contains(fmt.Sprint(r.URL, r.Header), "mine") || r.Header.Get("Content-Type") != "" {
					t.Errorf("%s: it is asked %s %v with %q", way, r.Method, r.Header, text)
				}
				respond(w, "[]")
			})
			_, _, err := l.fetch(`{"request":{"url":"https://api.test/rows","method":"POST","headers":{"X-Tenant":"mine","Accept":"mine/json","User-Agent":"mine"},
				"query":{"q":"mine"},"body":{"kind":"json","value":{"q":"mine"}}},"pagination":{"kind":"linkHeader"}}`)
			if err != nil {
				t.Errorf("%s: %v", way, err)
			}
		})
	}
}

const declaredDefinition = `{"request":{"url":{"secret":"https://api.test/hooks/T0PSECRET?in=Q0UERY"},"method":"POST",
	"query":{"who":{"secret":"W1HO"},"several":["open",{"secret":"S2EVERAL"}]},"headers":{"X-Tenant":{"secret":"T3ENANT"},"X-Open":"open"},
	"body":{"kind":"json","value":{"deep":[{"pin":1,"name":{"secret":"D4EEP"}}]}}}}`

var declaredSecrets = []string{"T0PSECRET", "Q0UERY", "W1HO", "S2EVERAL", "T3ENANT", "D4EEP"}

func TestDeclaredSecretsAreSentAndNeverShown(t *testing.T) {
	d, err := spec.Parse([]byte(declaredDefinition), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range declaredSecrets {
		if strings.Contains(string(d.Public()), secret) || !strings.Contains(string(d.Secrets()), secret) {
			t.Errorf("%s is shown in %s, or not kept", secret, d.Public())
		}
	}
	if !strings.Contains(string(d.Public()), `"X-Open":"open"`) {
		t.Errorf("what is no secret is hidden in %s", d.Public())
	}
	for name, patch := range map[string]string{
		"another part":    `{"retry":{"maxAttempts":2}}`,
		"shown back":      `{"request":` + requestOf(t, d.Public()) + `}`,
		"nothing at all":  `{}`,
		"one is replaced": `{"request":` + strings.Replace(requestOf(t, d.Public()), `"X-Tenant":"***"`, `"X-Tenant":{"secret":"N5EW"}`, 1) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := spec.Merge(d.Public(), d.Secrets(), []byte(patch), feedmill.RulesCurrent, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range append([]string{"N5EW"}, declaredSecrets...) {
				if strings.Contains(string(merged.Public()), secret) {
					t.Errorf("%s is shown in %s", secret, merged.Public())
				}
			}
			if _, err := spec.Restore(merged.SourceSpec(), merged.Secrets(), feedmill.RulesCurrent); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := spec.Merge(d.Public(), d.Secrets(), []byte(`{"request":`+strings.Replace(requestOf(t, d.Public()), `"url":"***"`, `"url":"https://evil.test/"`, 1)+`}`), feedmill.RulesCurrent, 0); err == nil {
		t.Error("the secrets go to another origin")
	}

	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			got := fmt.Sprint(r.URL, r.Header, string(text))
			for _, secret := range declaredSecrets {
				if !strings.Contains(got, secret) {
					t.Errorf("%s is not sent: %s", secret, got)
				}
			}
			w.WriteHeader(400)
			_, _ = io.WriteString(w, "you sent "+got)
		})
		_, _, err := l.fetch(declaredDefinition)
		told := fmt.Sprint(err, l.trace())
		for _, secret := range declaredSecrets {
			if err == nil || strings.Contains(told, secret) {
				t.Errorf("%s is told of: %s", secret, told)
			}
		}
	})
}

// requestOf is the request of a definition.
func requestOf(t *testing.T, definition []byte) string {
	t.Helper()
	doc, err := spec.ParseDocument(definition)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc.Member("request").Append(nil))
}

func TestUnreachableNamesNoAddressInside(t *testing.T) {
	for want, err := range map[string]error{
		"there is no such host":                               &net.DNSError{Err: "no such host", Name: "db.internal", Server: "10.0.0.2:53", IsNotFound: true},
		"the name of its host could not be resolved":          fmt.Errorf("resolve: %w", &net.DNSError{Err: "server misbehaving", Name: "db.internal", Server: "10.0.0.2:53"}),
		"the connection was refused":                          &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}, Err: syscall.ECONNREFUSED},
		"no connection could be made":                         &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}, Err: syscall.EHOSTUNREACH},
		"the connection was closed before a response arrived": io.ErrUnexpectedEOF,
	} {
		if got := unreachable(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

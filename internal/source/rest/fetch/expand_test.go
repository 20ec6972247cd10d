package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A long value in many tokens would be more than any machine has: what a request
// becomes is bounded, wherever the tokens stand, and nothing is sent that was cut.
func TestTokensBecomeNoMoreThanARequestMayHold(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	many := strings.Repeat("{{v}}", 10_000)
	name := strings.Repeat("n", 1<<10)
	few := strings.Repeat("{{v}}", 1000)
	for _, c := range []struct{ name, definition, says string }{
		{"a text", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"text","value":"` + many + `"}}`, "the body of the request has more than 8388608 bytes"},
		{"a form", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"form","value":{"a":"` + many + `"}}}`, "the body of the request"},
		{"many short texts", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"json","value":[` + strings.Repeat(`"{{v}}",`, 9999) + `"{{v}}"]}}`, "the body of the request"},
		{"a URL", `"request":{"url":"https://api.test/` + few + `"}`, "the URL of the request has more than 65536 bytes"},
		{"a query", `"request":{"url":"https://api.test/","query":{"a":"` + many + `"}}`, "the URL of the request"},
		{"a long name", `"request":{"url":"https://api.test/","query":{"` + name + `":[` + strings.Repeat(`"",`, 9999) + `"{{v}}"]}}`, "the URL of the request"},
		{"a long name of a form", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"form","value":{"` + name + `":[` + strings.Repeat(`"",`, 9999) + `"{{v}}"]}}}`, "the body of the request"},
		{"a header", `"request":{"url":"https://api.test/","headers":{"X-A":"` + many + `"}}`, "the header of the request has more than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
					t.Error("it is sent all the same")
					respond(w, `[]`)
				})
				_, err := l.fetcher.Fetch(t.Context(), l.job(fmt.Sprintf(`{%s,"each":{"in":{"values":[%q]},"as":"v"}}`, c.definition, long)), new(lines))
				if FailureOf(err) != "fetch-failed" || !strings.Contains(fmt.Sprint(err), c.says) || len(fmt.Sprint(err)) > 1000 {
					t.Errorf("%.2000v", err)
				}
			})
		})
	}
}

// What is as long as it may be is sent whole, and one byte more is refused.
func TestTokensAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		name, definition string
		room             int // for the value
		sent             func(*http.Request, string) string
	}{
		{"an address", `"request":{"url":"https://api.test/","query":{"a":"{{v}}"}}`, 64<<10 - len("https://api.test/") - len("a"), func(r *http.Request, _ string) string { return r.URL.Query().Get("a") }},
		{"a header", `"request":{"url":"https://api.test/","headers":{"X-A":"{{v}}"}}`, 64 << 10, func(r *http.Request, _ string) string { return r.Header.Get("X-A") }},
		{"a body", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"text","value":"` + strings.Repeat("{{v}}", 64) + `"}}`, 8 << 20 / 64, func(_ *http.Request, body string) string { return body[:len(body)/64] }},
	} {
		for _, more := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s and %d", c.name, more), func(t *testing.T) {
				value := strings.Repeat("x", c.room+more)
				synctest.Test(t, func(t *testing.T) {
					l, sent := newLab(t), ""
					l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
						body, _ := io.ReadAll(r.Body)
						sent = c.sent(r, string(body))
						respond(w, `[]`)
					})
					_, err := l.fetcher.Fetch(t.Context(), l.job(fmt.Sprintf(`{%s,"each":{"in":{"values":[%q]},"as":"v"}}`, c.definition, value)), new(lines))
					if more == 0 && (err != nil || sent != value) {
						t.Errorf("%d bytes are sent of %d: %.300v", len(sent), len(value), err)
					}
					if more > 0 && (FailureOf(err) != "fetch-failed" || sent != "") {
						t.Errorf("%d bytes are sent: %.300v", len(sent), err)
					}
				})
			})
		}
	}
}

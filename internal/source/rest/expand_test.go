package rest

import (
	"fmt"
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
	few := strings.Repeat("{{v}}", 1000)
	for _, c := range []struct{ name, definition, says string }{
		{"a text", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"text","value":"` + many + `"}}`, "the body of the request has more than 8388608 bytes"},
		{"a form", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"form","value":{"a":"` + many + `"}}}`, "the body of the request"},
		{"many short texts", `"request":{"method":"POST","url":"https://api.test/","body":{"kind":"json","value":[` + strings.Repeat(`"{{v}}",`, 9999) + `"{{v}}"]}}`, "the body of the request"},
		{"a URL", `"request":{"url":"https://api.test/` + few + `"}`, "the URL of the request has more than 65536 bytes"},
		{"a query", `"request":{"url":"https://api.test/","query":{"a":"` + many + `"}}`, "the URL of the request"},
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
				if failureOf(err) != "fetch-failed" || !strings.Contains(fmt.Sprint(err), c.says) || len(fmt.Sprint(err)) > 1000 {
					t.Errorf("%.2000v", err)
				}
			})
		})
	}
}

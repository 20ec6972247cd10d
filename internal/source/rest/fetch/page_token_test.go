package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// The token or the address of the next page may be in a header or in XML.
func TestTokensOutsideOfJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var asked []string
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.RawQuery+r.Header.Get("X-Token"))
			last := len(asked) == 3
			n := fmt.Sprint(len(asked))
			w.Header().Set("Content-Type", "application/xml")
			switch r.URL.Path {
			case "/header":
				if !last {
					w.Header().Set("X-Token", "t"+n)
				}
				respond(w, `[{"id":`+n+`}]`)
			case "/oai":
				token := "t" + n
				if last {
					token = ""
				}
				_, _ = io.WriteString(w, `<?xml version="1.0"?><o:PMH xmlns:o="x"><o:List><r><id>`+n+`</id><resumptionToken>no</resumptionToken></r><o:resumptionToken a="1"> `+token+` </o:resumptionToken></o:List></o:PMH>`)
			case "/atom":
				link := `<link href="/atom?p=` + n + `&amp;q=1" rel="next"/>`
				if last {
					link = ""
				}
				_, _ = io.WriteString(w, `<feed><link rel="self" href="/self"/>`+link+`<entry><id>`+n+`</id><link rel="next" href="/wrong"/></entry></feed>`)
			}
		})
		for _, test := range []struct{ path, pagination, asked string }{
			{"header", `{"kind":"cursor","path":{"header":"x-token"},"param":"X-Token","in":"header"}`, " t1 t2"},
			{"header", `{"kind":"cursor","path":{"header":"x-token"},"param":"after"}`, " after=t1 after=t2"},
			{"oai?verb=V&set=s", `{"kind":"cursor","path":{"xml":"/PMH/List/resumptionToken"},"param":"resumptionToken"}`, "verb=V&set=s verb=V&resumptionToken=t1 verb=V&resumptionToken=t2"},
			{"oai?a=1", `{"kind":"cursor","path":{"xml":"/o:PMH/*/resumptionToken"},"param":"t"}`, "a=1 a=1&t=t1 a=1&t=t2"},
			{"atom", `{"kind":"nextUrl","path":{"xml":"/feed/link[@rel='next']/@href"}}`, " p=1&q=1 p=2&q=1"},
		} {
			asked = nil
			_, result, err := l.fetch(`{"request":{"url":"https://api.test/` + test.path + `"},"pagination":` + test.pagination + `}`)
			if err != nil || result.Pages != 3 || strings.Join(asked, " ") != test.asked {
				t.Errorf("%s: %q, %v", test.pagination, asked, err)
			}
		}
	})
}

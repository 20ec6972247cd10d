package fetch

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

func TestPagination(t *testing.T) {
	// The server has five records and gives two of them a page.
	const url = `"url":"https://api.test/rows"`
	page := func(from int) (items []string) {
		for i := from; i < min(from+2, 5); i++ {
			items = append(items, fmt.Sprintf(`{"id":%d}`, i))
		}
		return items
	}
	param := func(r *http.Request, in, name string) string {
		switch in {
		case "header":
			return r.Header.Get(name)
		case "body":
			body, _ := io.ReadAll(r.Body)
			doc, err := spec.ParseDocument(body)
			if err != nil {
				return ""
			}
			if v := doc.Member(name); v != nil {
				text, _ := find.Scalar(v)
				return text
			}
			return ""
		}
		return r.URL.Query().Get(name)
	}
	for _, test := range []struct {
		name, definition string
		in, param        string
		answer           func(w http.ResponseWriter, r *http.Request, value string)
		trace            []string
	}{
		{
			name: "none", definition: `{"request":{` + url + `}}`,
			answer: func(w http.ResponseWriter, _ *http.Request, _ string) { respond(w, `[{"id":0}]`) },
			trace:  []string{"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "nextUrl", definition: `{"request":{` + url + `},"pagination":{"kind":"nextUrl","path":"$.next"}}`, in: "query", param: "from",
			answer: func(w http.ResponseWriter, _ *http.Request, value string) {
				var from int
				_, _ = fmt.Sscan(value, &from)
				next := "null"
				if from+2 < 5 {
					next = fmt.Sprintf(`"/rows?from=%d"`, from+2)
				}
				respond(w, fmt.Sprintf(`{"next":%s,"rows":[%s]}`, next, strings.Join(page(from), ",")))
			},
			trace: []string{
				"GET https://api.test/rows 200 page=1 try=1 rows=2 bytes=50",
				"GET https://api.test/rows?from=2 200 page=2 try=1 rows=2 bytes=50",
				"GET https://api.test/rows?from=4 200 page=3 try=1 rows=1 bytes=31",
			},
		},
		{
			name: "linkHeader", definition: `{"request":{` + url + `},"pagination":{"kind":"linkHeader"}}`, in: "query", param: "from",
			answer: func(w http.ResponseWriter, _ *http.Request, value string) {
				var from int
				_, _ = fmt.Sscan(value, &from)
				if from+2 < 5 {
					w.Header().Set("Link", fmt.Sprintf(`</rows>; rel="first", <rows?from=%d>; rel=next`, from+2))
				}
				respond(w, "["+strings.Join(page(from), ",")+"]")
			},
			trace: []string{
				"GET https://api.test/rows 200 page=1 try=1 rows=2 bytes=19",
				"GET https://api.test/rows?from=2 200 page=2 try=1 rows=2 bytes=19",
				"GET https://api.test/rows?from=4 200 page=3 try=1 rows=1 bytes=10",
			},
		},
		{
			name: "cursor in query", definition: `{"request":{` + url + `},"pagination":{"kind":"cursor","path":"$.meta.after","param":"after"}}`, in: "query", param: "after",
			answer: cursorAnswer(page),
			trace: []string{
				"GET https://api.test/rows 200 page=1 try=1 rows=2 bytes=57",
				"GET https://api.test/rows?after=c2 200 page=2 try=1 rows=2 bytes=57",
				"GET https://api.test/rows?after=c4 200 page=3 try=1 rows=1 bytes=48",
			},
		},
		{
			name: "cursor in header", definition: `{"request":{` + url + `},"pagination":{"kind":"cursor","path":"$.meta.after","param":"X-After","in":"header"}}`, in: "header", param: "X-After",
			answer: cursorAnswer(page),
			trace: []string{
				"GET https://api.test/rows 200 page=1 try=1 rows=2 bytes=57",
				"GET https://api.test/rows 200 page=2 try=1 rows=2 bytes=57",
				"GET https://api.test/rows 200 page=3 try=1 rows=1 bytes=48",
			},
		},
		{
			name: "cursor in body", definition: `{"request":{"method":"POST",` + url + `,"body":{"kind":"json","value":{"q":1}}},"pagination":{"kind":"cursor","path":"$.meta.after","param":"after","in":"body"}}`, in: "body", param: "after",
			answer: cursorAnswer(page),
			trace: []string{
				"POST https://api.test/rows 200 page=1 try=1 rows=2 bytes=57",
				"POST https://api.test/rows 200 page=2 try=1 rows=2 bytes=57",
				"POST https://api.test/rows 200 page=3 try=1 rows=1 bytes=48",
			},
		},
		{
			name: "offset in query", definition: `{"request":{` + url + `},"pagination":{"kind":"offset","param":"skip","size":2,"sizeParam":"limit"}}`, in: "query", param: "skip",
			answer: offsetAnswer(page, 0, 1),
			trace: []string{
				"GET https://api.test/rows?limit=2&skip=0 200 page=1 try=1 rows=2 bytes=19",
				"GET https://api.test/rows?limit=2&skip=2 200 page=2 try=1 rows=2 bytes=19",
				"GET https://api.test/rows?limit=2&skip=4 200 page=3 try=1 rows=1 bytes=10",
				"GET https://api.test/rows?limit=2&skip=5 200 page=4 try=1 rows=0 bytes=2",
			},
		},
		{
			name: "offset in header", definition: `{"request":{` + url + `},"pagination":{"kind":"offset","param":"X-Skip","in":"header"}}`, in: "header", param: "X-Skip",
			answer: offsetAnswer(page, 0, 1),
			trace: []string{
				"GET https://api.test/rows 200 page=1 try=1 rows=2 bytes=19",
				"GET https://api.test/rows 200 page=2 try=1 rows=2 bytes=19",
				"GET https://api.test/rows 200 page=3 try=1 rows=1 bytes=10",
				"GET https://api.test/rows 200 page=4 try=1 rows=0 bytes=2",
			},
		},
		{
			name: "page in query", definition: `{"request":{"url":"https://api.test/rows?page=7&q=a%20b"},"pagination":{"kind":"page"}}`, in: "query", param: "page",
			answer: offsetAnswer(page, 1, 2),
			trace: []string{
				"GET https://api.test/rows?q=a%20b&page=1 200 page=1 try=1 rows=2 bytes=19",
				"GET https://api.test/rows?q=a%20b&page=2 200 page=2 try=1 rows=2 bytes=19",
				"GET https://api.test/rows?q=a%20b&page=3 200 page=3 try=1 rows=1 bytes=10",
				"GET https://api.test/rows?q=a%20b&page=4 200 page=4 try=1 rows=0 bytes=2",
			},
		},
		{
			name: "page in body", definition: `{"request":{"method":"POST",` + url + `},"pagination":{"kind":"page","param":"n","start":0,"in":"body"}}`, in: "body", param: "n",
			answer: offsetAnswer(page, 0, 2),
			trace: []string{
				"POST https://api.test/rows 200 page=1 try=1 rows=2 bytes=19",
				"POST https://api.test/rows 200 page=2 try=1 rows=2 bytes=19",
				"POST https://api.test/rows 200 page=3 try=1 rows=1 bytes=10",
				"POST https://api.test/rows 200 page=4 try=1 rows=0 bytes=2",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					value := ""
					if test.in != "" {
						value = param(r, test.in, test.param)
					}
					test.answer(w, r, value)
				})
				got, result, err := l.fetch(test.definition)
				if err != nil {
					t.Fatal(err)
				}
				l.wantTrace(test.trace...)
				if int(result.Requests) != len(test.trace) || int(result.Pages) != len(got.texts) {
					t.Errorf("%+v for %d pages", result, len(got.texts))
				}
			})
		})
	}
}

func cursorAnswer(page func(int) []string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, value string) {
		var from int
		_, _ = fmt.Sscanf(value, "c%d", &from)
		next := `""  `
		if from+2 < 5 {
			next = fmt.Sprintf(`"c%d"`, from+2)
		}
		respond(w, fmt.Sprintf(`{"rows":[%s],"meta":{"after":%s}}       `, strings.Join(page(from), ","), next))
	}
}

func offsetAnswer(page func(int) []string, start, size int) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, value string) {
		var n int
		if _, err := fmt.Sscan(value, &n); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		respond(w, "["+strings.Join(page((n-start)*size), ",")+"]")
	}
}

func TestFetchAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		filler := strings.Repeat(" ", 4096)
		asked := make(chan int, 10)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			var n int
			_, _ = fmt.Sscan(r.URL.Query().Get("page"), &n)
			asked <- n
			if n > 3 {
				respond(w, "[]")
				return
			}
			respond(w, fmt.Sprintf(`[{"id":%d}]%s`, n, filler))
		})
		p := &pages{on: func(p feedmill.FetchedPage) {
			// Page after page is asked for before the sink is done.
			if n := <-asked; n != p.Number {
				t.Errorf("page %d asked for, want %d", n, p.Number)
			}
			if p.Number <= 3 {
				synctest.Wait()
				if len(asked) != 1 {
					t.Errorf("the page after %d is not asked for", p.Number)
				}
			}
		}}
		if _, err := l.fetcher.Fetch(t.Context(), l.job(`{"request":{"url":"https://api.test/"},"pagination":{"kind":"page"}}`), p); err != nil {
			t.Fatal(err)
		}
		if len(p.texts) != 4 || len(asked) != 0 {
			t.Errorf("%d pages, %d requests too many", len(p.texts), len(asked))
		}
	})
}

func TestFormats(t *testing.T) {
	for _, test := range []struct{ contentType, given, text, want string }{
		{"application/json; charset=utf-8", "", `{"id":1}`, "json"},
		{"application/vnd.api+json", "auto", `{"id":1}`, "json"},
		{"application/x-ndjson", "", `{"id":1}`, "ndjson"},
		{"text/csv", "", "id\n1\n", "csv"},
		{"text/tab-separated-values", "", "id\n1\n", "tsv"},
		{"text/plain", "", "id\tn\n1\t2\n", "tsv"},
		{"text/plain", "", "id,n\n1,2\n", "csv"},
		{"", "", "\n {\"id\":1}\n{\"id\":2}\n", "ndjson"},
		{"", "", `[{"id":1}]`, "json"},
		{"application/octet-stream", "", "\xef\xbb\xbf{\"id\":1}", "json"},
		{"text/html", "", `{"id":1}`, "json"},
		{"text/html", "csv", "id\n1\n", "csv"},
		{"application/xml", "json", `{"id":1}`, "json"},
		{"text/html", "", "<!DOCTYPE html><p>id", ""},
		{"application/json", "json", "<html>id", ""},
		{"application/pdf", "", "id", ""},
		{"text/plain", "", "\x00\x01id", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if test.contentType != "" {
					w.Header().Set("Content-Type", test.contentType)
				}
				_, _ = io.WriteString(w, test.text)
			})
			given := test.given
			if given == "" {
				given = "auto"
			}
			got, _, err := l.fetch(`{"request":{"url":"https://api.test/"},"response":{"format":"` + given + `"}}`)
			if test.want == "" {
				if FailureOf(err) != "wrong-content-type" {
					t.Errorf("%s %q: %v", test.contentType, test.text, err)
				}
			} else if err != nil || !slices.Equal(got.formats, []string{test.want}) {
				t.Errorf("%s %q: %v %v", test.contentType, test.text, got.formats, err)
			}
		})
	}
}

// Sources that name their next page do not always encode it.
func TestNextPageIsEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				respond(w, `{"rows":[{"id":1}],"next":"/rows?q=a b&x=\u00fc%2B<1>#top"}`)
				return
			}
			if r.RequestURI != "/rows?q=a%20b&x=%C3%BC%2B%3C1%3E" {
				t.Error(r.RequestURI)
			}
			respond(w, `{"rows":[{"id":2}]}`)
		})
		if got, _, err := l.fetch(`{"request":{"url":"https://api.test/rows"},"pagination":{"kind":"nextUrl","path":"$.next"}}`); err != nil || len(got.texts) != 2 {
			t.Error(err, got.texts)
		}
	})
}

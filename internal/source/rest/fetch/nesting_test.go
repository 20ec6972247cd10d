package fetch

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// Parameters in a body of JSON are nested by their dots, and tokens and cursors keep their
// types. Under the first rules a name is a name, and a cursor a text.
func TestParametersInABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var sent []string
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			if sent = append(sent, string(text)); len(sent) > 1 {
				respond(w, `{"rows":[{"id":2}]}`)
				return
			}
			respond(w, `{"rows":[{"id":1}],"next":{"k":[1,"a"]}}`)
		})
		for _, test := range []struct{ body, rest, first, second string }{
			{`{"size":5}`, `"pagination":{"kind":"cursor","path":"$.next","param":"page.after","in":"body"}`, `{"size":5}`, `{"size":5,"page":{"after":{"k":[1,"a"]}}}`},
			{`{"page":{"size":5}}`, `"pagination":{"kind":"cursor","path":"$.next.k[0]","param":"page.after","in":"body"}`, `{"page":{"size":5}}`, `{"page":{"size":5,"after":1}}`},
			{`{}`, `"pagination":{"kind":"cursor","path":"$.next.k[1]","param":"a\\.b","in":"body"}`, `{}`, `{"a.b":"a"}`},
			{`{}`, `"pagination":{"kind":"cursor","path":"$.next.k[1]","param":"a\\\\.b","in":"body"}`, `{}`, `{"a\\":{"b":"a"}}`},
			{`{}`, `"rules":1,"pagination":{"kind":"cursor","path":"$.next.k[1]","param":"a.b","in":"body"}`, `{}`, `{"a.b":"a"}`},
			{`{}`, `"pagination":{"kind":"offset","param":"p.skip","size":2,"sizeParam":"p.top","in":"body"}`, `{"p":{"top":2,"skip":0}}`, `{"p":{"top":2,"skip":1}}`},
			{`{"v":"{{cursor}}","w":"x{{cursor}}"}`, `"incremental":{"cursorPath":"$.id","start":7}`, `{"v":7,"w":"x7"}`, ""},
			{`{"v":"{{cursor}}"}`, `"incremental":{"cursorPath":"$.id","start":"7"}`, `{"v":"7"}`, ""},
			{`{"v":1}`, `"incremental":{"cursorPath":"$.id","start":7,"param":{"name":"q.since","in":"body"}}`, `{"v":1,"q":{"since":7}}`, ""},
			{`{"v":1}`, `"rules":1,"incremental":{"cursorPath":"$.id","start":"7","param":{"name":"q.since","in":"body"}}`, `{"v":1,"q.since":"7"}`, ""},
		} {
			sent = nil
			// Two pages tell all; the pages of an offset go on.
			_, _, _ = l.fetch(`{"request":{"method":"POST","url":"https://api.test/","body":{"kind":"json","value":` + test.body + `}},` + test.rest + `}`)
			if got := strings.Join(sent[:min(2, len(sent))], " "); got != strings.TrimSpace(test.first+" "+test.second) {
				t.Errorf("%s: sent %s", test.rest, got)
			}
		}
		// The data says of what type the cursor is that start does not.
		for _, numeric := range []bool{true, false} {
			sent = nil
			job := l.job(`{"request":{"method":"POST","url":"https://api.test/","body":{"kind":"json","value":{"v":"{{cursor}}"}}},"incremental":{"cursorPath":"$.id","start":"0"}}`)
			job.Position, job.NumericCursor = []byte(`{"cursor":"12"}`), numeric
			want := `{"v":"12"}`
			if numeric {
				want = `{"v":12}`
			}
			if _, err := l.fetcher.Fetch(t.Context(), job, new(pages)); err != nil || sent[0] != want {
				t.Errorf("sent %v, want %s: %v", sent, want, err)
			}
		}
	})
}

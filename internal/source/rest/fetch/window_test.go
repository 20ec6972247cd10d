package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// The time from the start to now is fetched window by window, and the open one again
// the next time.
func TestWindows(t *testing.T) {
	for _, test := range []struct {
		name, incremental string
		first, second     []string
	}{
		{
			"days", `{"step":"1d","start":"2026-11-13","format":"date","param":{"name":"from"},"to":{"name":"to"}}`,
			[]string{"from=2026-11-13&to=2026-11-14", "from=2026-11-14&to=2026-11-15", "from=2026-11-15&to=2026-11-16"},
			[]string{"from=2026-11-15&to=2026-11-16", "from=2026-11-16&to=2026-11-17"},
		},
		{
			"days whose last is meant", `{"step":"2d","start":"{{today-3d}}","format":"date","inclusive":true,"lookback":"1d","param":{"name":"from"},"to":{"name":"to"}}`,
			[]string{"from=2026-11-12&to=2026-11-13", "from=2026-11-14&to=2026-11-15"},
			// A start that moves with the day moves the windows, too.
			[]string{"from=2026-11-13&to=2026-11-14", "from=2026-11-15&to=2026-11-16"},
		},
		{
			"hours up to now", `{"step":"6h","start":"2026-11-15T00:00:00Z","format":"unix","param":{"name":"from"},"to":{"name":"to"}}`,
			[]string{"from=1794700800&to=1794722400", "from=1794722400&to=1794744000"},
			[]string{"from=1794722400&to=1794744000", "from=1794744000&to=1794765600", "from=1794765600&to=1794787200", "from=1794787200&to=1794808800", "from=1794808800&to=1794830400"},
		},
		{
			"days of a place", `{"step":"1d","start":"2026-11-14","timezone":"America/New_York","param":{"name":"from"},"to":{"name":"to"}}`,
			[]string{"from=2026-11-14T00%3A00%3A00-05%3A00&to=2026-11-15T00%3A00%3A00-05%3A00", "from=2026-11-15T00%3A00%3A00-05%3A00&to=2026-11-15T07%3A00%3A00-05%3A00"},
			[]string{"from=2026-11-15T00%3A00%3A00-05%3A00&to=2026-11-16T00%3A00%3A00-05%3A00", "from=2026-11-16T00%3A00%3A00-05%3A00&to=2026-11-16T07%3A00%3A00-05%3A00"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				var asked []string
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					asked = append(asked, r.URL.RawQuery)
					rows(w, r)
				})
				job := l.job(`{"request":{"url":"https://api.test/rows"},"incremental":` + test.incremental + `}`)
				for _, want := range [][]string{test.first, test.second} {
					asked = nil
					result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
					if err != nil || strings.Join(asked, " ") != strings.Join(want, " ") {
						t.Errorf("%v: asked\n%s\nwant\n%s", err, strings.Join(asked, "\n"), strings.Join(want, "\n"))
					}
					job.Position, job.Now = result.Position, job.Now.AddDate(0, 0, 1)
				}
			})
		})
	}
}

func TestCursorIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var asked string
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.RawQuery
			rows(w, r)
		})
		for _, test := range []struct{ incremental, cursor, want, failure string }{
			{`"format":"unix","start":"2026-01-01"`, ``, "since=1767225600", ""},
			{`"format":"unix","lookback":"1h"`, `2026-11-01T10:00:00Z`, "since=1793523600", ""},
			{`"format":"date","timezone":"Asia/Tokyo"`, `2026-11-01T22:00:00Z`, "since=2026-11-02", ""},
			{`"format":"rfc3339"`, `1793523600`, "since=2026-11-01T09%3A00%3A00Z", ""},
			{`"format":"unix"`, `abc`, "", "no-cursor"},
		} {
			job := l.job(`{"request":{"url":"https://api.test/rows"},"incremental":{"cursorPath":"$.at","param":{"name":"since"},` + test.incremental + `}}`)
			job.Position = Position{Cursor: test.cursor}.Text()
			if _, err := l.fetcher.Fetch(t.Context(), job, new(pages)); FailureOf(err) != test.failure || err == nil && asked != test.want {
				t.Errorf("%s: %s %v", test.incremental, asked, err)
			}
		}
	})
}

func TestGraphQL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var sent []string
		wrong := false
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			sent = append(sent, r.Method+" "+string(body))
			if wrong {
				respond(w, `{"data":null,"errors":[{"message":"Field 'nods' doesn't exist"}]}`)
				return
			}
			respond(w, fmt.Sprintf(`{"data":{"orders":{"nodes":[{"id":%d}],"pageInfo":{"hasNextPage":%t,"endCursor":"c%d"}}}}`, len(sent), len(sent) < 3, len(sent)))
		})
		const definition = `{"request":{"url":"https://api.test/graphql","body":{"kind":"graphql","query":"query($after:String){orders(after:$after){nodes{id}}}","variables":{"since":"{{today}}"}}},
			"response":{"path":"$.data.orders.nodes[*]"},
			"pagination":{"kind":"cursor","path":"$.data.orders.pageInfo.endCursor","param":"variables.after","more":"$.data.orders.pageInfo.hasNextPage"}}`
		_, result, err := l.fetch(definition)
		if err != nil || result.Records != 3 || len(sent) != 3 || sent[1] != `POST {"query":"query($after:String){orders(after:$after){nodes{id}}}","variables":{"since":"2026-11-15","after":"c1"}}` {
			t.Errorf("%+v %v\n%s", result, err, strings.Join(sent, "\n"))
		}
		first := sent[0]
		sent = nil
		// A body of another kind has what it sends in value, and this one may.
		valued := strings.Replace(strings.Replace(definition, `"query":`, `"value":{"query":`, 1), `"{{today}}"}}}`, `"{{today}}"}}}}`, 1)
		if _, result, err := l.fetch(valued); err != nil || result.Records != 3 || sent[0] != first {
			t.Errorf("in value: %+v %v\n%s", result, err, strings.Join(sent, "\n"))
		}
		wrong = true
		if _, _, err = l.fetch(definition); FailureOf(err) != "source-error" || !strings.Contains(err.Error(), "Field 'nods' doesn't exist") {
			t.Error(err)
		}
	})
}

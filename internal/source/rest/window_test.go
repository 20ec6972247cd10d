package rest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimeFormats(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 23, 5, 6, 7e6, time.UTC)
	for _, test := range []struct {
		format string
		zone   *time.Location
		want   string
		ceil   string
	}{
		{"rfc3339", time.UTC, "2026-03-01T23:05:06.007Z", "2026-03-01T23:05:07Z"},
		{"date", paris, "2026-03-02", "2026-03-03"},
		{"unix", paris, "1772406306", "1772406307"},
		{"unixMs", time.UTC, "1772406306007", "1772406306007"},
		{"YYYY-MM-DDTHH:mm:ss.SSSZ", paris, "2026-03-02T00:05:06.007+01:00", "2026-03-02T00:05:06.007+01:00"},
		{"DD/MM/YYYY HH:mm", time.UTC, "01/03/2026 23:05", "01/03/2026 23:06"},
		{"YYYYMMDD", time.UTC, "20260301", "20260302"},
		{"yyyy-MM-dd", time.UTC, "", ""},
		{"--", time.UTC, "", ""},
	} {
		f, err := parseTimeFormat(test.format)
		if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v", test.format, err)
			continue
		}
		if err != nil {
			continue
		}
		local := at.In(test.zone)
		if got, ceil := f.write(local), f.write(f.ceil(local)); got != test.want || ceil != test.ceil {
			t.Errorf("%s: %s %s", test.format, got, ceil)
		}
	}
}

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
			job.Position = position{Cursor: test.cursor}.text()
			if _, err := l.fetcher.Fetch(t.Context(), job, new(pages)); failureOf(err) != test.failure || err == nil && asked != test.want {
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
		if _, _, err = l.fetch(definition); failureOf(err) != "source-error" || !strings.Contains(err.Error(), "Field 'nods' doesn't exist") {
			t.Error(err)
		}
	})
}

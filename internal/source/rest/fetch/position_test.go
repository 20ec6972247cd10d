package fetch

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// A source that is asked again is asked whether anything has changed.
func TestNotModified(t *testing.T) {
	for _, test := range []struct {
		name, definition, header, ask, value string
		asks                                 bool
	}{
		{"etag", plainDefinition, "Etag", "If-None-Match", `"v1"`, true},
		{"date", plainDefinition, "Last-Modified", "If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT", true},
		{"one page of a cursor", `{"request":{"url":"https://api.test/rows"},"pagination":{"kind":"cursor","path":"$.next","param":"c"}}`, "Etag", "If-None-Match", `"v1"`, true},
		{"pages", `{"request":{"url":"https://api.test/rows"},"pagination":{"kind":"linkHeader"}}`, "Etag", "If-None-Match", `"v1"`, false},
		{"post", `{"request":{"url":"https://api.test/rows","method":"POST"}}`, "Etag", "If-None-Match", `"v1"`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get(test.ask) == test.value {
						w.WriteHeader(http.StatusNotModified)
						return
					}
					w.Header().Set(test.header, test.value)
					respond(w, `{"id":1}`)
				})
				_, result, err := l.fetch(test.definition)
				if err != nil || result.NotModified {
					t.Fatal(result, err)
				}
				again := l.job(test.definition)
				again.Position = result.Position
				second, err := l.fetcher.Fetch(t.Context(), again, new(pages))
				if err != nil || second.NotModified != test.asks || test.asks && (second.Pages != 0 || string(second.Position) != string(result.Position)) {
					t.Errorf("%+v %s %v", second, second.Position, err)
				}
				again.Position = nil
				if third, err := l.fetcher.Fetch(t.Context(), again, new(pages)); err != nil || third.NotModified {
					t.Errorf("%+v %v", third, err)
				}
				other := l.job(`{"request":{"url":"https://api.test/other"}}`)
				other.Position = result.Position
				if fourth, err := l.fetcher.Fetch(t.Context(), other, new(pages)); err != nil || fourth.NotModified {
					t.Errorf("another request: %+v %v", fourth, err)
				}
			})
		})
	}
}

// The cursor may be sent as If-Modified-Since, in the format that the source has for it. That
// nothing is newer is then an answer without records, of this parent and not of all, and
// nothing of the last answer is asked for in its place.
func TestCursorAsModifiedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var (
			mu    sync.Mutex
			asked []string
		)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.URL.Path+" "+r.Header.Get("If-Modified-Since")+r.Header.Get("If-None-Match"))
			w.Header().Set("Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT")
			w.Header().Set("Etag", `"v1"`)
			if r.URL.Path == "/a" && r.Header.Get("If-Modified-Since") != "2020-01-01T00:00:00" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			respond(w, `{"rows":[{"id":1,"at":"/Date(1439434356790+0000)/"}]}`)
		})
		const rest = `"response":{"path":"$.rows[*]"},"incremental":{"cursorPath":"$.at","param":{"in":"header","name":"if-modified-since"},"start":"2020-01-01","format":"YYYY-MM-DDTHH:mm:ss"},"key":["id"]`
		job := l.job(`{"request":{"url":"https://api.test/a"},` + rest + `}`)
		first, err := l.fetcher.Fetch(t.Context(), job, new(pages))
		if err != nil {
			t.Fatal(err)
		}
		if job.Position, err = Advance(first.Position, nil, "/Date(1439434356790+0000)/"); err != nil {
			t.Fatal(err)
		}
		second, err := l.fetcher.Fetch(t.Context(), job, new(pages))
		if err != nil || second.NotModified {
			t.Errorf("%+v %v", second, err)
		}
		both := l.job(`{"request":{"url":"https://api.test/{{it}}"},"each":{"in":{"values":["a","b"]},"as":"it"},` + strings.Replace(rest, `"start":"2020-01-01"`, `"start":"2021-01-01"`, 1) + `}`)
		third, err := l.fetcher.Fetch(t.Context(), both, new(pages))
		if err != nil || third.NotModified || third.Pages != 1 {
			t.Errorf("%+v %v", third, err)
		}
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(asked[2:])
		if want := []string{"/a 2020-01-01T00:00:00", "/a 2015-08-13T02:52:36", "/a 2021-01-01T00:00:00", "/b 2021-01-01T00:00:00"}; !slices.Equal(asked, want) {
			t.Errorf("%q", asked)
		}
		if _, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/a","headers":{"If-Modified-Since":"x"}}}`), 0); err == nil {
			t.Error("the header is taken without a cursor")
		}
	})
}

// The cursor moves with Advance alone, and the next fetch goes on from it, a
// little earlier.
func TestIncremental(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var asked []string
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, fmt.Sprint(r.URL.Query()["since"], r.URL.Path, r.Header["X-Since"]))
			rows(w, r)
		})
		const definition = `{"request":{"url":"https://api.test/{{cursor}}"},"incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"{{today-1d}}T00:00:00Z","lookback":"1h"}}`
		job := l.job(definition)
		for _, newest := range []string{"2026-11-15T10:00:00Z", "", "2026-11-15T09:00:00Z"} {
			result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			if err != nil {
				t.Fatal(err)
			}
			if job.Position, err = Advance(result.Position, nil, newest); err != nil {
				t.Fatal(err)
			}
		}
		want := `[[2026-11-14T00:00:00Z]/2026-11-14T00:00:00Z[] [2026-11-15T09:00:00Z]/2026-11-15T09:00:00Z[] [2026-11-15T09:00:00Z]/2026-11-15T09:00:00Z[]]`
		if fmt.Sprint(asked) != want {
			t.Errorf("%s\nwant\n%s", asked, want)
		}
	})
}

func TestEarliest(t *testing.T) {
	for _, test := range []struct {
		name string
		all  []string
		want string
	}{
		{"one", []string{`{"cursor":"7","etag":"e"}`}, `{"cursor":"7","etag":"e"}`},
		{"none yet", []string{`{"cursor":"7"}`, ``}, ``},
		{"the older cursor", []string{`{"cursor":"10"}`, `{"cursor":"9"}`, `{"cursor":"11"}`}, `{"cursor":"9"}`},
		{"no cursor", []string{`{"cursor":"10"}`, `{}`}, `{}`},
		{"the same", []string{`{"etag":"e","request":"r"}`, `{"etag":"e","request":"r"}`}, `{"etag":"e","request":"r"}`},
		{"not the same", []string{`{"etag":"e","request":"r"}`, `{"etag":"f","request":"r"}`}, `{}`},
	} {
		var all [][]byte
		for _, text := range test.all {
			all = append(all, []byte(text))
		}
		got, err := Earliest(all...)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v, want %s", test.name, got, err, test.want)
		}
	}
}

// TestAdvanceOfFeedsOfOneSource moves the positions of two feeds that share a fetch. Each
// keeps its own cursor where that is ahead of the fetch.
func TestAdvanceOfFeedsOfOneSource(t *testing.T) {
	const early, middle, late = "2026-01-01", "2026-02-01", "2026-03-01"
	for _, test := range []struct{ fetched, own, newest, want string }{
		{early, middle, late, late},
		{early, late, middle, late},
		{late, early, middle, late},
		{early, late, "", late},
		{early, "", middle, middle},
		{"", "", "", ""},
	} {
		got, err := Advance(Position{Cursor: test.fetched, ETag: "v1"}.Text(), Position{Cursor: test.own, ETag: "v0"}.Text(), test.newest)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := ParsePosition(got); err != nil || p.Cursor != test.want || p.ETag != "v1" {
			t.Errorf("%+v: the position is %s, %v", test, got, err)
		}
	}
}

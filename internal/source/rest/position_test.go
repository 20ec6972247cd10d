package rest

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
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

package fetch

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

const plainDefinition = `{"request":{"url":"https://api.test/rows"}}`

// script answers the requests of a page one after the other; the last answer
// stays.
func script(answers ...http.HandlerFunc) http.HandlerFunc {
	asked := 0
	return func(w http.ResponseWriter, r *http.Request) {
		answer := answers[min(asked, len(answers)-1)]
		asked++
		answer(w, r)
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func rows(w http.ResponseWriter, _ *http.Request) { respond(w, `[{"id":1}]`) }

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// broken announces more than it sends.
func broken(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	respond(w, `[{"id":1}`)
}

// cut ends a chunked answer in the middle.
func cut(w http.ResponseWriter, _ *http.Request) {
	respond(w, `[{"id":1}`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// stall sends half an answer and then nothing.
func stall(w http.ResponseWriter, r *http.Request) {
	respond(w, `[{"id":1}`)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func TestFailures(t *testing.T) {
	const good = "GET https://api.test/rows 200 page=1 try=%d rows=1 bytes=10"
	try := func(n int, text string) string {
		return fmt.Sprintf("GET https://api.test/rows %s", strings.Replace(text, "try=", fmt.Sprintf("page=1 try=%d", n), 1))
	}
	for _, test := range []struct {
		name, definition, failure string
		answer                    http.HandlerFunc
		least                     time.Duration
		trace                     []string
	}{
		{
			name: "429 with Retry-After", answer: script(status(429, "Retry-After", "120"), rows), least: 120 * time.Second,
			trace: []string{try(1, "429 try= rows=0 bytes=0 The source returned 429 Too Many Requests."), fmt.Sprintf(good, 2)},
		},
		{
			name: "503 with a date", answer: script(status(503, "Retry-After", "Sat, 01 Jan 2000 00:01:00 GMT"), rows), least: 60 * time.Second,
			trace: []string{try(1, "503 try= rows=0 bytes=0 The source returned 503 Service Unavailable."), fmt.Sprintf(good, 2)},
		},
		{
			name: "a date by a clock that is ahead", answer: script(status(503, "Retry-After", "Sat, 01 Jan 2000 00:11:00 GMT", "Date", "Sat, 01 Jan 2000 00:10:00 GMT"), rows), least: 60 * time.Second,
			trace: []string{try(1, "503 try= rows=0 bytes=0 The source returned 503 Service Unavailable."), fmt.Sprintf(good, 2)},
		},
		{
			name: "a date by a clock that is behind", answer: script(status(429, "Retry-After", "Fri, 31 Dec 1999 23:59:00 GMT", "Date", "Fri, 31 Dec 1999 23:58:00 GMT"), rows), least: 60 * time.Second,
			trace: []string{try(1, "429 try= rows=0 bytes=0 The source returned 429 Too Many Requests."), fmt.Sprintf(good, 2)},
		},
		{
			name: "gzip that is none", answer: script(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				rows(w, r)
			}, rows),
			trace: []string{try(1, "200 try= rows=0 bytes=0 The response is truncated or does not match its Content-Encoding."), fmt.Sprintf(good, 2)},
		},
		{
			name: "429 for long", answer: script(status(429, "Retry-After", "301"), rows), failure: "source-busy",
			trace: []string{try(1, "429 try= rows=0 bytes=0 The source returned 429 Too Many Requests.")},
		},
		{
			name: "403 with Retry-After", answer: script(status(403, "Retry-After", "2.5"), rows), least: 2500 * time.Millisecond,
			trace: []string{try(1, "403 try= rows=0 bytes=0 The source returned 403 Forbidden."), fmt.Sprintf(good, 2)},
		},
		{
			name: "403 with nothing left", answer: script(status(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "30"), rows), least: 30 * time.Second,
			trace: []string{try(1, "403 try= rows=0 bytes=0 The source returned 403 Forbidden."), fmt.Sprintf(good, 2)},
		},
		{
			name: "429 with seconds to the reset", answer: script(status(429, "RateLimit-Reset", "17"), rows), least: 17 * time.Second,
			trace: []string{try(1, "429 try= rows=0 bytes=0 The source returned 429 Too Many Requests."), fmt.Sprintf(good, 2)},
		},
		{
			name: "403 with something left", answer: script(status(403, "X-RateLimit-Remaining", "7", "X-RateLimit-Reset", "60"), rows), failure: "source-auth",
			trace: []string{try(1, "403 try= rows=0 bytes=0 The source returned 403 Forbidden. Check that the credential can read this resource.")},
		},
		{
			name: "JSON that was cut before it was sent", answer: script(func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"data":[{"id":1},`) }, rows),
			trace: []string{try(1, "200 try= rows=0 bytes=18 The response is truncated JSON."), fmt.Sprintf(good, 2)},
		},
		{
			name: "500 twice", answer: script(status(500), status(502), rows),
			trace: []string{
				try(1, "500 try= rows=0 bytes=0 The source returned 500 Internal Server Error."),
				try(2, "502 try= rows=0 bytes=0 The source returned 502 Bad Gateway."), fmt.Sprintf(good, 3),
			},
		},
		{
			name: "500 for ever", answer: status(500), failure: "source-status", definition: `{"request":{"url":"https://api.test/rows"},"retry":{"maxAttempts":2}}`,
			trace: []string{
				try(1, "500 try= rows=0 bytes=0 The source returned 500 Internal Server Error."),
				try(2, "500 try= rows=0 bytes=0 The source returned 500 Internal Server Error."),
			},
		},
		{
			name: "404", answer: status(404), failure: "source-status",
			trace: []string{try(1, "404 try= rows=0 bytes=0 The source returned 404 Not Found. Check the request.")},
		},
		{
			name: "hang", answer: script(hang, rows), least: 30 * time.Second,
			trace: []string{try(1, "0 try= rows=0 bytes=0 The source sent nothing for 30s, or took longer than 1h in total."), fmt.Sprintf(good, 2)},
		},
		{
			name: "stall", answer: script(stall, rows), least: 30 * time.Second,
			trace: []string{try(1, "200 try= rows=0 bytes=9 The source sent nothing for 30s, or took longer than 1h in total."), fmt.Sprintf(good, 2)},
		},
		{
			name: "truncated body", answer: script(broken, rows),
			trace: []string{try(1, "200 try= rows=0 bytes=9 The response ended too early."), fmt.Sprintf(good, 2)},
		},
		{
			name: "closed in the middle", answer: script(cut, rows),
			trace: []string{try(1, "200 try= rows=0 bytes=9 The response ended too early."), fmt.Sprintf(good, 2)},
		},
		{
			name: "wrong content type", failure: "wrong-content-type", answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, "<h1>Please sign in</h1>")
			},
			trace: []string{try(1, "200 try= rows=0 bytes=23 The response is a web page (text/html), not data. Check the URL, and whether it needs a credential.")},
		},
		{
			name: "redirect to a forbidden address", failure: "forbidden-address", answer: status(302, "Location", "https://forbidden.test/x?token=s3cret"),
			trace: []string{
				try(1, "302 try= rows=0 bytes=0"),
				"GET https://forbidden.test/x?token=*** 0 page=1 try=1 rows=0 bytes=0 The host forbidden.test is not allowed.",
			},
		},
		{
			name: "redirect to http", failure: "redirect", answer: status(302, "Location", "http://api.test/"),
			trace: []string{try(1, "302 try= rows=0 bytes=0 The source redirects from https to http, which is not followed.")},
		},
		{
			name: "a body to another origin", failure: "redirect", answer: status(307, "Location", "https://other.test/"),
			definition: `{"request":{"method":"POST","url":"https://api.test/rows","body":{"kind":"text","value":"x"}}}`,
			trace:      []string{"POST https://api.test/rows 307 page=1 try=1 rows=0 bytes=0 The source redirects a POST with its body to another origin, other.test, which is not followed."},
		},
		{
			name: "an error rule that ignores everything", answer: status(404), failure: "all-ignored", definition: `{"request":{"url":"https://api.test/rows"},"errors":[{"status":[404],"action":"ignore"}]}`,
			trace: []string{try(1, "404 try= rows=0 bytes=0")},
		},
		{
			name: "an error rule that fails", failure: "source-error", answer: func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"data":[],"error":"no s3cret for you"}`) },
			definition: `{"request":{"url":"https://api.test/rows"},"auth":{"kind":"bearer","token":"s3cret"},"errors":[{"bodyPath":"$.error","action":"fail"}]}`,
			trace:      []string{try(1, `200 try= rows=0 bytes=39 The source returned 200 OK and said "no *** for you", which a rule in errors treats as an error.`)},
		},
		{
			name: "an error rule that says nothing", answer: func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"id":1,"error":null}`) },
			definition: `{"request":{"url":"https://api.test/rows"},"errors":[{"bodyPath":"$.error","action":"fail"}]}`,
			trace:      []string{try(1, "200 try= rows=1 bytes=21")},
		},
		{
			name: "a rule for a value", failure: "source-error", answer: func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"success":false,"data":[]}`) },
			definition: `{"request":{"url":"https://api.test/rows"},"errors":[{"bodyPath":"$.success","equals":false,"action":"fail"}]}`,
			trace:      []string{try(1, `200 try= rows=0 bytes=27 The source returned 200 OK and said "false", which a rule in errors treats as an error.`)},
		},
		{
			name: "an error rule that tries again", answer: script(func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"busy":true}`) }, rows),
			definition: `{"request":{"url":"https://api.test/rows"},"errors":[{"bodyPath":"$.busy","action":"retry"}]}`,
			trace:      []string{try(1, "200 try= rows=0 bytes=13 The source returned 200 OK and said \"true\", which a rule in errors treats as an error."), fmt.Sprintf(good, 2)},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", test.answer)
				definition := test.definition
				if definition == "" {
					definition = plainDefinition
				}
				begun := time.Now()
				_, _, err := l.fetch(definition)
				if FailureOf(err) != test.failure {
					t.Errorf("failed with %v", err)
				}
				if f, ok := errors.AsType[*feedmill.SourceFailure](err); ok && (f.Title == "" || f.Detail == "" || strings.Contains(f.Detail, "s3cret")) {
					t.Errorf("problem %+v", f)
				}
				if took := time.Since(begun); took < test.least || took > test.least+3*time.Second {
					t.Errorf("it took %s", took)
				}
				traced := l.traced
				l.wantTrace(test.trace...)
				if n := len(traced); n > 1 && strings.Contains(test.name, "Retry-After") {
					if last := traced[n-1]; last.WaitedFor != feedmill.WaitRetryAfter || last.WaitedMS < float64(test.least.Milliseconds()) || traced[0].WaitedMS != 0 {
						t.Errorf("it waited %v ms for %q, and before the first %v ms", last.WaitedMS, last.WaitedFor, traced[0].WaitedMS)
					}
				}
			})
		})
	}
}

func TestRedirectsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", status(302, "Location", "/again"))
		_, result, err := l.fetch(plainDefinition)
		if FailureOf(err) != "redirect" || result.Requests != maxRedirects+1 {
			t.Errorf("%d requests, %v", result.Requests, err)
		}
	})
}

func TestLoops(t *testing.T) {
	for _, test := range []struct {
		name, pagination string
		answer           http.HandlerFunc
		requests         int64
	}{
		{"a next URL that was asked first", `{"kind":"nextUrl","path":"$.next"}`, func(w http.ResponseWriter, r *http.Request) {
			respond(w, fmt.Sprintf(`{"id":1,"next":"https://api.test/rows%s"}`, map[string]string{"": "?a=2"}[r.URL.RawQuery]))
		}, 2},
		{"an endless next link", `{"kind":"linkHeader"}`, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", `<?page=2>; rel=next`)
			rows(w, nil)
		}, 2},
		{"a cursor that stays", `{"kind":"cursor","path":"$.c","param":"c"}`, func(w http.ResponseWriter, r *http.Request) {
			respond(w, fmt.Sprintf(`{"id":%q,"c":"x"}`, r.URL.RawQuery))
		}, 2},
		{"a page that repeats", `{"kind":"page"}`, rows, 2},
		{"a page that repeats later", `{"kind":"page"}`, script(rows, func(w http.ResponseWriter, _ *http.Request) { respond(w, `[{"id":2}]`) }, rows), 3},
		{"an offset that is not heeded", `{"kind":"offset"}`, rows, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", test.answer)
				_, result, err := l.fetch(`{"request":{"url":"https://api.test/rows"},"pagination":` + test.pagination + `}`)
				if FailureOf(err) != "pagination-loop" || result.Requests != test.requests {
					t.Errorf("%d requests, %v\n%s", result.Requests, err, l.trace())
				}
			})
		})
	}
}

func TestLimits(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		respond(w, fmt.Sprintf(`[{"id":%q}]`, r.URL.RawQuery))
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 20 {
			if _, err := zip.Write(zeros); err != nil {
				return
			}
		}
		_ = zip.Close()
	}
	for _, test := range []struct {
		name, pagination, failure string
		answer                    http.HandlerFunc
		pages                     int
	}{
		{"pages", `{"kind":"page","maxPages":3}`, "too-many-pages", endless, 4},
		{"the last page that may be", `{"kind":"page","maxPages":2}`, "", script(endless, endless, func(w http.ResponseWriter, _ *http.Request) { respond(w, "[]") }), 3},
		{"bytes of a page", `{"kind":"none","maxBytes":9}`, "data-too-large", rows, 0},
		{"just as many bytes", `{"kind":"none","maxBytes":10}`, "", rows, 1},
		{"bytes of all pages", `{"kind":"page","maxBytes":40}`, "data-too-large", endless, 2},
		{"a gzip bomb", `{"kind":"none","maxBytes":1000000}`, "data-too-large", bomb, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", test.answer)
				got, _, err := l.fetch(`{"request":{"url":"https://api.test/rows"},"pagination":` + test.pagination + `}`)
				if FailureOf(err) != test.failure || len(got.texts) != test.pages {
					t.Errorf("%d pages, %v", len(got.texts), err)
				}
				if info, err := l.spool.Stat(); err != nil || info.Size() > 1<<20 {
					t.Errorf("%d bytes in the spool, %v", info.Size(), err)
				}
			})
		})
	}
}

func TestGzip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Error(r.Header)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			_, _ = io.WriteString(zip, `[{"id":1}]`)
			_ = zip.Close()
		})
		got, result, err := l.fetch(plainDefinition)
		if err != nil || len(got.texts) != 1 || got.texts[0] != `[{"id":1}]` || result.Bytes != 10 {
			t.Error(got.texts, result, err)
		}
	})
}

// The end of the context ends a fetch wherever it is, and nothing runs on.
func TestCancel(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"while the source hangs", hang}, {"while an answer comes", stall}, {"between tries", status(503, "Retry-After", "200")},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", test.answer)
				why := errors.New("the lease is lost")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(10*time.Second, func() { cancel(why) })
				_, err := l.fetcher.Fetch(ctx, l.job(plainDefinition), new(pages))
				if !errors.Is(err, why) {
					t.Error(err)
				}
				if !strings.HasPrefix(l.trace(), "GET https://api.test/rows") {
					t.Error("the request is not in the trace")
				}
			})
		})
	}
}

func TestSinkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
			respond(w, `[{"id":1}]`+strings.Repeat(" ", 4096))
		})
		why := errors.New("full")
		_, err := l.fetcher.Fetch(t.Context(), l.job(`{"request":{"url":"https://api.test/rows"},"pagination":{"kind":"page"}}`), failingSink{why})
		if !errors.Is(err, why) {
			t.Error(err)
		}
	})
}

type failingSink struct{ err error }

func (s failingSink) Page(context.Context, feedmill.FetchedPage) ([]int64, error) { return nil, s.err }

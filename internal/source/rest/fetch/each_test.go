package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
)

// lines is a sink that keeps the text and the columns of pages in their order.
type lines struct {
	pages
	with []string
}

func (l *lines) Page(ctx context.Context, p feedmill.FetchedPage) ([]int64, error) {
	for _, c := range p.With {
		l.with = append(l.with, c.Name+"="+string(c.JSON))
	}
	return l.pages.Page(ctx, p)
}

func TestEach(t *testing.T) {
	for _, test := range []struct {
		name, each, url string
		asked           []string
		with            string
		failure         string
	}{
		{
			name: "values", each: `{"in":{"values":["a b",2]},"as":"repo"}`, url: "https://api.test/{{repo}}?x={{repo}}",
			asked: []string{"/a%20b?x=a+b", "/2?x=2"},
		},
		{
			name: "values that are included", each: `{"in":{"values":["a b",2]},"as":"repo","include":["repo"]}`, url: "https://api.test/{{repo}}",
			asked: []string{"/a%20b", "/2"}, with: `repo="a b" repo=2`,
		},
		{
			name: "objects", each: `{"in":{"values":[{"owner":{"login":"ada"},"id":1},{"owner":{"login":"max"},"id":2}]},"as":"repo","include":["id","owner.login"]}`,
			url: "https://api.test/{{repo.owner.login}}", asked: []string{"/ada", "/max"}, with: `repo.owner.login="ada" repo.id=1 repo.owner.login="max" repo.id=2`,
		},
		{
			name: "a request of its own", each: `{"in":{"request":{"url":"https://api.test/list"},"path":"$.all[*]","pagination":{"kind":"page"}},"as":"x"}`,
			url: "https://api.test/of/{{x.n}}", asked: []string{"/list?page=1", "/list?page=2", "/list?page=3", "/of/1", "/of/2"},
		},
		{
			name: "a feed", each: `{"in":{"feedId":"df_01jb3zv8k5f7q9w2x4y6z8a0bc"},"as":"x","include":["n"]}`,
			url: "https://api.test/of/{{x.n}}", asked: []string{"/of/7", "/of/8"}, with: "x.n=7 x.n=8",
		},
		{name: "a value that is missing", each: `{"in":{"values":[{"a":1},{"b":1}]},"as":"x"}`, url: "https://api.test/{{x.a}}", failure: "each"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.fetcher.Options.Rows = func(_ context.Context, _, id feedmill.ID, fields []string) (io.ReadCloser, int64, error) {
					if len(fields) != 1 || fields[0] != "n" {
						t.Error(fields)
					}
					return io.NopCloser(strings.NewReader("{\"n\":7}\n{\"n\":8}\n")), 3, nil
				}
				var asked []string
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					asked = append(asked, r.URL.RequestURI())
					if r.URL.Path == "/list" {
						n := r.URL.Query().Get("page")
						respond(w, map[bool]string{true: `{"all":[{"n":` + n + `}]}`, false: `{"all":[]}`}[n < "3"])
						return
					}
					respond(w, fmt.Sprintf(`[{"id":%q}]`, r.URL.Path))
				})
				sink := new(lines)
				result, err := l.fetcher.Fetch(t.Context(), l.job(`{"request":{"url":"`+test.url+`"},"each":`+test.each+`}`), sink)
				if FailureOf(err) != test.failure || test.failure == "" && !slices.Equal(asked, test.asked) || strings.Join(sink.with, " ") != test.with {
					t.Errorf("%v %q %q %+v", err, asked, sink.with, result)
				}
			})
		})
	}
}

// A fetch of many parts that was cut off goes on behind what it has done, and ends
// with the same pages.
func TestFetchGoesOn(t *testing.T) {
	l := newLab(t)
	var mu sync.Mutex
	asked := map[string]int{}
	broken, running, most := 37, 0, 0
	l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		running++
		most = max(most, running)
		fails := r.URL.Path == fmt.Sprint("/", broken)
		mu.Unlock()
		defer func() {
			mu.Lock()
			running--
			mu.Unlock()
		}()
		if fails {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path < "/2" {
			w.Header().Set("Link", `</more>; rel="next"`)
		}
		_, _ = fmt.Fprintf(w, `[{"id":%q}]`, r.URL.Path)
	})
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprint(i))
	}
	job := l.job(`{"request":{"url":"https://api.test/{{n}}"},"each":{"in":{"values":[` + strings.Join(values, ",") + `]},"as":"n"}}`)
	job.Stage, job.Fingerprint, job.Close = filepath.Join(t.TempDir(), "stage"), "one", new([]io.Closer)
	t.Cleanup(func() {
		for _, c := range *job.Close {
			_ = c.Close()
		}
	})
	for _, next := range []int{70, 71, -1} {
		job.Notes = new(Notes)
		if _, err := l.fetcher.Fetch(t.Context(), job, new(pages)); FailureOf(err) != "source-status" {
			t.Fatal(err)
		}
		mu.Lock()
		broken = next
		mu.Unlock()
	}
	sink := new(pages)
	job.Notes = new(Notes)
	result, err := l.fetcher.Fetch(t.Context(), job, sink)
	// Those of the parts that were done before are told of: 0, 1 and 10 to 19.
	if told := job.Notes.Warnings(); len(told) != 1 || told[0].Code != feedmill.WarnMorePages || told[0].Count != 12 {
		t.Errorf("%+v", told)
	}
	if err != nil || len(sink.texts) != 100 || result.Records != 100 {
		t.Fatalf("%v, %d pages, %+v", err, len(sink.texts), result)
	}
	for i, text := range sink.texts {
		if text != fmt.Sprintf(`[{"id":"/%d"}]`, i) {
			t.Errorf("page %d is %s", i, text)
		}
	}
	// The server may still be at requests of a fetch that failed, which ended
	// without their answers, while the next one asks.
	mu.Lock()
	total := 0
	for _, n := range asked {
		total += n
	}
	if most > 2*maxParallel || total > 100+4*maxParallel {
		t.Errorf("%d requests, %d at the same time", total, most)
	}
	mu.Unlock()
	// The next fetch is another one.
	job.Fingerprint = "two"
	if result, err = l.fetcher.Fetch(t.Context(), job, new(pages)); err != nil || result.Requests != 100 {
		t.Errorf("%+v %v", result, err)
	}
}

func TestJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		polls, state := 0, "complete"
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/reports":
				if body, _ := io.ReadAll(r.Body); r.Method != "POST" || string(body) != `{"kind":"sales"}` {
					t.Errorf("%s %s", r.Method, body)
				}
				respond(w, `{"id":17}`)
			case "/reports/17":
				if polls++; polls < 4 {
					respond(w, `{"status":"running"}`)
					return
				}
				respond(w, `{"status":"`+state+`","file_url":"https://files.test/17.csv"}`)
			}
		})
		l.serve("files.test", func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "GET" || r.Header.Get("Authorization") != "" {
				t.Error(r.Method, r.Header)
			}
			w.Header().Set("Content-Type", "text/csv")
			_, _ = io.WriteString(w, "id\n1\n")
		})
		const definition = `{"request":{"method":"POST","url":"https://api.test/reports","body":{"kind":"json","value":{"kind":"sales"}}},"auth":{"kind":"bearer","token":"s3cret"},
			"job":{"id":"$.id","poll":{"url":"https://api.test/reports/{{job.id}}"},"every":"5s","state":"$.status","done":["complete"],"failed":["error"],"result":"$.file_url","maxWait":"30m"}}`
		got, _, err := l.fetch(definition)
		if err != nil || len(got.texts) != 1 || got.texts[0] != "id\n1\n" || polls != 4 {
			t.Error(got.texts, err, polls)
		}
		if polls, state = 0, "error"; true {
			if _, _, err = l.fetch(definition); FailureOf(err) != "job" || !strings.Contains(err.Error(), "error") {
				t.Error(err)
			}
		}
		polls = -1000
		if _, _, err = l.fetch(definition); FailureOf(err) != "job" || !strings.Contains(err.Error(), "30m") {
			t.Error(err)
		}
	})
}

// A report may be several files, and what the source says of one that it did not make is
// shown.
func TestReportOfSeveralFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		poll := `{"status":"done","files":["/1","/2"]}`
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/reports":
				respond(w, `{"id":7}`)
			case "/reports/7":
				respond(w, poll)
			default:
				respond(w, `[{"id":`+r.URL.Path[1:]+`}]`)
			}
		})
		const definition = `{"request":{"method":"POST","url":"https://api.test/reports"},
			"job":{"id":"$.id","poll":{"url":"https://api.test/reports/{{job.id}}"},"state":"$.status","done":["done"],"failed":["error"],"result":"$.files[*]"}}`
		got, _, err := l.fetch(definition)
		if err != nil || strings.Join(got.texts, "") != `[{"id":1}][{"id":2}]` {
			t.Error(got.texts, err)
		}
		for _, poll = range []string{`{"status":"error","why":"over quota"}`, `{"status":"done","why":"over quota"}`} {
			_, _, err = l.fetch(definition)
			failure, _ := errors.AsType[*feedmill.SourceFailure](err)
			if failure == nil || failure.Type != "job" || failure.Said == nil || !strings.Contains(failure.Said.Excerpt, "over quota") {
				t.Errorf("%+v", failure)
			}
		}
	})
}

// A column that the rows of the parents do not have is the user's mistake, and told.
func TestParentsLackAColumn(t *testing.T) {
	l := newLab(t)
	l.fetcher.Options.Rows = func(context.Context, feedmill.ID, feedmill.ID, []string) (io.ReadCloser, int64, error) {
		return nil, 0, feedmill.Invalid("no such field", feedmill.Fault{Parameter: "fields", Detail: "There is no column nope; the nearest is name."})
	}
	_, _, err := l.fetch(`{"request":{"url":"https://api.test/{{p.nope}}"},"each":{"in":{"feedId":"df_01jb3zv8k5f7q9w2x4y6z8a0bc"},"as":"p"}}`)
	if FailureOf(err) != "each" || !strings.Contains(err.Error(), "no column nope") {
		t.Error(err)
	}
}

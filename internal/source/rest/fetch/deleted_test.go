package fetch

import (
	"io"
	"net/http"
	"testing"
)

// A fetch whose parents, pages or responses may not be all that there are is partial, also
// where a part of it was staged before.
func TestPartialFetches(t *testing.T) {
	for name, test := range map[string]struct {
		parents, page string
		status        int
		want          string
	}{
		"all":                 {`{"list":[{"k":1},{"k":2}]}`, `[{"id":1}]`, 200, ""},
		"more parents":        {`{"list":[{"k":1},{"k":2}],"has_more":true}`, `[{"id":1}]`, 200, "the source has more pages than were fetched"},
		"a parent is ignored": {`{"list":[{"k":1},{"k":2}]}`, `{}`, 404, "a rule of errors ignored a response"},
		"more pages":          {`{"list":[{"k":1},{"k":2}]}`, `{"data":[{"id":1}],"next":"x"}`, 200, "the source has more pages than were fetched"},
	} {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/parents":
				respond(w, test.parents)
			case "/1":
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.page)
			default:
				respond(w, `[{"id":2}]`)
			}
		})
		stage := t.TempDir() + "/stage"
		for range 2 {
			job := l.job(`{"request":{"url":"https://api.test/{{p.k}}"},"each":{"in":{"request":{"url":"https://api.test/parents"},"path":"$.list[*]"},"as":"p"},"errors":[{"status":[404],"action":"ignore"}]}`)
			job.Notes, job.Stage, job.Fingerprint, job.Close = new(Notes), stage, "x", new([]io.Closer)
			result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			if got := result.Partial + job.Notes.Partial(); err != nil || (got == "") != (test.want == "") || result.Partial != test.want && job.Notes.Partial() != test.want {
				t.Errorf("%s: %q and %q, %v", name, result.Partial, job.Notes.Partial(), err)
			}
			for _, c := range *job.Close {
				_ = c.Close()
			}
		}
	}
}

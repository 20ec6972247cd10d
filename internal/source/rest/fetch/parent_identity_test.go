package fetch

import (
	"net/http"
	"testing"
	"testing/synctest"
)

// Parents whose included columns are the same fail the fetch: nothing is kept of which
// it is not known whose it is.
func TestParentsThatAreNotToldApart(t *testing.T) {
	for _, test := range []struct {
		values  string
		compare bool
		failure string
	}{
		{`{"id":1,"name":"a"},{"id":2,"name":"b"}`, true, ""},
		{`{"id":1,"name":"a"},{"id":1,"name":"a"}`, true, ""},
		{`{"id":1,"name":"a"},{"id":2,"name":"a"}`, true, "each"},
		{`{"id":1,"name":"a"},{"id":2,"name":"a"}`, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
				respond(w, `[{"at":1}]`)
			})
			job := l.job(`{"request":{"url":"https://api.test/{{x.id}}"},"each":{"in":{"values":[` + test.values + `]},"as":"x","include":["name"]},
				"incremental":{"cursorPath":"$.at","param":{"name":"since"}}}`)
			job.CompareRows = test.compare
			_, err := l.fetcher.Fetch(t.Context(), job, &pages{each: 1})
			if got := FailureOf(err); got != test.failure {
				t.Errorf("%s: %v", test.values, err)
			}
		})
	}
}

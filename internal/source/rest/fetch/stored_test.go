package fetch

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// A definition that an earlier release accepted with fewer checks is fetched as before. What
// has nothing to do with its faults can be changed, and only what cannot be read fails.
func TestStoredDefinitionsAreNotCheckedAgain(t *testing.T) {
	const (
		included = `{"request":{"url":"https://api.test/rows"},"each":{"in":{"values":[{"a":1},{"a":2}]},"as":"p","include":["a"]}}`
		begins   = `{"request":{"url":"https://api.test/rows"},"incremental":{"param":{"in":"query","name":"since"},"start":"long ago","step":"1d"}}`
		ends     = `{"request":{"url":"https://api.test/{{p}}"},"each":{"in":{"values":[1,2]},"as":"p","include":["p"]},"incremental":{"cursorPath":"$.id","param":{"name":"from"},"to":{"name":"to"}}}`
	)
	limits := `{"request":{"url":"https://api.test/rows","query":{"` + strings.Repeat("x", 1025) + `":1}},"retry":{"maxAttempts":99},"pagination":{"kind":"none","param":"x","maxPages":1000000000},"response":{"format":"csv","sheet":3},"unknown":1}`
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, `[{"id":1}]`) })
		for definition, want := range map[string]string{included: "", begins: "no-cursor", ends: "", limits: ""} {
			if _, err := spec.Parse([]byte(definition), 0); err == nil {
				t.Errorf("%s is taken", definition)
			}
			restored, err := spec.Restore([]byte(definition), nil, feedmill.RulesFirst)
			if err != nil {
				t.Error(err)
				continue
			}
			job := l.job(`{"request":{"url":"https://api.test/rows"}}`)
			job.Spec = restored
			result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			if FailureOf(err) != want || want == "" && result.Records != min(2, 1+int64(strings.Count(definition, "each"))) {
				t.Errorf("%s: %d records, %v", definition, result.Records, err)
			}
			if _, err := spec.Merge([]byte(definition), nil, []byte(`{"retry":{"maxAttempts":2}}`), feedmill.RulesFirst, 0); err != nil {
				t.Errorf("%s: %v", definition, err)
			}
			if _, err := spec.Merge([]byte(definition), nil, []byte(`{"request":{"url":"https://api.test/all"}}`), feedmill.RulesFirst, 0); err == nil {
				t.Errorf("%s is taken by a change of the request", definition)
			}
		}
	})
}

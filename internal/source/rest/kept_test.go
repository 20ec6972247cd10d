package rest

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
)

// What was taken when the rules were fewer is fetched as before, or says what is wrong with
// it; and what has nothing to do with that can be changed.
func TestKeptDefinitions(t *testing.T) {
	const (
		included = `{"request":{"url":"https://api.test/rows"},"each":{"in":{"values":[{"a":1},{"a":2}]},"as":"p","include":["a"]}}`
		begins   = `{"request":{"url":"https://api.test/rows"},"incremental":{"param":{"in":"query","name":"since"},"start":"long ago","step":"1d"}}`
		ends     = `{"request":{"url":"https://api.test/{{p}}"},"each":{"in":{"values":[1,2]},"as":"p","include":["p"]},"incremental":{"cursorPath":"$.id","param":{"name":"from"},"to":{"name":"to"}}}`
	)
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, `[{"id":1}]`) })
		for definition, want := range map[string]string{included: "", begins: "no-cursor", ends: ""} {
			if _, err := Parse([]byte(definition), 0); err == nil {
				t.Errorf("%s is taken", definition)
			}
			spec, err := Restore([]byte(definition), nil, feedmill.RulesFirst)
			if err != nil {
				t.Error(err)
				continue
			}
			job := l.job(`{"request":{"url":"https://api.test/rows"}}`)
			job.Spec = spec
			result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			if failureOf(err) != want || want == "" && result.Records != 2 {
				t.Errorf("%s: %d records, %v", definition, result.Records, err)
			}
			if _, err := Merge([]byte(definition), nil, []byte(`{"retry":{"maxAttempts":2}}`), feedmill.RulesFirst, 0); err != nil {
				t.Errorf("%s: %v", definition, err)
			}
			if _, err := Merge([]byte(definition), nil, []byte(`{"request":{"url":"https://api.test/all"}}`), feedmill.RulesFirst, 0); err == nil {
				t.Errorf("%s is taken by a change of the request", definition)
			}
		}
	})
	spool, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	_, err = NewSource(Options{}).Fetch(t.Context(), feedmill.Fetch{Spec: []byte(`{"request":{"url":"https://api.test/"},"retry":{"maxAttempts":99}}`), Spool: spool}, nil)
	if failureOf(err) != "definition" || !strings.Contains(err.Error(), "/retry/maxAttempts") {
		t.Error(err)
	}
}

package rest

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
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
			if failureOf(err) != want || want == "" && result.Records != min(2, 1+int64(strings.Count(definition, "each"))) {
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
}

func TestUnreadableStoredDefinitionIsRefused(t *testing.T) {
	spool, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	_, err = NewSource(Options{}).Fetch(t.Context(), feedmill.Fetch{Spec: []byte(`{"request":{"url":"https://api.test/"},"errors":[{"bodyPath":"$[","action":"fail"}]}`), Spool: spool}, nil)
	if f, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || f.Type != "definition" || !strings.Contains(err.Error(), "/errors/0/bodyPath") {
		t.Error(err)
	}
}

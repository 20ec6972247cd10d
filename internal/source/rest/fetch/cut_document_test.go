package fetch

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// A document that is cut anywhere is told from a whole one however early its paths are
// found, and what they lead to is the same as without the look at its end.
func TestCutDocumentsAreTold(t *testing.T) {
	docs := []string{
		`{"next":"2","data":[{"a":"}]\"","b":[1,{"c":null}]},{"a":"x"}],"end":{"x":[true]}}`,
		`{"data":[{"a":"[{"},{"a":"\\"}],"meta":{"next":{"id":7},"x":[[1],[2]]}}`,
		`[{"next":1},{"data":"\\\""},[[]]]`,
	}
	for _, doc := range docs {
		for _, path := range []string{"$.next", "$.meta.next", "$.meta.next.id", "$[0].next", "$.data[1].a", "$.nothing"} {
			for end := 1; end <= len(doc); end++ {
				r := &sequence{run: &run{spec: &spec.Spec{Paths: []*jsonpath.Path{find.MustPath(path)}}}}
				text := doc[:end]
				a := &answer{request: httptest.NewRequest(http.MethodGet, "/", nil), size: int64(end), text: []byte(text), header: http.Header{"Content-Type": {"application/json"}}}
				a.body = io.NewSectionReader(strings.NewReader(text), 0, int64(end))
				o := r.requireComplete(a, outcome{})
				if cut := o.err != nil; cut != (end < len(doc)) {
					t.Fatalf("%s in %s: %v", path, text, o.err)
				}
				want, _ := find.Values(t.Context(), a.body, a.size, a.paths...)
				if !slices.EqualFunc(want, a.found, func(x, y find.Value) bool { return x.Kind == y.Kind && string(x.Raw) == string(y.Raw) }) {
					t.Fatalf("%s in %s leads to %v, want %v", path, text, a.found, want)
				}
			}
		}
	}
}

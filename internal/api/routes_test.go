package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/api/openapi"
)

// documented is an operation as the OpenAPI document has it, with what the
// references in it point to.
type documented struct {
	OperationID string            `json:"operationId"`
	Description string            `json:"description"`
	Tags        []string          `json:"tags"`
	Security    *[]map[string]any `json:"security"`
	Parameters  []parameter       `json:"parameters"`
	RequestBody json.RawMessage   `json:"requestBody"`
	Responses   map[string]any    `json:"responses"`
}

type parameter struct {
	Ref      string `json:"$ref"`
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
}

// readDocument returns the operations of the document by method and path.
func readDocument(t *testing.T) map[string]documented {
	t.Helper()
	var doc struct {
		Paths      map[string]map[string]documented
		Components struct{ Parameters map[string]parameter }
		Tags       []struct{ Name string }
	}
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]documented)
	ids := make(map[string]string)
	for path, item := range doc.Paths {
		for method, op := range item {
			at := strings.ToUpper(method) + " " + path
			for i, p := range op.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					op.Parameters[i] = doc.Components.Parameters[name]
				}
			}
			if op.OperationID == "" || ids[op.OperationID] != "" {
				t.Errorf("%s: the operationId %q is empty or that of %s", at, op.OperationID, ids[op.OperationID])
			}
			ids[op.OperationID] = at
			for _, tag := range op.Tags {
				if !slices.ContainsFunc(doc.Tags, func(known struct{ Name string }) bool { return known.Name == tag }) {
					t.Errorf("%s: the tag %q is not described", at, tag)
				}
			}
			all[at] = op
		}
	}
	return all
}

func (d documented) in(place string) (names []string) {
	for _, p := range d.Parameters {
		if p.In == place {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func TestTableAndDocumentAgree(t *testing.T) {
	s := newTestServer(new(strings.Builder))
	document := readDocument(t)
	found := make(map[string]bool)
	for _, r := range append(s.routes(), s.openRoutes()...) {
		at := r.method + " " + r.path
		op, ok := document[at]
		if !ok {
			t.Errorf("%s is not in the document", at)
			continue
		}
		found[at] = true
		t.Run(at, func(t *testing.T) { agree(t, r, op) })
	}
	for pattern := range s.pages() {
		if pattern == "GET /docs/{page...}" {
			continue // the pages below it
		}
		op, ok := document[pattern]
		if !ok || op.Security == nil || len(*op.Security) != 0 {
			t.Errorf("%s is not in the document as open to everybody", pattern)
		}
		found[pattern] = true
	}
	for at := range document {
		if !found[at] {
			t.Errorf("%s is in the document alone", at)
		}
	}
	for _, at := range []string{"GET /healthz", "GET /readyz", "GET /metrics", "GET /openapi.json", "GET /docs"} {
		if !found[at] {
			t.Errorf("%s is missing", at)
		}
	}
}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

func agree(t *testing.T, r route, op documented) {
	open := op.Security != nil && len(*op.Security) == 0
	if open != (r.scope == "") {
		t.Errorf("open to everybody: %v in the document, %v in the table", open, r.scope == "")
	}
	if r.scope != "" && !strings.Contains(op.Description, "Scope `"+string(r.scope)+"`") {
		t.Errorf("the description does not name the scope: write \"Scope `%s`\"", r.scope)
	}
	if got, want := op.in("query"), slices.Sorted(slices.Values(r.query)); !slices.Equal(got, want) {
		t.Errorf("the document has the query parameters %q, the table %q", got, want)
	}
	var path []string
	for _, m := range inBraces.FindAllStringSubmatch(r.path, -1) {
		path = append(path, m[1])
	}
	slices.Sort(path)
	if got := op.in("path"); !slices.Equal(got, path) {
		t.Errorf("the document has the path parameters %q, the path %q", got, path)
	}
	if (r.body > 0) != (op.RequestBody != nil) {
		t.Errorf("a body is taken: %v in the table, %v in the document", r.body > 0, op.RequestBody != nil)
	}
	writes := r.method == http.MethodPost || r.method == http.MethodPut
	if headers := op.in("header"); slices.Contains(headers, "Idempotency-Key") != (writes && !open) || !slices.Contains(headers, "X-Request-Id") {
		t.Errorf("the headers are %q; every operation has X-Request-Id, and POST and PUT have Idempotency-Key", headers)
	}
	want := []string{"400"}
	if !open {
		want = append(want, "401", "403", "429", "500", "503")
	}
	if r.body > 0 {
		want = append(want, "413", "415")
	}
	if len(path) > 0 {
		want = append(want, "404")
	}
	if writes && !open {
		want = append(want, "409") // an idempotency key that was used for something else
	}
	for _, status := range want {
		if op.Responses[status] == nil {
			t.Errorf("the document does not have the answer %s; it has %v", status, slices.Sorted(maps.Keys(op.Responses)))
		}
	}
}

// unaudited are the operations that the audit log does not tell of although they
// change something, with the reason.
var unaudited = map[string]string{
	"POST /events":                         "events are a log of their own",
	"POST /data_feeds/{id}/refresh":        "refreshes are a log of their own",
	"POST /events/subscriptions/{id}/test": "it is sent and nothing is stored",
	"POST /events/listeners/{id}/test":     "it is sent and nothing is stored",
	"DELETE /definitions/apply":            "it ends a reservation, which changes nothing else",
	"POST /events/listeners/{id}/answers":  "it ends deliveries as the answer of an endpoint does",
}

func TestEveryChangeIsAudited(t *testing.T) {
	s := newTestServer(new(strings.Builder))
	actions := make(map[string]bool)
	for _, r := range s.routes() {
		at := r.method + " " + r.path
		changes := r.method != http.MethodGet && !r.reads && unaudited[at] == ""
		if changes != (r.action != "") {
			t.Errorf("%s has the action %q; name one for an operation that changes something, and none for others", at, r.action)
		}
		if r.action != "" && actions[r.action] {
			t.Errorf("%s has the action %s of another operation", at, r.action)
		}
		actions[r.action] = true
	}
}

func TestUnmatched(t *testing.T) {
	s := newTestServer(new(strings.Builder),
		route{method: "GET", path: "/things/{id}", handle: ok}, route{method: "PATCH", path: "/things/{id}", handle: ok})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/nothing", 404, ""},
		{"GET", "/nothing?x=1&x=%ff&%zz", 404, ""},
		{"GET", "/%ff", 404, ""},
		{"DELETE", "/keys/%ff", 404, ""},
		{"DELETE", "/keys/%00", 404, ""},
		{"PUT", "/keys/%ff?x=1", 405, "DELETE, GET, HEAD"},
		{"PUT", "/keys?x=%zz", 405, "GET, HEAD, POST"},
		{"GET", "/keys/", 404, ""},
		{"GET", "//keys", 404, ""},
		{"GET", "/keys/../keys", 404, ""},
		{"GET", "/./keys", 404, ""},
		{"GET", "/keys/a/b", 404, ""},
		{"DELETE", "/keys/%2e%2e", 404, ""},
		{"DELETE", "/keys/", 404, ""},
		{"GET", "/keys%2Fa", 404, ""},
		{"DELETE", "/workspaces", 405, "GET, HEAD, POST"},
		{"PUT", "/keys", 405, "GET, HEAD, POST"},
		{"OPTIONS", "/keys", 405, "GET, HEAD, POST"},
		{"BREW", "/keys", 405, "GET, HEAD, POST"},
		{"GET", "/events/subscriptions/sub_1/test", 405, "POST"},
		{"HEAD", "/events/subscriptions/sub_1/test", 405, "POST"},
		{"POST", "/healthz", 405, "GET, HEAD"},
		{"POST", "/metrics", 405, "GET, HEAD"},
		{"POST", "/docs", 405, "GET, HEAD"},
		{"PUT", "/things/a%2Fb", 405, "GET, HEAD, PATCH"},
		{"GET", "/things/a%2Fb", 204, ""},
		{"HEAD", "/things/1", 204, ""},
	} {
		w := ask(s, c.method, c.path, "")
		if w.Code != c.status || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q; want %d, %q", c.method, c.path, w.Code, w.Header().Get("Allow"), c.status, c.allow)
		}
		if w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s: no request id", c.method, c.path)
		}
		if c.status < 400 {
			continue
		}
		p := readProblem(t, w)
		wantType := map[int]string{404: "/problems/not-found", 405: "/problems/method-not-allowed"}[c.status]
		if p.Type != wantType || p.Detail == "" || p.Title == "" || p.Instance != valid(httptest.NewRequest(c.method, c.path, nil).URL.Path) {
			t.Errorf("%s %s: %s", c.method, c.path, w.Body)
		}
	}
}

package app

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// unreached are operations whose resources this test cannot make by itself,
// with the reason.
var unreached = map[string]string{
	"answerListener":  "it names deliveries that only a stream brings",
	"getProblemType":  "problem types are of no workspace",
	"readLink":        "it goes by a token; TestLinks reads with one",
	"listViews":       "services go by names; TestServicesAreApart looks at them",
	"listFields":      "services go by names; TestServicesAreApart looks at them",
	"listFieldValues": "services go by names; TestServicesAreApart looks at them",
	"getSQLView":      "SQL views go by names; TestSQLViews looks at them",
	"changeSQLView":   "SQL views go by names; TestSQLViews looks at them",
	"deleteSQLView":   "SQL views go by names; TestSQLViews looks at them",

	"getPortalLink":    "only an admin of default can create one; TestPortalWalk uses them",
	"deletePortalLink": "only an admin of default can create one; TestPortalWalk uses them",
}

// TestWorkspacesAreApart holds that to one workspace the ids of another are
// like ids that nothing has, in every operation of the document, wherever the
// operation takes an id.
func TestWorkspacesAreApart(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	s := start(t, setup{})
	one, two := newTenant(t, s, d, "one"), newTenant(t, s, d, "two")
	intrude := func(t *testing.T, theirs, nobodys request) {
		t.Helper()
		theirs.key, nobodys.key = two.key.Key, two.key.Key
		before, got := s.send(t, nobodys), s.send(t, theirs)
		diff := cmp.Diff(before.anonymous(), got.anonymous(), cmp.AllowUnexported(reply{}))
		// What may happen once is answered differently from the second time on.
		if diff != "" && !cmp.Equal(s.send(t, nobodys).anonymous(), got.anonymous(), cmp.AllowUnexported(reply{})) {
			t.Errorf("%v is not answered like %v (-nobody's +another workspace's):\n%s", theirs, nobodys, diff)
		}
	}
	for _, op := range d.operations {
		if len(op.with("path")) == 0 || op.scope == "" {
			continue
		}
		params := one.params(t, op.path)
		if params == nil {
			if unreached[op.id] == "" {
				t.Errorf("%s: the test has made nothing that it works on", op.id)
			}
			continue
		}
		t.Run(op.id, func(t *testing.T) {
			for i := range longOr(2, 5) {
				theirs := one.example(op, i)
				theirs.params = params
				nobodys := theirs
				nobodys.params = make(map[string]string)
				for name, id := range params {
					nobodys.params[name] = freshID(id)
				}
				intrude(t, theirs.request(), nobodys.request())
				q := theirs.request()
				q.key = two.key.Key
				if got := s.send(t, q); got.status != 404 {
					t.Errorf("%v is answered %d: %s", q, got.status, got.body)
				}
			}
		})
	}
	for _, op := range d.operations {
		t.Run(op.id+" names an id", func(t *testing.T) {
			for i, place := range d.idPlaces(op) {
				for _, id := range one.idsByPrefix() {
					theirs := two.example(op, i)
					if own := two.params(t, op.path); own != nil {
						theirs.params = own
					}
					nobodys := theirs
					place(&theirs, id)
					place(&nobodys, freshID(id))
					intrude(t, theirs.request(), nobodys.request())
				}
			}
		})
		if op.method != http.MethodGet || len(op.with("path")) > 0 || op.scope == "" {
			continue
		}
		t.Run(op.id+" lists", func(t *testing.T) {
			got := s.send(t, request{method: op.method, path: op.path, key: two.key.Key})
			for _, id := range anyID.FindAllString(got.body, -1) {
				if slices.Contains(one.known.ids, id) {
					t.Errorf("%s shows %s of another workspace: %s", op.path, id, got.body)
				}
			}
		})
	}
	one.holds(t)
}

// tenant is a client of one workspace.
type tenant struct {
	*service
	*generator
	key made
}

// newTenant makes a workspace with everything in it that can be made.
func newTenant(t *testing.T, s *service, d *document, name string) *tenant {
	n := &tenant{
		service: s, generator: &generator{document: d, known: new(resources)},
		key: s.newKey(t, s.newWorkspace(t, name).ID, everyScope...),
	}
	n.fill(t)
	return n
}

// fill makes what the document's operations make, and learns what they list.
func (n *tenant) fill(t *testing.T) {
	operations := slices.Clone(n.operations)
	slices.SortStableFunc(operations, func(a, b operation) int { return strings.Compare(b.method, a.method) })
	for i := range 12 {
		for _, op := range operations {
			if op.method == http.MethodDelete || op.scope == "" {
				continue
			}
			q := n.example(op, i).request()
			q.key = n.key.Key
			n.known.learn(n.send(t, q))
		}
	}
}

// example is a request of the operation, the same for the same number.
func (n *tenant) example(op operation, i int) draft {
	d := rapid.Custom(func(t *rapid.T) draft { return n.draft(t, op) }).Example(i)
	d.header = nil
	return d
}

// params are those of a resource of the tenant that the path can name.
func (n *tenant) params(t *testing.T, template string) map[string]string {
	if strings.HasPrefix(template, "/definitions/") {
		template = strings.Replace(template, "/definitions/", "/data_feeds/", 1) // which have definitions
	}
	params := maps.Clone(n.known.of(template))
	if params == nil {
		params = make(map[string]string)
	}
	path := ""
	for segment := range strings.SplitSeq(strings.TrimPrefix(template, "/"), "/") {
		path += "/" + segment
		name, isParam := strings.CutPrefix(segment, "{")
		name = strings.TrimSuffix(name, "}")
		if !isParam || params[name] != "" {
			continue
		}
		if params[name] = n.probe(t, path, params, name); params[name] == "" {
			return nil
		}
	}
	return params
}

// probe finds an id for the last parameter of a path by trying.
func (n *tenant) probe(t *testing.T, template string, params map[string]string, name string) string {
	for _, op := range n.operations {
		if op.method != http.MethodGet || !strings.HasPrefix(op.path, template) || strings.Contains(op.path[len(template):], "{") {
			continue
		}
		for _, id := range n.idsByPrefix() {
			all := maps.Clone(params)
			all[name] = id
			q := draft{op: op, params: all}.request()
			q.key = n.key.Key
			if got := n.send(t, q); got.status != 404 {
				return id
			}
		}
	}
	return ""
}

// idsByPrefix is the newest of the known ids of each kind, and the number of a
// version.
func (n *tenant) idsByPrefix() []string {
	newest := map[string]string{"": "1"}
	for _, id := range n.known.ids {
		prefix, _, _ := strings.Cut(id, "_")
		newest[prefix] = id
	}
	return slices.Sorted(maps.Values(newest))
}

// holds checks that what the tenant made is still there, by using it. It shows
// as well that the ids that others were refused were real.
func (n *tenant) holds(t *testing.T) {
	operations := slices.Clone(n.operations)
	// What is deleted goes last, and after what is below it.
	rank := func(op operation) int {
		if op.method != http.MethodDelete {
			return 0
		}
		return 100 - strings.Count(op.path, "/")
	}
	slices.SortStableFunc(operations, func(a, b operation) int { return rank(a) - rank(b) })
	for _, op := range operations {
		if len(op.with("path")) == 0 || unreached[op.id] != "" {
			continue
		}
		d := n.example(op, 1)
		d.params = n.params(t, op.path)
		q := d.request()
		q.key = n.key.Key
		if got := n.send(t, q); got.status == 404 || got.status >= 500 {
			t.Errorf("%v of the workspace's own is answered %d: %s", q, got.status, got.body)
		}
		if op.method == http.MethodDelete {
			n.known.forget(q.path)
		}
	}
}

// idPlaces are the query parameters and body fields of an operation that hold
// ids, each as a way to set it.
func (d *document) idPlaces(op operation) (places []func(*draft, string)) {
	for _, p := range op.with("query") {
		if isIDName(p.name) {
			places = append(places, func(d *draft, id string) { d.query = [][2]string{{p.name, id}} })
		}
	}
	for _, m := range op.bodies {
		if !m.isJSON() {
			continue
		}
		for _, field := range d.idFields(m.schema, nil, 0) {
			places = append(places, func(d *draft, id string) {
				object, ok := clone(d.body).(map[string]any)
				if !ok {
					return
				}
				d.body, d.media, d.raw = object, m, ""
				for _, name := range field[:len(field)-1] {
					below, ok := object[name].(map[string]any)
					if !ok {
						below = make(map[string]any)
						object[name] = below
					}
					object = below
				}
				object[field[len(field)-1]] = id
			})
		}
	}
	return places
}

// idFields are the paths of the fields of a schema that are called ids.
func (d *document) idFields(schema map[string]any, at []string, depth int) (fields [][]string) {
	schema = d.resolve(schema)
	if depth > 5 {
		return nil
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		below := append(slices.Clone(at), name)
		if isIDName(name) {
			fields = append(fields, below)
		}
		fields = append(fields, d.idFields(d.resolve(properties[name]), below, depth+1)...)
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[key].([]any)
		for _, part := range parts {
			fields = append(fields, d.idFields(d.resolve(part), at, depth+1)...)
		}
	}
	return fields
}

var (
	anyTime   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	anySecret = regexp.MustCompile(`\b(fm|whsec)_[A-Za-z0-9_+/=-]{40,}`)
	anyHash   = regexp.MustCompile(`sha256:[0-9a-f]{64}`) // of data with an id in it
	// anyNumbered is the default name of a table, which counts the feeds of the workspace with the same name.
	anyNumbered = regexp.MustCompile(`("tableName":"[^"]*?)_\d+"`)
	anyTaken    = regexp.MustCompile(`"durationMs":[0-9.]+`)
)

// anonymous is an answer without what differs between any two requests.
func (r reply) anonymous() reply {
	hide := func(s string) string {
		s = anySecret.ReplaceAllString(anyHash.ReplaceAllString(s, "*"), "${1}_*")
		s = anyID.ReplaceAllStringFunc(s, func(id string) string { p, _, _ := strings.Cut(id, "_"); return p + "_*" })
		s = anyNumbered.ReplaceAllString(s, `$1"`)
		return anyTaken.ReplaceAllString(anyTime.ReplaceAllString(s, "*"), "*")
	}
	header := make(http.Header)
	for name, values := range r.header {
		for _, v := range values {
			header.Add(name, hide(v))
		}
	}
	for _, name := range []string{"Date", "X-Request-Id", "Content-Length"} {
		header.Del(name)
	}
	return reply{r.status, header, hide(r.body)}
}

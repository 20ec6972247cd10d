package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/feedmill/feedmill/internal/api/openapi"
)

// document is the OpenAPI document as the tests read it: what requests it
// allows, and whether an answer is one that it promises.
type document struct {
	root       map[string]any
	operations []operation
	validator  validator.Validator
}

// operation is an operation of the document with its references resolved one
// level deep: schemas keep theirs.
type operation struct {
	id, method, path string
	scope            string // "" where no credential is needed
	parameters       []parameter
	bodies           []mediaType // in the order of their names
	bodyRequired     bool
	responses        map[string]any
}

type parameter struct {
	name, in string
	required bool
	schema   map[string]any
}

type mediaType struct {
	name     string
	schema   map[string]any
	examples []any
}

// readDocument returns the document, which all tests share.
func readDocument(t *testing.T) *document {
	t.Helper()
	d, err := parseDocument()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var parseDocument = sync.OnceValues(func() (*document, error) {
	d := &document{root: make(map[string]any)}
	if err := json.Unmarshal(openapi.JSON(), &d.root); err != nil {
		return nil, err
	}
	parsed, err := libopenapi.NewDocument(openapi.JSON())
	if err != nil {
		return nil, err
	}
	var errs []error
	if d.validator, errs = validator.NewValidator(parsed); errs != nil {
		return nil, errors.Join(errs...)
	}
	paths := d.root["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			d.operations = append(d.operations, d.operation(method, path, item[method].(map[string]any)))
		}
	}
	return d, nil
})

var namedScope = regexp.MustCompile("Scope `([a-z:]+)`")

func (d *document) operation(method, path string, o map[string]any) operation {
	op := operation{id: o["operationId"].(string), method: strings.ToUpper(method), path: path, responses: o["responses"].(map[string]any)}
	if security, open := o["security"].([]any); !open || len(security) > 0 {
		if m := namedScope.FindStringSubmatch(o["description"].(string)); m != nil {
			op.scope = m[1]
		}
	}
	parameters, _ := o["parameters"].([]any)
	for _, p := range parameters {
		p := d.resolve(p)
		required, _ := p["required"].(bool)
		op.parameters = append(op.parameters, parameter{
			name: p["name"].(string), in: p["in"].(string), required: required, schema: d.resolve(p["schema"]),
		})
	}
	if body := d.resolve(o["requestBody"]); body != nil {
		op.bodyRequired, _ = body["required"].(bool)
		content := body["content"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(content)) {
			media := content[name].(map[string]any)
			m := mediaType{name: name, schema: d.resolve(media["schema"])}
			examples, _ := media["examples"].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(examples)) {
				m.examples = append(m.examples, d.resolve(examples[key])["value"])
			}
			if example, ok := media["example"]; ok {
				m.examples = append(m.examples, example)
			}
			op.bodies = append(op.bodies, m)
		}
	}
	return op
}

// resolve follows a reference. What stands beside it is kept.
func (d *document) resolve(v any) map[string]any {
	m, _ := v.(map[string]any)
	ref, ok := m["$ref"].(string)
	if !ok {
		return m
	}
	var target any = d.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		target = target.(map[string]any)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	resolved := maps.Clone(d.resolve(target))
	for k, v := range m {
		if k != "$ref" {
			resolved[k] = v
		}
	}
	return resolved
}

// with is the parameters of one place: path, query or header.
func (op operation) with(in string) (names []parameter) {
	for _, p := range op.parameters {
		if p.in == in {
			names = append(names, p)
		}
	}
	return names
}

// promises reports whether the operation may answer with the status.
func (op operation) promises(status string) bool { return op.responses[status] != nil }

// isJSON reports whether a body of the type is JSON.
func (m mediaType) isJSON() bool {
	return m.name == "application/json" || strings.HasSuffix(m.name, "+json")
}

// GoString names the type in the output of a failed check.
func (m mediaType) GoString() string { return m.name }

// plainPath is a path of the operation that any router finds, for those checks
// that need nothing else of it.
func (op operation) plainPath() string { return inBraces.ReplaceAllString(op.path, "1") }

var inBraces = regexp.MustCompile(`\{\w+\}`)

// faultsOfAnswer lists how an answer differs from what the document promises.
// Of an answer in lines it promises something of each.
func (d *document) faultsOfAnswer(op operation, r reply) (texts []string) {
	if r.header.Get("Content-Type") != "application/x-ndjson" {
		return d.faultsOfDocument(op, r)
	}
	for line := range strings.Lines(r.body) {
		r.body = line
		texts = append(texts, d.faultsOfDocument(op, r)...)
	}
	return texts
}

func (d *document) faultsOfDocument(op operation, r reply) []string {
	q, err := http.NewRequest(op.method, "http://test"+op.plainPath(), nil)
	if err != nil {
		return []string{err.Error()}
	}
	_, faults := d.validator.ValidateHttpResponse(q, &http.Response{
		StatusCode: r.status, Header: r.header, Body: io.NopCloser(strings.NewReader(r.body)), Request: q,
	})
	var texts []string
	for _, f := range faults {
		text := f.Message + ": " + f.Reason
		for _, s := range f.SchemaValidationErrors {
			text += "; " + s.FieldPath + " " + s.Reason
		}
		texts = append(texts, text)
	}
	return texts
}

// allows reports whether a request is one that the document allows.
func (d *document) allows(op operation, q request) bool {
	r, err := http.NewRequest(op.method, "http://test"+op.plainPath(), bytes.NewReader([]byte(q.body)))
	if err != nil {
		return false
	}
	if _, query, ok := strings.Cut(q.path, "?"); ok {
		r.URL.RawQuery = query
	}
	r.Header.Set("Authorization", "Bearer x")
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range q.header {
		r.Header.Set(h[0], h[1])
	}
	ok, _ := d.validator.ValidateHttpRequestSync(r)
	return ok
}

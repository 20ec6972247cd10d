package openapi

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

func TestDocumentIsValid(t *testing.T) {
	doc, err := libopenapi.NewDocument(JSON())
	if err != nil {
		t.Fatal(err)
	}
	if doc.GetVersion() != "3.1.0" {
		t.Errorf("the version is %s", doc.GetVersion())
	}
	v, errs := validator.NewValidator(doc)
	if errs != nil {
		t.Fatal(errs)
	}
	if ok, faults := v.ValidateDocument(); !ok {
		for _, f := range faults {
			t.Errorf("%s: %s", f.Message, f.Reason)
			for _, s := range f.SchemaValidationErrors {
				t.Errorf("  %s: %s", s.FieldPath, s.Reason)
			}
		}
	}
}

func TestMerge(t *testing.T) {
	const base = "openapi: 3.1.0\ncomponents: {schemas: {A: {type: string}}}\n"
	for _, c := range []struct{ name, part, want string }{
		{"adds", "paths: {/x: {}}\ncomponents: {schemas: {B: {}}, headers: {H: {}}}\n", ""},
		{"path twice", "paths: {/y: {}}\n", "/y is there already"},
		{"schema twice", "components: {schemas: {A: {}}}\n", "part.yaml: schemas: A is there already"},
		{"no YAML", "paths: [\n", "part.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := merge(fstest.MapFS{
				"base.yaml":  {Data: []byte(base)},
				"other.yaml": {Data: []byte("paths: {/y: {}}\n")},
				"part.yaml":  {Data: []byte(c.part)},
			})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v, want %q in it", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			paths, components := doc["paths"].(map[string]any), doc["components"].(map[string]any)
			if len(paths) != 2 || len(components["schemas"].(map[string]any)) != 2 || len(components["headers"].(map[string]any)) != 1 {
				t.Errorf("got %v", doc)
			}
		})
	}
}

package app

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/feedmill/feedmill/internal/api/openapi"
)

// TestSchemas holds what comes with the program to the schemas that editors check
// such files with.
func TestSchemas(t *testing.T) {
	manifests := map[string]string{}
	files, err := filepath.Glob("../source/manifest/builtin/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifests[filepath.Base(file)] = string(data)
	}
	for _, group := range []struct {
		schema string
		files  map[string]string
		wrong  string
	}{
		{"ServiceManifest", manifests, "service: x\nbaseUrl: https://x\nviews: {v: {fields: {f: {type: int}}}}"},
		{"RestFeed", recipes(t), "request: {url: 7}"},
	} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.Schema(group.schema)))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("schema.json", doc); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("schema.json")
		if err != nil {
			t.Fatal(err)
		}
		group.files = maps.Clone(group.files)
		group.files["(wrong)"] = group.wrong
		for name, text := range group.files {
			var value any
			if err := yaml.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(name, err)
			}
			asJSON, err := json.Marshal(value)
			if err != nil {
				t.Fatal(name, err)
			}
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
			if err != nil {
				t.Fatal(name, err)
			}
			if err := schema.Validate(document); (err != nil) != (name == "(wrong)") {
				t.Errorf("%s against %s: %v", name, group.schema, err)
			}
		}
	}
}

package openapi

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// visit calls f with every object of the document that is not a part of an example, and
// with where it is.
func visit(part any, at string, f func(at string, object map[string]any)) {
	switch part := part.(type) {
	case map[string]any:
		f(at, part)
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if _, isMember := part["type"].(string); !isMember && (key == "example" || key == "examples") {
				continue
			}
			visit(part[key], at+"/"+key, f)
		}
	case []any:
		for _, element := range part {
			visit(element, at, f)
		}
	}
}

// faultsOf lists what generators of code cannot read, and descriptions that YAML cut off.
func faultsOf(doc map[string]any) (faults []string) {
	visit(doc, "", func(at string, object map[string]any) {
		for key, value := range object {
			if value == nil {
				faults = append(faults, at+": "+key+" has no value; a description with a comma needs quotes")
			}
		}
		if _, several := object["type"].([]any); several {
			faults = append(faults, at+": write anyOf instead of several types")
		}
		properties, _ := object["properties"].(map[string]any)
		for name, property := range properties {
			schema, ok := property.(map[string]any)
			if !ok {
				faults = append(faults, at+": "+name+" is a boolean schema; write {not: {}}")
			}
			if _, has := schema["default"]; has && strings.HasPrefix(at, "/components/schemas/") {
				faults = append(faults, at+": "+name+" has a default, which makes it required in TypeScript; put it into the description")
			}
		}
	})
	names := make(map[string]string)
	components, _ := doc["components"].(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(components)) {
		if kind == "securitySchemes" || kind == "headers" {
			continue
		}
		for name := range components[kind].(map[string]any) {
			if other := names[strings.ToLower(name)]; other != "" {
				faults = append(faults, kind+"/"+name+" has the name of "+other)
			}
			names[strings.ToLower(name)] = kind + "/" + name
		}
	}
	slices.Sort(faults)
	return faults
}

func TestGeneratorsCanReadTheDocument(t *testing.T) {
	for _, fault := range faultsOf(document()) {
		t.Error(fault)
	}
}

func TestFaultsAreFound(t *testing.T) {
	schemas := map[string]any{
		"Cut":     map[string]any{"description": "One", " two.": nil},
		"Several": map[string]any{"type": []any{"string", "null"}},
		"Never":   map[string]any{"properties": map[string]any{"x": false}},
		"Default": map[string]any{"properties": map[string]any{"x": map[string]any{"default": 1}}},
	}
	faults := faultsOf(map[string]any{"components": map[string]any{"schemas": schemas, "parameters": map[string]any{"cut": map[string]any{}}}})
	if len(faults) != 5 {
		t.Errorf("found %d faults, want 5: %q", len(faults), faults)
	}
}

// TestWebhooks checks that every event type has its payload in the document.
func TestWebhooks(t *testing.T) {
	catalogue, err := feedmill.NewCatalogue(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	webhooks := document()["webhooks"].(map[string]any)
	for _, e := range append(catalogue.Types(), feedmill.EventType{Name: "test.ping"}) {
		item, ok := webhooks[e.Name].(map[string]any)
		if !ok {
			t.Errorf("%s is not in the webhooks", e.Name)
			continue
		}
		body := item["post"].(map[string]any)["requestBody"].(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)
		properties := body["schema"].(map[string]any)["properties"].(map[string]any)
		for _, member := range []string{"id", "type", "timestamp", "resourceId", "data"} {
			if properties[member] == nil {
				t.Errorf("the payload of %s lacks %s", e.Name, member)
			}
		}
	}
}

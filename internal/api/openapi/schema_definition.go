package openapi

import (
	"encoding/json"
	"maps"
	"slices"
)

// definitionKinds are the schemas of the requests that create an object of each kind. A feed of an
// upload has a file instead of a request.
var definitionKinds = []struct {
	kind     string
	requests []any
}{
	{"Connection", []any{"NewConnection"}},
	{"SQLView", []any{map[string]any{
		"type": "object", "required": []any{"serviceName", "sql"},
		"properties": map[string]any{
			"serviceName": map[string]any{"type": "string", "description": "The service of the connection."},
			"sql":         map[string]any{"type": "string", "description": "One statement that reads."},
		},
	}}},
	{"Feed", []any{"RestFeed", "QueryFeed", map[string]any{
		"type": "object", "required": []any{"file"},
		"properties": map[string]any{"file": map[string]any{"type": "string", "description": "The file to upload, relative to the document."}},
	}}},
	{"Subscription", []any{"SubscriptionFields"}},
}

// DefinitionSchema is the JSON Schema of the documents that feedmill apply reads.
func DefinitionSchema() []byte {
	components := document()["components"].(map[string]any)["schemas"].(map[string]any)
	needed := map[string]any{"SecretReference": secretReference}
	var kinds, branches []any
	for _, d := range definitionKinds {
		var requests []any
		for _, request := range d.requests {
			if name, ok := request.(string); ok {
				request = standalone(components[name], components, needed)
			}
			requests = append(requests, inDefinition(request.(map[string]any)))
		}
		kinds = append(kinds, d.kind)
		branches = append(branches, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": d.kind}}},
			"then": map[string]any{"anyOf": requests},
		})
	}
	handle := standalone(map[string]any{"$ref": inDocument + "Handle"}, components, needed)
	for name, schema := range needed {
		if name != "SecretReference" && name != "Handle" {
			needed[name] = withReferences(schema)
		}
	}
	text, err := json.Marshal(map[string]any{
		"$schema": dialect, "title": "An object of a Feedmill workspace, for feedmill apply",
		"type": "object", "required": []any{"kind", "name"},
		"properties": map[string]any{
			"kind":  map[string]any{"enum": kinds},
			"name":  handle,
			"label": map[string]any{"type": "string", "description": "What users call the object. The default is name."},
			"id":    map[string]any{"type": "string", "description": "The existing object that this document describes."},
		},
		"allOf": branches, "$defs": needed,
	})
	if err != nil {
		panic(err)
	}
	return text
}

var secretReference = func() map[string]any {
	reference := func(name, description string, value map[string]any) any {
		return map[string]any{
			"type": "object", "required": []any{name}, "additionalProperties": false, "description": description,
			"properties": map[string]any{name: value},
		}
	}
	text := map[string]any{"type": "string"}
	return map[string]any{"anyOf": []any{
		reference("env", "The value of an environment variable.", text),
		reference("file", "The content of a file, relative to the document.", text),
		reference("keep", "The value that the server has.", map[string]any{"const": true}),
	}}
}()

// inDefinition is the schema of a request as a document has it: with the members that every
// document has, and without those that have a default there.
func inDefinition(schema map[string]any) map[string]any {
	schema = maps.Clone(schema)
	for _, name := range []string{"oneOf", "anyOf"} {
		if branches, ok := schema[name].([]any); ok {
			branches = slices.Clone(branches)
			for i := range branches {
				branches[i] = inDefinition(branches[i].(map[string]any))
			}
			schema[name] = branches
		}
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return schema
	}
	properties = withReferences(properties).(map[string]any)
	for _, name := range []string{"kind", "name", "label", "id", "type", "set"} {
		properties[name] = true
	}
	schema["properties"] = properties
	if required, ok := schema["required"].([]any); ok && properties["connector"] != nil {
		schema["required"] = slices.DeleteFunc(slices.Clone(required), func(name any) bool { return name == "serviceName" })
	}
	return schema
}

// withReferences lets each text be a reference to a secret.
func withReferences(part any) any {
	switch part := part.(type) {
	case map[string]any:
		made := make(map[string]any, len(part))
		for key, value := range part {
			if key == "const" || key == "enum" || key == "example" || key == "default" {
				made[key] = value
			} else {
				made[key] = withReferences(value)
			}
		}
		if part["type"] == "string" && part["enum"] == nil && part["const"] == nil {
			return map[string]any{"anyOf": []any{made, map[string]any{"$ref": "#/$defs/SecretReference"}}}
		}
		return made
	case []any:
		made := make([]any, len(part))
		for i, value := range part {
			made[i] = withReferences(value)
		}
		return made
	}
	return part
}

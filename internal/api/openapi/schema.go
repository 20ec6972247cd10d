package openapi

import (
	"encoding/json"
	"strings"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is one of the document's schemas as a JSON Schema of its own, with those
// that it refers to. title is its title.
func Schema(name, title string) []byte {
	components := document()["components"].(map[string]any)["schemas"].(map[string]any)
	needed := map[string]any{}
	root := standalone(components[name], components, needed).(map[string]any)
	root["$schema"], root["title"], root["$defs"] = dialect, title, needed
	text, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return text
}

const inDocument = "#/components/schemas/"

// standalone is a part of a schema that refers to definitions beside it, which are
// added to those needed.
func standalone(part any, components, needed map[string]any) any {
	switch part := part.(type) {
	case map[string]any:
		made := make(map[string]any, len(part))
		for key, value := range part {
			text, isText := value.(string)
			name, refers := strings.CutPrefix(text, inDocument)
			if key != "$ref" || !isText || !refers {
				made[key] = standalone(value, components, needed)
				continue
			}
			made[key] = "#/$defs/" + name
			if _, there := needed[name]; !there {
				needed[name] = nil // which ends what refers to itself
				needed[name] = standalone(components[name], components, needed)
			}
		}
		return made
	case []any:
		made := make([]any, len(part))
		for i, value := range part {
			made[i] = standalone(value, components, needed)
		}
		return made
	}
	return part
}

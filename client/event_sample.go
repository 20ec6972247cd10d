package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// Sample makes data of the type from its schema: its examples, or values of the right types.
func (t EventType) Sample() (json.RawMessage, error) {
	var s sampleSchema
	if err := json.Unmarshal(t.Schema, &s); err != nil {
		return nil, fmt.Errorf("the schema of %s has no sample: %w", t.Name, err)
	}
	data, ok := s.value(0).(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	return json.Marshal(data)
}

// sampleSchema is the part of a JSON Schema that a sample is made from.
type sampleSchema struct {
	Const      json.RawMessage         `json:"const"`
	Default    json.RawMessage         `json:"default"`
	Example    json.RawMessage         `json:"example"`
	Examples   []json.RawMessage       `json:"examples"`
	Enum       []json.RawMessage       `json:"enum"`
	Type       schemaTypes             `json:"type"`
	Format     string                  `json:"format"`
	Pattern    string                  `json:"pattern"`
	Minimum    json.Number             `json:"minimum"`
	Properties map[string]sampleSchema `json:"properties"`
	Items      *sampleSchema           `json:"items"`
	AnyOf      []sampleSchema          `json:"anyOf"`
	OneOf      []sampleSchema          `json:"oneOf"`
	AllOf      []sampleSchema          `json:"allOf"`
}

// UnmarshalJSON reads a schema. The schemas true and false say nothing.
func (s *sampleSchema) UnmarshalJSON(b []byte) error {
	if text := string(bytes.TrimSpace(b)); text == "true" || text == "false" {
		return nil
	}
	type plain sampleSchema
	return json.Unmarshal(b, (*plain)(s))
}

// schemaTypes are the types of a schema: a text or an array of texts.
type schemaTypes []string

// UnmarshalJSON reads both forms.
func (t *schemaTypes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = schemaTypes{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// maxSampleDepth bounds the depth of a sample.
const maxSampleDepth = 16

// value is a sample of the schema. Examples in it take precedence.
func (s sampleSchema) value(depth int) any {
	given := append(slices.Concat([]json.RawMessage{s.Const, s.Example}, s.Examples, []json.RawMessage{s.Default}), s.Enum...)
	for _, v := range given {
		if v != nil {
			return v
		}
	}
	if depth == maxSampleDepth {
		return nil
	}
	for _, of := range slices.Concat(s.AnyOf, s.OneOf) {
		if !slices.Equal(of.Type, schemaTypes{"null"}) {
			return of.value(depth + 1)
		}
	}
	if len(s.AllOf) > 0 {
		return s.merged(depth)
	}
	return s.valueOfType(depth)
}

// merged is a sample of an object that several schemas describe.
func (s sampleSchema) merged(depth int) any {
	all := make(map[string]any)
	own := s
	own.AllOf = nil
	for _, of := range append(slices.Clone(s.AllOf), own) {
		if o, ok := of.value(depth + 1).(map[string]any); ok {
			maps.Copy(all, o)
		}
	}
	return all
}

func (s sampleSchema) valueOfType(depth int) any {
	types := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	of := ""
	if len(types) > 0 {
		of = types[0]
	}
	switch {
	case of == "object", of == "" && len(s.Properties) > 0:
		o := make(map[string]any, len(s.Properties))
		for name, p := range s.Properties {
			o[name] = p.value(depth + 1)
		}
		return o
	case of == "array":
		if s.Items == nil {
			return []any{}
		}
		return []any{s.Items.value(depth + 1)}
	case of == "boolean":
		return true
	case of == "integer", of == "number":
		if n, err := s.Minimum.Float64(); err == nil && n > 42 {
			return s.Minimum
		}
		return 42
	case of == "string":
		return s.text()
	}
	return nil
}

// idPattern is the pattern of an ID, whose prefix it captures.
var idPattern = regexp.MustCompile(`^\^([a-z]+)_\[`)

// text is a sample of a text.
func (s sampleSchema) text() string {
	if m := idPattern.FindStringSubmatch(s.Pattern); m != nil {
		return string(feedmill.NewID(m[1]))
	}
	switch s.Format {
	case "date-time":
		return time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	case "date":
		return time.Now().UTC().Format(time.DateOnly)
	case "time":
		return "12:00:00Z"
	case "duration":
		return "PT1H"
	case "email":
		return "ada@example.com"
	case "uri", "url":
		return "https://example.com/"
	case "uuid":
		return "01890a5d-ac96-774b-bcce-b302099a8057"
	case "hostname":
		return "example.com"
	case "ipv4":
		return "192.0.2.1"
	}
	return "sample"
}

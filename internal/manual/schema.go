package manual

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// schema is what is shown of a JSON Schema.
type schema struct {
	Ref                  string `json:"$ref"`
	Title, Description   string
	Type                 kinds
	Format               string
	Enum                 []any
	Const                any
	Default              any
	Examples             []any
	Example              any
	Minimum, Maximum     *json.Number
	MaxLength            *int64
	Properties           map[string]*schema
	Required             []string
	Items                *schema
	AllOf, OneOf, AnyOf  []*schema
	AdditionalProperties json.RawMessage
	WriteOnly            bool
}

// UnmarshalJSON accepts the schemas true and false, too.
func (s *schema) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '{' {
		return nil
	}
	type plain schema
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*plain)(s))
}

// kinds are the types of a schema: one, or several.
type kinds []string

func (k *kinds) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(k))
	}
	var one string
	err := json.Unmarshal(text, &one)
	*k = kinds{one}
	return err
}

// field is a row of a table: a parameter, or a member of a body.
type field struct {
	Name, Type string
	Depth      int
	Required   bool
	Text       template.HTML
}

// body is one form of a request body.
type body struct {
	Media, Title string
	Fields       []field
}

const (
	// maxDepth is how deep the members of a body are shown.
	maxDepth = 2
	// maxFields is how many members of a body are shown.
	maxFields = 60
)

// follow resolves references and puts the parts of allOf together.
func (d *document) follow(s *schema) *schema {
	for range 8 {
		name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/")
		if !ok {
			break
		}
		text := s.Description
		resolved := *d.Components.Schemas[name]
		if text != "" {
			resolved.Description = text
		}
		if resolved.Title == "" {
			resolved.Title = name
		}
		s = &resolved
	}
	if len(s.AllOf) == 0 {
		return s
	}
	joined := *s
	joined.AllOf, joined.Properties = nil, maps.Clone(s.Properties)
	if joined.Properties == nil {
		joined.Properties = make(map[string]*schema)
	}
	for _, part := range s.AllOf {
		part = d.follow(part)
		maps.Copy(joined.Properties, part.Properties)
		joined.Required = append(slices.Clone(joined.Required), part.Required...)
		if len(joined.Type) == 0 {
			joined.Type = part.Type
		}
		if joined.Description == "" {
			joined.Description = part.Description
		}
	}
	return &joined
}

func (d *document) field(name string, s *schema, required bool) field {
	if s == nil {
		s = &schema{}
	}
	r := d.follow(s)
	f := field{Name: name, Required: required, Type: d.kind(r)}
	var text []string
	if r.Description != "" {
		text = append(text, strings.TrimSpace(r.Description))
	}
	if len(r.Enum) > 0 {
		var values []string
		for _, v := range r.Enum {
			values = append(values, fmt.Sprintf("`%v`", v))
		}
		text = append(text, "One of "+strings.Join(values, ", ")+".")
	}
	if r.Minimum != nil && r.Maximum != nil {
		text = append(text, fmt.Sprintf("%s to %s.", *r.Minimum, *r.Maximum))
	}
	if r.MaxLength != nil {
		text = append(text, fmt.Sprintf("At most %d characters.", *r.MaxLength))
	}
	if r.Default != nil {
		value, _ := json.Marshal(r.Default)
		text = append(text, "Default: `"+strings.Trim(string(value), `"`)+"`.")
	}
	f.Text = inline(strings.Join(text, " "))
	return f
}

// kind is the type of a schema in a word.
func (d *document) kind(s *schema) string {
	types := slices.DeleteFunc(slices.Clone([]string(s.Type)), func(t string) bool { return t == "null" })
	switch {
	case len(s.Enum) > 0:
		return "enum"
	case s.Format == "date-time" || s.Format == "date" || s.Format == "uri":
		return s.Format
	case len(types) == 1 && types[0] == "array" && s.Items != nil:
		return "array of " + d.kind(d.follow(s.Items))
	case len(types) > 0:
		return strings.Join(types, " or ")
	case len(s.OneOf)+len(s.AnyOf) > 0:
		var words []string
		for _, v := range slices.Concat(s.OneOf, s.AnyOf) {
			if w := d.kind(d.follow(v)); w != "null" && w != "any" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	case s.Const != nil:
		return fmt.Sprintf("%q", s.Const)
	case s.Properties != nil:
		return "object"
	}
	return "any"
}

// bodies are the forms of a request body: one for each schema.
func (d *document) bodies(o described) []body {
	var all []body
	seen := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(o.RequestBody.Content)) {
		s := o.RequestBody.Content[name].Schema
		if s == nil {
			continue
		}
		for _, v := range d.variants(s) {
			b := body{Media: name, Title: v.Title}
			d.members(&b.Fields, "", v, 0)
			key := fmt.Sprint(b.Title, len(b.Fields))
			if len(b.Fields) > 0 && !seen[key] {
				seen[key] = true
				all = append(all, b)
			}
		}
	}
	return all
}

func (d *document) variants(s *schema) []*schema {
	s = d.follow(s)
	if alternatives := slices.Concat(s.OneOf, s.AnyOf); len(alternatives) > 0 && len(s.Properties) == 0 {
		var all []*schema
		for _, v := range alternatives {
			all = append(all, d.variants(v)...)
		}
		return all
	}
	if s.Items != nil {
		return d.variants(s.Items)
	}
	return []*schema{s}
}

// members lists the members of an object, those that are required first.
func (d *document) members(into *[]field, prefix string, s *schema, depth int) {
	for _, name := range order(s) {
		if len(*into) >= maxFields {
			return
		}
		member := s.Properties[name]
		f := d.field(prefix+name, member, slices.Contains(s.Required, name))
		f.Depth = depth
		*into = append(*into, f)
		if inner := d.follow(member); depth+1 < maxDepth && len(inner.Properties) > 0 {
			d.members(into, prefix+name+".", inner, depth+1)
		}
	}
}

// order sorts the members of an object: the id first, then those that are required.
func order(s *schema) []string {
	names := slices.Sorted(maps.Keys(s.Properties))
	rank := func(name string) int {
		switch {
		case name == "id" || name == "meta":
			return 0
		case slices.Contains(s.Required, name):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(names, func(x, y string) int { return rank(x) - rank(y) })
	return names
}

package manual

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed samples.yaml
var samplesText []byte

// written are the examples that cannot be derived from the document.
type written struct {
	// Curl replaces the derived command.
	Curl string
	CLI  string
	Go   string
	// TypeScript and Python replace the derived calls.
	TypeScript string `yaml:"typescript"`
	Python     string
}

// readSamples returns the written examples by the ids of their operations.
var readSamples = sync.OnceValue(func() map[string]written {
	all := make(map[string]written)
	if err := yaml.Unmarshal(samplesText, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
})

// samples are the examples of an operation.
func (d *document) samples(method, at string, o described) []sample {
	w := readSamples()[o.OperationID]
	curl := w.Curl
	if curl == "" {
		curl = d.curl(method, at, o)
	}
	return []sample{
		{"curl", highlight("sh", curl)},
		{"CLI", highlight("sh", cmp.Or(w.CLI, "# The command line does not have this operation."))},
		{"Go", highlight("go", cmp.Or(w.Go, "// The package client does not have this operation."))},
		{"TypeScript", highlight("js", d.typeScript(at, o))},
		{"Python", highlight("python", d.python(at, o))},
	}
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// curl is the command that makes a request with the example of the document.
func (d *document) curl(method, at string, o described) string {
	target := inPath.ReplaceAllStringFunc(at, func(name string) string { return "$" + strings.ToUpper(strings.Trim(name, "{}")) })
	var b strings.Builder
	fmt.Fprintf(&b, `curl "$FEEDMILL_SERVER%s"`, target)
	if method != "get" && method != "post" {
		fmt.Fprintf(&b, " -X %s", strings.ToUpper(method))
	}
	if _, ok := o.Responses["401"]; ok {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $FEEDMILL_API_KEY\"")
	}
	if m, ok := o.RequestBody.Content["application/json"]; ok {
		fmt.Fprintf(&b, " \\\n  --json '%s'", strings.ReplaceAll(d.example(m), "'", `'\''`))
	} else if method == "post" {
		b.WriteString(" \\\n  -X POST")
	}
	return b.String()
}

// example is an example of a body, as JSON: one of the document, or one that its schema allows.
func (d *document) example(m media) string {
	raw := m.Example
	if raw == nil && len(m.Examples) > 0 {
		raw = m.Examples[slices.Sorted(maps.Keys(m.Examples))[0]].Value
	}
	if raw == nil && m.Schema != nil {
		var b bytes.Buffer
		d.value(&b, m.Schema, 0)
		raw = b.Bytes()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		panic(fmt.Sprintf("%v: %s", err, raw)) // the document is part of the program
	}
	return out.String()
}

// maxMembers is how many members of an object are in an example, unless more are required.
const maxMembers = 12

// value writes a value that a schema allows. It is a table: the first case that applies decides.
func (d *document) value(b *bytes.Buffer, s *schema, depth int) {
	s = d.follow(s)
	plain := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // it comes from JSON
		}
		b.Write(text)
	}
	kind := ""
	if len(s.Type) > 0 {
		kind = s.Type[0]
	}
	switch {
	case len(s.Examples) > 0:
		plain(s.Examples[0])
	case s.Example != nil:
		plain(s.Example)
	case s.Const != nil:
		plain(s.Const)
	case s.Default != nil:
		plain(s.Default)
	case len(s.Enum) > 0:
		plain(s.Enum[0])
	case len(s.Properties) > 0 && depth < 4:
		names := order(s)
		b.WriteByte('{')
		for i, name := range names[:min(len(names), maxMembers)] {
			if i > 0 {
				b.WriteByte(',')
			}
			plain(name)
			b.WriteByte(':')
			d.value(b, s.Properties[name], depth+1)
		}
		b.WriteByte('}')
	case kind == "array" && s.Items != nil && depth < 4:
		b.WriteByte('[')
		d.value(b, s.Items, depth+1)
		b.WriteByte(']')
	case len(s.OneOf) > 0:
		d.value(b, s.OneOf[0], depth)
	case len(s.AnyOf) > 0:
		d.value(b, s.AnyOf[0], depth)
	case kind == "array":
		b.WriteString("[]")
	case kind == "object" || len(s.Properties) > 0:
		b.WriteString("{}")
	case kind == "integer" || kind == "number":
		b.WriteString("1")
	case kind == "boolean":
		b.WriteString("true")
	case s.Format == "date-time":
		plain("2026-11-15T12:00:00.000Z")
	case kind == "string":
		plain("…")
	default:
		b.WriteString("null")
	}
}

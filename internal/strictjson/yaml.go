package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// maxAliased is the maximum number of values that the aliases of a document can expand to.
// Without it, a few lines of nested aliases could use all memory.
const maxAliased = 10_000

// jsonTags lists the tags of YAML's JSON schema, which have equivalents in JSON.
var jsonTags = []string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null"}

// ReadYAML parses a YAML text as [Read] parses JSON, and returns the values of the
// equivalent JSON document. Constructs without a JSON equivalent are faults and make ok
// false: tags outside YAML's JSON schema, merge keys, numbers that are not JSON numbers,
// and keys that are not strings. A YAML timestamp becomes its text.
func ReadYAML(data []byte, note Note) (v Value, ok bool) {
	if marks := countMarks(data); marks > 2*MaxValues {
		note("", tooMany)
		return v, false
	}
	var doc, second yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(data))
	err := documents.Decode(&doc)
	if errors.Is(err, io.EOF) {
		note("", "The YAML is empty.")
		return v, false
	}
	if err == nil {
		if err = documents.Decode(&second); err == nil {
			note("", fmt.Sprintf("A second YAML document starts at line %d. Send a single document.", second.Line))
			return v, false
		}
	}
	if !errors.Is(err, io.EOF) {
		note("", invalidYAML(data, err))
		return v, false
	}
	r := yamlReader{note: note}
	v, _ = r.value(doc.Content[0], "", 0)
	return v, !r.failed
}

// ReadYAMLDocuments parses all documents of a YAML text as [ReadYAML] parses one. Empty
// documents are left out. A document with a fault is left out, too, and makes ok false.
func ReadYAMLDocuments(data []byte, note Note) (all []Value, ok bool) {
	ok = true
	documents := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := documents.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all, ok
		}
		if err != nil {
			note("", invalidYAML(data, err))
			return all, false
		}
		if doc.Content[0].ShortTag() == "!!null" {
			continue
		}
		r := yamlReader{note: func(pointer, detail string) bool {
			return note(pointer, fmt.Sprintf("%s (document%s%d)", detail, atLine, doc.Content[0].Line))
		}}
		if v, _ := r.value(doc.Content[0], "", 0); r.failed {
			ok = false
		} else {
			all = append(all, v)
		}
	}
}

// countMarks counts the separators between values. It finds texts with too many values
// before they are parsed.
func countMarks(data []byte) (n int) {
	for _, mark := range []byte(",:-\n") {
		n += bytes.Count(data, []byte{mark})
	}
	return n
}

// invalidYAML returns the detail of a fault for a text that is not valid YAML. The parser's
// message quotes the text, which can hold a secret, so only the line is taken from it.
func invalidYAML(data []byte, err error) string {
	line := brokenLine(data)
	if line == 0 {
		_, _ = fmt.Sscanf(err.Error(), "yaml: line %d:", &line)
	}
	where := ""
	if line > 0 {
		where = atLine + fmt.Sprint(line)
	}
	return "Invalid YAML" + where + ": check the indentation, colons, quotes and anchors there."
}

// yamlReader converts the nodes of a YAML document to values.
type yamlReader struct {
	note    Note
	aliased int  // values that aliases were expanded to
	inAlias bool // whether the current value is one of them
	failed  bool
}

func (r *yamlReader) fault(pointer, detail string) (Value, bool) {
	r.note(pointer, detail)
	r.failed = true
	return Value{}, false
}

// value converts a node, which is nested in depth arrays and objects.
func (r *yamlReader) value(n *yaml.Node, at string, depth int) (v Value, ok bool) {
	if n.Kind == yaml.AliasNode {
		defer func(before bool) { r.inAlias = before }(r.inAlias)
		r.inAlias, n = true, n.Alias
	}
	if r.inAlias {
		r.aliased++
	}
	switch {
	case r.aliased == maxAliased+1 && r.inAlias:
		return r.fault(at, fmt.Sprintf("The YAML aliases expand to more than %d values. Use fewer aliases.", maxAliased))
	case r.aliased > maxAliased:
		return v, false
	case n.Style&yaml.TaggedStyle != 0 && !slices.Contains(jsonTags, n.ShortTag()):
		return r.fault(at, "The tag has no equivalent in JSON. Remove it.")
	case n.Kind == yaml.ScalarNode:
		v, ok = r.scalar(n, at)
	case depth == MaxDepth:
		return r.fault(at, fmt.Sprintf("The YAML is nested more than %d levels deep, the maximum.", MaxDepth))
	case n.Kind == yaml.SequenceNode:
		v, ok = Value{Kind: '['}, true
		for i, child := range n.Content {
			item, _ := r.value(child, fmt.Sprintf("%s/%d", at, i), depth+1)
			v.Items = append(v.Items, item)
		}
	default:
		v, ok = r.object(n, at, depth), true
	}
	v.Line = int32(n.Line)
	return v, ok
}

func (r *yamlReader) object(n *yaml.Node, at string, depth int) Value {
	v := Value{Kind: '{'}
	seen := make(map[string]bool)
	for i := 0; i < len(n.Content); i += 2 {
		key, ok := r.value(n.Content[i], at, depth+1)
		if ok && key.Kind != '"' {
			r.fault(at, fmt.Sprintf("The key at line %d is not a string. Put it in quotes.", n.Content[i].Line))
		}
		if !ok || key.Kind != '"' {
			continue
		}
		name := key.Text()
		pointer := at + "/" + EscapePointer(name)
		if seen[name] {
			r.note(pointer, duplicate)
		}
		seen[name] = true
		item, _ := r.value(n.Content[i+1], pointer, depth+1)
		v.Members = append(v.Members, Member{name, item})
	}
	return v
}

func (r *yamlReader) scalar(n *yaml.Node, at string) (Value, bool) {
	plain := n.Style&^yaml.TaggedStyle == 0
	word := strings.ToLower(n.Value)
	switch tag := n.ShortTag(); {
	case tag == "!!str" && (n.Style != 0 || !isNumber(n.Value)), tag == "!!timestamp":
		return String(n.Value), true
	case plain && isNumber(n.Value):
		return Value{Kind: '0', Raw: []byte(n.Value)}, true
	case plain && tag == "!!bool" && (word == "true" || word == "false"):
		return Value{Kind: Kind(word[0]), Raw: []byte(word)}, true
	case plain && tag == "!!null" && (word == "null" || word == "~" || word == ""):
		return Value{Kind: 'n', Raw: []byte("null")}, true
	case tag == "!!merge":
		return r.fault(at, "Merge keys (<<) are not supported. Write out the members.")
	case tag == "!!int", tag == "!!float":
		return r.fault(at, "The number is not valid in JSON. Write it as in JSON, or put it in quotes if it is text.")
	}
	return r.fault(at, "The value does not match its tag.")
}

// isNumber reports whether a text is a JSON number.
func isNumber(text string) bool {
	v := jsontext.Value(text)
	return v.Kind() == '0' && v.IsValid() && !strings.ContainsAny(text, " \t\r\n")
}

// Package strictjson reads documents that users write, such as request bodies, definitions
// and manifests, in JSON or YAML. It reports every fault with its JSON Pointer, so that
// users see all of them together: duplicate keys, unknown members, values of the wrong
// kind.
//
// It is a leaf package: any package can import it, and it imports no other packages of
// this module except leaves.
package strictjson

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a value: 'n' for null, 't' and 'f' for the booleans, '"'
// for a string, '0' for a number, '{' for an object and '[' for an array.
type Kind = jsontext.Kind

// Value is a complete JSON value.
type Value struct {
	Kind Kind
	// Line is the line at which the value starts in a YAML text, from 1.
	Line int32
	// Raw is the JSON text of the value. Arrays and objects only have it if they were read
	// from JSON; it does not reflect later changes.
	Raw     []byte
	Members []Member
	Items   []Value
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// String returns a string value. Invalid UTF-8 is replaced with U+FFFD.
func String(s string) Value {
	raw, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		raw, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return Value{Kind: '"', Raw: raw}
}

// Text returns the text of a string value.
func (v *Value) Text() string {
	s, _ := jsontext.AppendUnquote(nil, v.Raw)
	return string(s)
}

// Append appends the value to b as compact JSON.
func (v *Value) Append(b []byte) []byte {
	switch v.Kind {
	case '{':
		b = append(b, '{')
		for i := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			name := String(v.Members[i].Name)
			b = append(append(b, name.Raw...), ':')
			b = v.Members[i].Value.Append(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Items[i].Append(b)
		}
		return append(b, ']')
	}
	return append(b, v.Raw...)
}

// Clone returns a deep copy of v. Both share Raw.
func (v *Value) Clone() Value {
	c := *v
	c.Members, c.Items = nil, nil
	for i := range v.Members {
		c.Members = append(c.Members, Member{v.Members[i].Name, v.Members[i].Value.Clone()})
	}
	for i := range v.Items {
		c.Items = append(c.Items, v.Items[i].Clone())
	}
	return c
}

// Member returns the value of a member, or nil. It returns the first of duplicates.
func (v *Value) Member(name string) *Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Set sets the value of a member. A new member is added at the end.
func (v *Value) Set(name string, value Value) {
	if old := v.Member(name); old != nil {
		*old = value
		return
	}
	v.Members = append(v.Members, Member{name, value})
}

// Remove removes a member.
func (v *Value) Remove(name string) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			v.Members = append(v.Members[:i:i], v.Members[i+1:]...)
			return
		}
	}
}

// At returns the value at a JSON Pointer, or nil.
func (v *Value) At(pointer string) *Value {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = UnescapePointer(token)
		switch v.Kind {
		case '{':
			v = v.Member(token)
		case '[':
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v.Items) {
				return nil
			}
			v = &v.Items[i]
		default:
			return nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// EscapePointer escapes a name for use as a token of a JSON Pointer.
func EscapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// UnescapePointer returns the name that a token of a JSON Pointer represents.
func UnescapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// KindName returns the name of a kind with its article, for messages.
func KindName(k Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "this"
}

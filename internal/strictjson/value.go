// Package strictjson reads documents that people write, such as the bodies of
// requests, definitions and manifests, in JSON or YAML. It notes every fault
// with its JSON Pointer, so that whoever wrote the document hears of all of them
// at once: duplicate keys, members that nobody asked for, values of the wrong
// kind.
//
// It is a leaf. Every package may import it, and it imports nothing of ours but
// other leaves.
package strictjson

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a value: 'n' for null, 't' and 'f' for the booleans, '"'
// for a string, '0' for a number, '{' for an object and '[' for an array.
type Kind = jsontext.Kind

// Value is a value that has been read completely.
type Value struct {
	Kind Kind
	// Line is where the value begins in a YAML text, from 1.
	Line int32
	// Raw is the JSON text of the value. Arrays and objects have it where they
	// were read from JSON, and it does not follow what is changed in them.
	Raw     []byte
	Members []Member
	Items   []Value
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// String is the value of a text. What is no UTF-8 in it is replaced.
func String(s string) Value {
	raw, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		raw, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return Value{Kind: '"', Raw: raw}
}

// Text is the text of a string.
func (v *Value) Text() string {
	s, _ := jsontext.AppendUnquote(nil, v.Raw)
	return string(s)
}

// Append appends the value as JSON text without white space between its parts.
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

// Clone is a copy that shares no parts with v.
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

// Member is the value of a name, or nil. Of a duplicate name it is the first.
func (v *Value) Member(name string) *Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Set gives a name a value, at the end where it is new.
func (v *Value) Set(name string, value Value) {
	if old := v.Member(name); old != nil {
		*old = value
		return
	}
	v.Members = append(v.Members, Member{name, value})
}

// Remove takes a name away.
func (v *Value) Remove(name string) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			v.Members = append(v.Members[:i:i], v.Members[i+1:]...)
			return
		}
	}
}

// At is the value at a JSON Pointer, or nil.
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

// EscapePointer writes a name as a token of a JSON Pointer.
func EscapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// UnescapePointer is the name that a token of a JSON Pointer stands for.
func UnescapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// KindName is what people call a value of the kind, with its article.
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

package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// maxDepth is how deeply a definition may nest.
const maxDepth = 64

// node is a JSON value that has been read completely. Arrays and objects are
// kept as their parts, everything else as its text.
type node struct {
	kind    jsontext.Kind
	raw     jsontext.Value
	members []member
	items   []node
}

type member struct {
	name  string
	value node
}

func textNode(s string) node {
	raw, err := jsontext.AppendQuote(nil, s)
	if err != nil { // Only what is no UTF-8 fails, and is then replaced.
		raw, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return node{kind: '"', raw: raw}
}

// parseNode reads a text as one JSON value. Its error is a refusal.
func parseNode(data []byte) (node, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	n, err := readNode(d, 0)
	if err == nil {
		if _, end := d.ReadToken(); end != io.EOF {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		// The decoder's own words quote the text, which can hold a secret.
		return node{}, feedmill.Invalid("The body is no valid JSON, or has a key twice.", feedmill.Fault{
			Pointer: string(d.StackPointer()),
			Detail:  fmt.Sprintf("The JSON is not valid at byte %d.", d.InputOffset()),
		})
	}
	return n, nil
}

var errTooDeep = fmt.Errorf("the JSON nests deeper than %d levels", maxDepth)

func readNode(d *jsontext.Decoder, depth int) (node, error) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := d.ReadValue()
		return node{kind: kind, raw: bytes.Clone(raw)}, err
	}
	if depth == maxDepth {
		return node{}, errTooDeep
	}
	if _, err := d.ReadToken(); err != nil {
		return node{}, err
	}
	n := node{kind: kind}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		var name string
		if kind == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return n, err
			}
			name = token.String()
		}
		value, err := readNode(d, depth+1)
		if err != nil {
			return n, err
		}
		if kind == '{' {
			n.members = append(n.members, member{name, value})
		} else {
			n.items = append(n.items, value)
		}
	}
	_, err := d.ReadToken()
	return n, err
}

// text is the value of a string.
func (n *node) text() string {
	s, _ := jsontext.AppendUnquote(nil, n.raw)
	return string(s)
}

// append writes the value as JSON text.
func (n *node) append(b []byte) []byte {
	switch n.kind {
	case '{':
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			name := textNode(m.name)
			b = append(append(b, name.raw...), ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.items[i].append(b)
		}
		return append(b, ']')
	}
	return append(b, n.raw...)
}

// clone is a copy that shares no parts with n.
func (n *node) clone() node {
	c := node{kind: n.kind, raw: n.raw}
	for _, m := range n.members {
		c.members = append(c.members, member{m.name, m.value.clone()})
	}
	for i := range n.items {
		c.items = append(c.items, n.items[i].clone())
	}
	return c
}

// member is the value of a name, or nil.
func (n *node) member(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].value
		}
	}
	return nil
}

// set gives a name a value, at the end where it is new.
func (n *node) set(name string, value node) {
	if old := n.member(name); old != nil {
		*old = value
		return
	}
	n.members = append(n.members, member{name, value})
}

// remove takes a name away.
func (n *node) remove(name string) {
	for i := range n.members {
		if n.members[i].name == name {
			n.members = append(n.members[:i:i], n.members[i+1:]...)
			return
		}
	}
}

// at is the value at a JSON Pointer, or nil.
func (n *node) at(pointer string) *node {
	if pointer == "" {
		return n
	}
	for name := range strings.SplitSeq(pointer[1:], "/") {
		name = unescapePointer(name)
		switch n.kind {
		case '{':
			n = n.member(name)
		case '[':
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(n.items) {
				return nil
			}
			n = &n.items[i]
		default:
			return nil
		}
		if n == nil {
			return nil
		}
	}
	return n
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}

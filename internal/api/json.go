package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// maxDepth is how deeply a JSON body may nest.
const maxDepth = 64

// value is a JSON value that has been read completely: its text and, of an
// array or object, its parts.
type value struct {
	kind    jsontext.Kind
	raw     jsontext.Value
	members []member
	items   []value
}

type member struct {
	name  string
	value value
}

// part says where a text stands in the body it is part of, for the faults that
// are found in it. The zero part is the body itself.
type part struct {
	at    string // its JSON Pointer
	depth int    // how many arrays and objects it stands in
	// levels is how many levels of arrays and objects have their parts kept,
	// where not zero. What lies deeper is checked, and there as text only.
	levels int
}

// keepNone, for the levels of a part, keeps no parts at all.
const keepNone = -1

// parseJSON reads a text as one JSON value, in the manner of readJSON.
func (c *call) parseJSON(data []byte, p part) (value, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return value{}, c.malformed(p.at, "The body is empty; send a JSON object.")
	}
	r := jsonReader{c: c, part: p, data: data, d: newJSONDecoder(data)}
	v, err := r.value(p.depth)
	if err != nil {
		return value{}, err
	}
	return v, c.wantEnd(r.d)
}

func newJSONDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
}

func (c *call) wantEnd(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return c.malformed("", fmt.Sprintf("Something follows the JSON value after byte %d; send one value only.", d.InputOffset()))
	}
	return nil
}

// jsonReader reads one JSON text.
type jsonReader struct {
	part
	c    *call
	data []byte
	d    *jsontext.Decoder
}

// value reads the next value, which stands in depth arrays and objects.
func (r *jsonReader) value(depth int) (value, error) {
	kind := r.d.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := r.d.ReadValue()
		end := r.d.InputOffset()
		return value{kind: kind, raw: r.data[end-int64(len(raw)) : end]}, r.c.syntaxError(err, r.part)
	}
	if _, err := r.d.ReadToken(); err != nil {
		return value{}, r.c.syntaxError(err, r.part)
	}
	begin := r.d.InputOffset() - 1
	if depth == maxDepth {
		return value{}, r.c.malformed(r.here(), fmt.Sprintf("The JSON nests deeper than %d levels.", maxDepth))
	}
	v := value{kind: kind}
	kept := r.levels == 0 || depth-r.depth < r.levels
	read := r.item
	if kind == '{' {
		seen := make(map[string]bool)
		read = func(v *value, depth int, kept bool) error { return r.member(v, depth, kept, seen) }
	}
	for r.d.PeekKind() != '}' && r.d.PeekKind() != ']' {
		if err := read(&v, depth+1, kept); err != nil {
			return v, err
		}
	}
	_, err := r.d.ReadToken()
	v.raw = r.data[begin:r.d.InputOffset()]
	return v, r.c.syntaxError(err, r.part)
}

func (r *jsonReader) item(v *value, depth int, kept bool) error {
	item, err := r.value(depth)
	if kept {
		v.items = append(v.items, item)
	}
	return err
}

func (r *jsonReader) member(v *value, depth int, kept bool, seen map[string]bool) error {
	token, err := r.d.ReadToken()
	if err != nil {
		return r.c.syntaxError(err, r.part)
	}
	name := token.String()
	if seen[name] {
		r.c.fault(feedmill.Fault{Pointer: r.here(), Detail: "This key stands more than once in its object; name it once."})
	}
	seen[name] = true
	item, err := r.value(depth)
	if kept {
		v.members = append(v.members, member{name, item})
	}
	return err
}

// here is the place of what was read last.
func (r *jsonReader) here() string { return r.at + string(r.d.StackPointer()) }

// malformed ends the reading of a body; what was found before is listed too.
func (c *call) malformed(pointer, detail string) error {
	c.fault(feedmill.Fault{Pointer: pointer, Detail: detail})
	return c.refusal()
}

func (c *call) syntaxError(err error, p part) error {
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		// The decoder's own words quote the text, which can hold a secret.
		reason := "check the quotes, commas, brackets and escapes there, and that the text is UTF-8"
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "it ends too early"
		}
		return c.malformed(p.at+string(syntax.JSONPointer), fmt.Sprintf("This is no valid JSON at byte %d: %s.", syntax.ByteOffset, reason))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.malformed(p.at, "The JSON ends too early.")
	}
	return err
}

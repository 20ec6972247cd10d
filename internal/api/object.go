package api

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/suggest"
)

// object reads the members of a JSON object one by one and notes every fault
// with its pointer, so that a client hears of all of them at once. The names
// it is asked for are the names there may be.
type object struct {
	c       *call
	at      string
	members []member
	known   []string
}

// readObject reads the body, which must be a JSON object.
func (c *call) readObject() (*object, error) {
	v, err := c.readJSON()
	if err != nil {
		return nil, err
	}
	if v.kind != '{' {
		return nil, c.malformed("", "The body must be a JSON object.")
	}
	return &object{c: c, members: v.members}, nil
}

// readOptionalObject is readObject where no body at all means an empty object.
func (c *call) readOptionalObject() (*object, error) {
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return &object{c: c}, nil
	}
	c.r.Body = io.NopCloser(bytes.NewReader(data))
	return c.readObject()
}

// readNothing reads the body of an operation that takes none. A client that
// sends something means something by it, which would be lost; an empty object
// says nothing.
func (c *call) readNothing() error {
	data, err := c.readBody()
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return c.refusal()
	}
	v, err := c.parseJSON(data, part{})
	if err != nil {
		return err
	}
	if v.kind != '{' {
		return c.malformed("", "This operation takes no body; send none, or {}.")
	}
	return (&object{c: c, members: v.members}).done()
}

// done ends the reading: it refuses the request where anything in it is wrong.
func (o *object) done() error {
	o.refuseUnknown()
	return o.c.refusal()
}

// refuseUnknown notes the members that nobody asked for.
func (o *object) refuseUnknown() {
	for _, m := range o.members {
		if slices.Contains(o.known, m.name) || len(o.c.faults) == maxFaults {
			continue
		}
		detail := "There is no such field."
		if near := suggest.Nearest(m.name, o.known); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		o.fault(m.name, detail)
	}
}

func (o *object) fault(name, detail string) {
	o.c.fault(feedmill.Fault{Pointer: o.pointer(name), Detail: detail})
}

// pointer is the place of a member.
func (o *object) pointer(name string) string { return o.at + "/" + escapePointer(name) }

// get finds a member. Of a duplicate key, which is a fault already, it is the first.
func (o *object) get(name string) (value, bool) {
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
	for _, m := range o.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// need is get for a field that must be there.
func (o *object) need(name string) (value, bool) {
	v, ok := o.get(name)
	if !ok {
		o.fault(name, "This field is required.")
	}
	return v, ok
}

// name reads the required name of a resource: 1 to 200 characters of visible text.
func (o *object) name(field string) string {
	v, ok := o.need(field)
	if !ok {
		return ""
	}
	return o.checkName(field, v)
}

// checkName reads a name out of a value.
func (o *object) checkName(field string, v value) string {
	s, ok := o.text(field, v)
	switch {
	case !ok:
	case strings.TrimSpace(s) == "":
		o.fault(field, "The name must not be empty.")
	case utf8.RuneCountInString(s) > feedmill.MaxNameLen:
		o.fault(field, fmt.Sprintf("The name may have at most %d characters.", feedmill.MaxNameLen))
	case strings.ContainsFunc(s, isControl):
		o.fault(field, "The name must not hold control characters.")
	}
	return s
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// optionalText reads a string that may be missing.
func (o *object) optionalText(name string) string {
	v, ok := o.get(name)
	if !ok {
		return ""
	}
	s, _ := o.text(name, v)
	return s
}

func (o *object) text(name string, v value) (string, bool) {
	if v.kind != '"' {
		o.fault(name, "This must be a string, not "+kindName(v.kind)+".")
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, v.raw)
	return string(s), err == nil
}

// texts reads a required array of strings with at least one element, each with
// its index. An element that is no string is a fault and is passed over.
func (o *object) texts(name string, most int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		v, ok := o.need(name)
		switch {
		case !ok:
			return
		case v.kind != '[':
			o.fault(name, "This must be an array of strings, not "+kindName(v.kind)+".")
			return
		case len(v.items) == 0 || len(v.items) > most:
			o.fault(name, fmt.Sprintf("This must have 1 to %d elements; it has %d.", most, len(v.items)))
			return
		}
		below := &object{c: o.c, at: o.pointer(name)}
		for i, item := range v.items {
			if s, ok := below.text(fmt.Sprint(i), item); ok && !yield(i, s) {
				return
			}
		}
	}
}

func kindName(k jsontext.Kind) string {
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

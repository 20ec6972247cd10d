package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
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

// done ends the reading: it refuses the request where anything in it is wrong.
func (o *object) done() error {
	for _, m := range o.members {
		if slices.Contains(o.known, m.name) {
			continue
		}
		detail := "There is no such field."
		if near := feedmill.Nearest(m.name, o.known); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		o.fault(m.name, detail)
	}
	return o.c.refusal()
}

func (o *object) fault(name, detail string) {
	o.c.fault(feedmill.Fault{Pointer: o.at + "/" + escapePointer(name), Detail: detail})
}

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

// name reads the required name of a resource: 1 to 200 bytes of visible text.
func (o *object) name(field string) string {
	v, ok := o.need(field)
	if !ok {
		return ""
	}
	s, ok := o.text(field, v)
	switch {
	case !ok:
	case strings.TrimSpace(s) == "":
		o.fault(field, "The name must not be empty.")
	case len(s) > feedmill.MaxNameLen:
		o.fault(field, fmt.Sprintf("The name may have at most %d bytes.", feedmill.MaxNameLen))
	case strings.ContainsFunc(s, isControl):
		o.fault(field, "The name must not hold control characters.")
	}
	return s
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }

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

// texts reads a required array of strings with at least one element.
func (o *object) texts(name string, most int) []string {
	v, ok := o.need(name)
	if !ok {
		return nil
	}
	if v.kind != '[' {
		o.fault(name, "This must be an array of strings, not "+kindName(v.kind)+".")
		return nil
	}
	if len(v.items) == 0 || len(v.items) > most {
		o.fault(name, fmt.Sprintf("This must have 1 to %d elements; it has %d.", most, len(v.items)))
		return nil
	}
	list := make([]string, len(v.items))
	below := &object{c: o.c, at: o.at + "/" + escapePointer(name)}
	for i, item := range v.items {
		list[i], _ = below.text(fmt.Sprint(i), item)
	}
	return list
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

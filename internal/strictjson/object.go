package strictjson

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/suggest"
)

// Object reads the members of an object and records every fault with its position. Names
// that are requested become known; RefuseUnknown reports all others.
type Object struct {
	Value *Value
	// Pointer is the JSON Pointer of the object.
	Pointer string
	note    Note
	known   []string
}

// NewObject returns a reader of v, which must be an object, at a position of a document.
func NewObject(v *Value, pointer string, note Note) *Object {
	return &Object{Value: v, Pointer: pointer, note: note}
}

// Fault records a fault of a member.
func (o *Object) Fault(name, detail string) { o.Field(name, nil).Fault(detail) }

// Get returns a member, which can be null.
func (o *Object) Get(name string) (Field, bool) {
	o.Know(name)
	v := o.Value.Member(name)
	return o.Field(name, v), v != nil
}

// Given returns a member. It treats null as missing.
func (o *Object) Given(name string) (Field, bool) {
	f, ok := o.Get(name)
	return f, ok && f.Kind != 'n'
}

// Has reports whether a member exists and is not null.
func (o *Object) Has(name string) bool {
	_, ok := o.Given(name)
	return ok
}

// Need returns a required member, and records a fault if it is missing.
func (o *Object) Need(name string) (Field, bool) {
	f, ok := o.Get(name)
	if !ok {
		f.Fault(Required)
	}
	return f, ok
}

// Required is the detail of the fault of a missing member.
const Required = "This field is required."

// Know adds a name to the known members.
func (o *Object) Know(name string) {
	if !o.Knows(name) {
		o.known = append(o.known, name)
	}
}

// Knows reports whether a name is known.
func (o *Object) Knows(name string) bool { return slices.Contains(o.known, name) }

// All iterates over the members in order. It does not make their names known.
func (o *Object) All() iter.Seq2[string, Field] {
	return func(yield func(string, Field) bool) {
		for i := range o.Value.Members {
			m := &o.Value.Members[i]
			if !yield(m.Name, o.Field(m.Name, &m.Value)) {
				return
			}
		}
	}
}

// Texts iterates over a required array of 1 to most strings. Elements that are not strings
// are faults and are skipped.
func (o *Object) Texts(name string, most int) iter.Seq2[Field, string] {
	return func(yield func(Field, string) bool) {
		list, ok := o.Need(name)
		switch {
		case !ok:
			return
		case list.Kind != '[':
			list.wrongKind("an array of strings")
			return
		case len(list.Items) == 0 || len(list.Items) > most:
			list.Fault(fmt.Sprintf("%s must have 1 to %d elements; it has %d.", name, most, len(list.Items)))
			return
		}
		for _, f := range list.Elements() {
			if s, ok := f.Text(); ok && !yield(f, s) {
				return
			}
		}
	}
}

// unknown is the start of the detail of an unknown member.
const unknown = "Unknown field."

// IsUnknown reports whether the detail of a fault is that of an unknown member. Such a
// fault does not prevent the other members from being read.
func IsUnknown(detail string) bool { return strings.HasPrefix(detail, unknown) }

// RefuseUnknown records a fault for each unknown member.
func (o *Object) RefuseUnknown() {
	for name, f := range o.All() {
		if o.Knows(name) {
			continue
		}
		detail := unknown
		if near := suggest.Nearest(name, o.known); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		if !f.Fault(detail) {
			return
		}
	}
}

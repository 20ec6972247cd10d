package strictjson

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/suggest"
)

// Object reads the members of an object one by one and notes every fault with
// its place. The names it is asked for are the names there may be.
type Object struct {
	Value *Value
	// Pointer is the place of the object.
	Pointer string
	note    Note
	known   []string
}

// NewObject reads a value, which must be an object, at a place of a document.
func NewObject(v *Value, pointer string, note Note) *Object {
	return &Object{Value: v, Pointer: pointer, note: note}
}

// Fault notes what is wrong with a member.
func (o *Object) Fault(name, detail string) { o.Field(name, nil).Fault(detail) }

// Get finds a member, which can be null.
func (o *Object) Get(name string) (Field, bool) {
	o.Know(name)
	v := o.Value.Member(name)
	return o.Field(name, v), v != nil
}

// Given finds a member. One that is null is as good as none.
func (o *Object) Given(name string) (Field, bool) {
	f, ok := o.Get(name)
	return f, ok && f.Kind != 'n'
}

// Has reports whether a member is given that is not null.
func (o *Object) Has(name string) bool {
	_, ok := o.Given(name)
	return ok
}

// Need finds a member that must be there.
func (o *Object) Need(name string) (Field, bool) {
	f, ok := o.Get(name)
	if !ok {
		f.Fault(Required)
	}
	return f, ok
}

// Required is what is wrong with a member that is not there.
const Required = "This field is required."

// Know adds a name to those that there may be.
func (o *Object) Know(name string) {
	if !o.Knows(name) {
		o.known = append(o.known, name)
	}
}

// Knows reports whether the object was asked for a name.
func (o *Object) Knows(name string) bool { return slices.Contains(o.known, name) }

// All are the members in their order. It leaves open whether their names are
// among those there may be.
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

// Texts are the elements of a required array of 1 to most strings. An element
// that is no string is a fault and is passed over.
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
			list.Fault(fmt.Sprintf("This must have 1 to %d elements; it has %d.", most, len(list.Items)))
			return
		}
		for _, f := range list.Elements() {
			if s, ok := f.Text(); ok && !yield(f, s) {
				return
			}
		}
	}
}

// unknown begins what is wrong with a member that nobody asked for.
const unknown = "There is no such field."

// IsUnknown reports whether the detail of a fault is that of an unknown member, which
// does not keep the others from being read.
func IsUnknown(detail string) bool { return strings.HasPrefix(detail, unknown) }

// RefuseUnknown notes the members that nobody asked for.
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

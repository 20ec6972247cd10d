package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/share"
)

// MaxDepth is the maximum nesting depth of arrays and objects.
const MaxDepth = 64

// MaxValues is the maximum number of values that are kept of a document, and maxMembers
// the maximum number of members of an object. A value takes far more memory than its text.
const (
	MaxValues  = 1 << 15
	maxMembers = 1 << 16
)

// stepValues is the number of values that are read before other work gets a turn.
const stepValues = 256

// Note records a fault: the JSON Pointer of its position, and a sentence that describes it.
// It reports whether more faults can be recorded.
type Note func(pointer, detail string) bool

// Part is the position of a text in its document. The zero Part is the whole document.
type Part struct {
	At    string // its JSON Pointer
	Depth int    // the number of arrays and objects around it
	// Levels limits how many levels of arrays and objects are kept as values, if it is not
	// zero. Deeper values are checked but only available as text.
	Levels int
}

// KeepNone is the value of Part.Levels that keeps no values at all.
const KeepNone = -1

// Read parses data as one JSON value. It records duplicate keys and continues. If data is
// not valid JSON, it records the error and returns false. No fault contains any part of
// the text, which can hold a secret.
//
// The value refers to data.
func Read(data []byte, p Part, note Note) (v Value, ok bool) {
	r := reader{Part: p, note: note, data: data, d: newDecoder(data)}
	defer r.long.End()
	err := countFirst(data, p)
	if err == nil {
		v, err = r.value(p.Depth)
	}
	if err == nil {
		err = r.end()
	}
	if err != nil {
		r.noteError(err)
	}
	return v, err == nil
}

// countFirst refuses a text with more than MaxValues values before any is kept. A value
// takes many times the memory of its text, so a text of brackets would keep the garbage
// collector busy. Most texts have too few commas and are not counted.
func countFirst(data []byte, p Part) error {
	if p.Levels == KeepNone || bytes.Count(data, []byte(",")) < MaxValues {
		return nil
	}
	r := reader{Part: p, note: func(string, string) bool { return true }, data: data, d: newDecoder(data), counting: true}
	defer r.long.End()
	if _, err := r.value(p.Depth); errors.Is(err, errTooMany) {
		return err
	}
	return nil // Read finds all other faults
}

// Split returns the texts of the elements of a JSON array. It stops after most+1 elements.
// It reports faults as [Read] does, but does not check the elements for duplicate keys.
func Split(array []byte, most int, note Note) (items [][]byte, ok bool) {
	r := reader{note: note, data: array, d: newDecoder(array)}
	_, err := r.d.ReadToken()
	for err == nil && r.d.PeekKind() != ']' {
		var raw jsontext.Value
		if raw, err = r.d.ReadValue(); err != nil {
			// Reading token by token finds the exact position of the fault.
			_, ok := Read(array, Part{Levels: KeepNone}, note)
			return nil, ok
		}
		end := r.d.InputOffset()
		if items = append(items, array[end-int64(len(raw)):end]); len(items) > most {
			return items, true
		}
	}
	if err == nil {
		if _, err = r.d.ReadToken(); err == nil {
			err = r.end()
		}
	}
	if err != nil {
		r.noteError(err)
	}
	return items, err == nil
}

func newDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
}

// reader reads one JSON text.
type reader struct {
	Part
	note Note
	data []byte
	d    *jsontext.Decoder
	// kept and read count the values that were kept and read.
	kept, read int
	// counting disables keeping values: they are only counted.
	counting bool
	long     share.Long
}

// fault is an error that ends the reading of a text.
type fault struct{ pointer, detail string }

func (f *fault) Error() string { return f.pointer + ": " + f.detail }

// value reads the next value, which is nested in depth arrays and objects.
func (r *reader) value(depth int) (Value, error) {
	kind := r.d.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := r.d.ReadValue()
		end := r.d.InputOffset()
		return Value{Kind: kind, Raw: r.data[end-int64(len(raw)) : end]}, err
	}
	if _, err := r.d.ReadToken(); err != nil {
		return Value{}, err
	}
	begin := r.d.InputOffset() - 1
	if depth == MaxDepth {
		return Value{}, &fault{r.here(), tooDeep}
	}
	v := Value{Kind: kind}
	var seen map[string]bool
	if kind == '{' {
		seen = make(map[string]bool)
	}
	for r.d.PeekKind() != '}' && r.d.PeekKind() != ']' {
		if err := r.part(&v, depth+1, seen); err != nil {
			return v, err
		}
	}
	_, err := r.d.ReadToken()
	v.Raw = r.data[begin:r.d.InputOffset()]
	return v, err
}

var tooDeep = fmt.Sprintf("The JSON is nested more than %d levels deep, the maximum.", MaxDepth)

var tooMany = fmt.Sprintf("The JSON has more than %d values, or an object with more than %d members. Split it into several requests.", MaxValues, maxMembers)

var errTooMany = errors.New("too many values")

const duplicate = "Duplicate key in a JSON object. Use each key only once."

// part reads the next element of an array or, if seen is not nil, the next member of an
// object.
func (r *reader) part(v *Value, depth int, seen map[string]bool) error {
	if r.read++; r.read%stepValues == 0 {
		r.long.Step()
	}
	kept := r.Levels == 0 || depth-r.Depth <= r.Levels
	if kept {
		r.kept++
	}
	if r.kept > MaxValues || len(seen) > maxMembers {
		return fmt.Errorf("%w: %w", errTooMany, &fault{r.At, tooMany})
	}
	if seen == nil {
		item, err := r.value(depth)
		if kept && !r.counting {
			v.Items = append(v.Items, item)
		}
		return err
	}
	token, err := r.d.ReadToken()
	if err != nil {
		return err
	}
	name := token.String()
	if seen[name] {
		r.note(r.here(), duplicate)
	}
	seen[name] = true
	item, err := r.value(depth)
	if kept && !r.counting {
		v.Members = append(v.Members, Member{name, item})
	}
	return err
}

// here returns the JSON Pointer of the last token.
func (r *reader) here() string { return r.At + string(r.d.StackPointer()) }

func (r *reader) end() error {
	if _, err := r.d.ReadToken(); !errors.Is(err, io.EOF) {
		return &fault{r.At, fmt.Sprintf("Unexpected data after the JSON value, at byte %d. Send a single value.", r.d.InputOffset())}
	}
	return nil
}

func (r *reader) noteError(err error) {
	var own *fault
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &own):
		r.note(own.pointer, own.detail)
	case errors.As(err, &syntax):
		reason := "check the quotes, commas, brackets and escapes there, and that the text is UTF-8"
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "it is incomplete"
		}
		r.note(r.At+string(syntax.JSONPointer), fmt.Sprintf("Invalid JSON at byte %d: %s.", syntax.ByteOffset, reason))
	default:
		r.note(r.At, "The JSON is incomplete.")
	}
}

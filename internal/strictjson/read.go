package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/share"
)

// MaxDepth is how many arrays and objects of a document may be open at once.
const MaxDepth = 64

// MaxValues is how many values of a document are kept, and maxMembers how many
// members an object may have: each takes far more memory than the text it is
// read from.
const (
	MaxValues  = 1 << 15
	maxMembers = 1 << 16
)

// stepValues is how many values of a long text are read before others have a turn.
const stepValues = 256

// Note takes a fault: the JSON Pointer of its place, and a sentence that says
// what is wrong. It reports whether there is room for more of them.
type Note func(pointer, detail string) bool

// Part says where a text stands in the document it is part of. The zero Part is
// the document itself.
type Part struct {
	At    string // its JSON Pointer
	Depth int    // how many arrays and objects it stands in
	// Levels is how many levels of arrays and objects have their parts kept,
	// where not zero. What lies deeper is checked, and there as text only.
	Levels int
}

// KeepNone, for the levels of a part, keeps no parts at all.
const KeepNone = -1

// Read reads a text as one JSON value. Duplicate keys are noted and reading goes
// on; a text that is no JSON ends it, which is noted too and makes ok false. No
// fault repeats anything of the text, which can hold a secret.
//
// The value is made of parts of data.
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

// countFirst refuses a text with more values than are kept before any is: each takes many times
// the memory of its text, so that whoever sends nothing but brackets would have
// others wait for the collector. Most texts have too few commas for it.
func countFirst(data []byte, p Part) error {
	if p.Levels == KeepNone || bytes.Count(data, []byte(",")) < MaxValues {
		return nil
	}
	r := reader{Part: p, note: func(string, string) bool { return true }, data: data, d: newDecoder(data), counting: true}
	defer r.long.End()
	if _, err := r.value(p.Depth); errors.Is(err, errTooMany) {
		return err
	}
	return nil // what else is wrong is found by who reads it
}

// Split finds the texts of the elements of a JSON array, in the manner of
// [Read], and stops at the first past most of them. It does not look for
// duplicate keys in them.
func Split(array []byte, most int, note Note) (items [][]byte, ok bool) {
	r := reader{note: note, data: array, d: newDecoder(array)}
	_, err := r.d.ReadToken()
	for err == nil && r.d.PeekKind() != ']' {
		var raw jsontext.Value
		if raw, err = r.d.ReadValue(); err != nil {
			// Token by token, the place of the fault is found exactly.
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
	// kept counts the values that are kept, and read those that were read.
	kept, read int
	// counting says that the values are only counted.
	counting bool
	long     share.Long
}

// fault is what ends the reading of a text.
type fault struct{ pointer, detail string }

func (f *fault) Error() string { return f.pointer + ": " + f.detail }

// value reads the next value, which stands in depth arrays and objects.
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

var tooDeep = fmt.Sprintf("The JSON nests deeper than %d levels.", MaxDepth)

var tooMany = fmt.Sprintf("The JSON has more than %d values, or an object of more than %d members; send less at once.", MaxValues, maxMembers)

var errTooMany = errors.New("too many values")

const duplicate = "This key stands more than once in its object; name it once."

// part reads the next element of an array or, where seen is not nil, the next
// member of an object.
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

// here is the place of what was read last.
func (r *reader) here() string { return r.At + string(r.d.StackPointer()) }

func (r *reader) end() error {
	if _, err := r.d.ReadToken(); !errors.Is(err, io.EOF) {
		return &fault{r.At, fmt.Sprintf("Something follows the JSON value after byte %d; send one value only.", r.d.InputOffset())}
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
			reason = "it ends too early"
		}
		r.note(r.At+string(syntax.JSONPointer), fmt.Sprintf("This is no valid JSON at byte %d: %s.", syntax.ByteOffset, reason))
	default:
		r.note(r.At, "The JSON ends too early.")
	}
}

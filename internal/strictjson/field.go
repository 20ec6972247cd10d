package strictjson

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Field is a value and its position. Its methods record faults of the value; their second
// result reports whether there are none.
type Field struct {
	*Value
	in, token string
	note      Note
}

// Field returns v as if it were the member of that name.
func (o *Object) Field(name string, v *Value) Field {
	return Field{Value: v, in: o.Pointer, token: name, note: o.note}
}

// Pointer returns the JSON Pointer of the value.
func (f Field) Pointer() string { return f.in + "/" + EscapePointer(f.token) }

// Fault records a fault of the value. It reports whether more faults can be recorded.
func (f Field) Fault(detail string) bool { return f.note(f.Pointer(), detail) }

// name returns the name of a member for a fault, or "The element" for an element of an array.
func (f Field) name() string {
	if _, err := strconv.Atoi(f.token); err == nil || f.token == "" {
		return "The element"
	}
	return f.token
}

// got returns the number that a fault quotes. Other values can be secrets.
func got(v *Value) string {
	if v.Kind != '0' || len(v.Raw) > 20 {
		return ""
	}
	return "; got " + string(v.Raw)
}

func (f Field) wrongKind(want string) {
	f.Fault(f.name() + " must be " + want + ", not " + KindName(f.Kind) + ".")
}

// Object reads an object.
func (f Field) Object() (*Object, bool) {
	if f.Kind != '{' {
		f.wrongKind("an object")
		return nil, false
	}
	return NewObject(f.Value, f.Pointer(), f.note), true
}

// Elements iterates over the elements of an array and their indices.
func (f Field) Elements() iter.Seq2[int, Field] { return Elements(f.Value, f.Pointer(), f.note) }

// Elements iterates over the elements of an array at a position of a document.
func Elements(v *Value, pointer string, note Note) iter.Seq2[int, Field] {
	return func(yield func(int, Field) bool) {
		for i := range v.Items {
			if !yield(i, Field{Value: &v.Items[i], in: pointer, token: strconv.Itoa(i), note: note}) {
				return
			}
		}
	}
}

// Text reads a string.
func (f Field) Text() (string, bool) {
	if f.Kind != '"' {
		f.wrongKind("a string")
		return "", false
	}
	return f.Value.Text(), true
}

// Boolean reads true or false.
func (f Field) Boolean() (yes, ok bool) {
	if f.Kind != 't' && f.Kind != 'f' {
		f.wrongKind("true or false")
		return false, false
	}
	return f.Kind == 't', true
}

// Integer reads an integer from least to most, written without a fraction or an exponent.
func (f Field) Integer(least, most int) (int, bool) {
	n, err := strconv.Atoi(string(f.Raw))
	if f.Kind != '0' || err != nil || n < least || n > most {
		f.Fault(fmt.Sprintf("%s must be an integer between %d and %d%s.", f.name(), least, most, got(f.Value)))
		return 0, false
	}
	return n, true
}

// Choice reads one of several words.
func (f Field) Choice(words ...string) (string, bool) {
	text, ok := f.Text()
	if ok && !slices.Contains(words, text) {
		f.Fault(f.name() + " must be one of " + strings.Join(words, ", ") + ".")
		return "", false
	}
	return text, ok
}

// Name reads a name of 1 to most characters. It returns the name even if it has a fault.
func (f Field) Name(most int) string {
	s, ok := f.Text()
	if ok {
		if detail := WrongName(s, most); detail != "" {
			f.Fault(detail)
		}
	}
	return s
}

// Label reads a text of 1 to most characters without control characters.
func (f Field) Label(most int) (string, bool) {
	s, ok := f.Text()
	if !ok {
		return "", false
	}
	if detail := WrongLabel(f.name(), s, most); detail != "" {
		f.Fault(detail)
		return "", false
	}
	return s, true
}

// Parse reads a string with a function. The function's errors become the details of
// faults, so they must be complete sentences.
func Parse[T any](f Field, parse func(string) (T, error)) (v T, ok bool) {
	s, ok := f.Text()
	if !ok {
		return v, false
	}
	v, err := parse(s)
	if err != nil {
		f.Fault(err.Error())
	}
	return v, err == nil
}

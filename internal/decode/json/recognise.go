package json

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Recognise reports whether text that begins with head looks like a JSON document.
// Whole says that head is all of it.
func Recognise(head []byte, whole bool) bool { return begins(head) && !several(head, whole) }

// RecogniseLines is [Recognise] for lines of JSON.
func RecogniseLines(head []byte, whole bool) bool { return begins(head) && several(head, whole) }

// begins reports whether a text begins like a document of arrays and objects.
func begins(head []byte) bool {
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') && bytes.IndexByte(head, 0) < 0
}

// several tells lines of values from one value.
func several(head []byte, whole bool) bool {
	d := jsontext.NewDecoder(bytes.NewReader(head), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.SkipValue() != nil {
		return false
	}
	rest := head[d.InputOffset():]
	after := bytes.TrimLeft(rest, " \t\r\n")
	if len(after) == 0 {
		return !whole // the first value ends where the head does: by chance, or more follows
	}
	return bytes.IndexByte(rest[:len(rest)-len(after)], '\n') >= 0 && (after[0] == '{' || after[0] == '[')
}

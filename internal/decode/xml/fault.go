package xml

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Fault is what is wrong with a document, and where. Line and Column count from
// 1, the column in bytes, and Offset is the number of bytes before the place.
type Fault struct {
	Line, Column, Offset int64
	// Detail is what is wrong and what to do, without the place.
	Detail string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("line %d, column %d (byte %d): %s", f.Line, f.Column, f.Offset, f.Detail)
}

// stopped is what a function returns in the place of a position where it cannot
// go on: the reader has an error, or there is more to read first.
const stopped = -1

// fail ends the reading with a fault at a place in the buffer.
func (r *Reader) fail(at int, format string, args ...any) int {
	if r.err == nil {
		r.err = r.faultAt(at, fmt.Sprintf(format, args...))
	}
	return stopped
}

// unexpected ends the reading because of what stands at a place in the buffer,
// unless that is its end, where more has to be read before anything can be said.
func (r *Reader) unexpected(at int, format string, args ...any) int {
	if at >= r.size {
		return stopped
	}
	return r.fail(at, format, args...)
}

// faultAt is a fault at a place in the buffer.
func (b *buffer) faultAt(at int, detail string) *Fault {
	before := b.buf[:at]
	fault := &Fault{Line: b.lines + 1, Offset: b.offsetOf(at), Detail: detail}
	lineStart := b.lineStart
	if last := bytes.LastIndexByte(before, '\n'); last >= 0 {
		fault.Line += int64(bytes.Count(before, []byte{'\n'}))
		lineStart = b.offsetOf(last + 1)
	}
	fault.Column = fault.Offset - lineStart + 1
	return fault
}

// charAt is the character at a place in the buffer, for messages.
func (r *Reader) charAt(at int) string {
	c, _ := utf8.DecodeRune(r.buf[at:r.size])
	return describe(c)
}

// describe names a character so that it can be seen.
func describe(c rune) string {
	switch {
	case c == '\n':
		return "a line end"
	case c == '\t':
		return "a tab"
	case c == ' ':
		return "a space"
	case c < ' ' || c == 0x7f || c > '~':
		return fmt.Sprintf("%q (U+%04X)", c, c)
	}
	return string(c)
}

// excerpt shortens what is quoted in messages.
func excerpt[T string | []byte](text T) string {
	const limit = 60
	if len(text) <= limit {
		return string(text)
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}

package json

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// lexer reads the tokens of RFC 8259 from a piece of text. Positions are
// indexes of data; a method that returns one returns -1 for a fault, which is
// then in fault.
type lexer struct {
	// data has size bytes of text and after them textPadding zeros.
	data []byte
	size int
	// base is the offset of the text in the source.
	base  int64
	fault *dataFault
	// maxField is how long a string or a number can be.
	maxField int
	// longer says that a number has zeros at the end of its fraction or an exponent, or is longer than it may be without one, or
	// that a string has an escape that it may not need.
	longer bool
	// spaces and newline say that blanks, and a line end, were skipped since
	// they were last set to false. The first such line end was at newlineAt.
	spaces, newline bool
	newlineAt       int
	scratch         []byte
}

// fail notes a fault and returns -1.
func (t *lexer) fail(at int, format string, args ...any) int {
	detail := fmt.Sprintf(format, args...)
	if at >= t.size {
		at = t.size
		detail = "the data ends here; " + detail
	}
	t.fault = &dataFault{t.base + int64(at), detail}
	return -1
}

// failExpected notes that something else should stand at a place.
func (t *lexer) failExpected(at int, what string) int {
	if at >= t.size {
		return t.fail(at, "expected %s", what)
	}
	return t.fail(at, "expected %s, found %s", what, t.found(at))
}

// found names what stands at a place.
func (t *lexer) found(at int) string {
	r, size := utf8.DecodeRune(t.data[at:t.size])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("the byte 0x%02X", t.data[at])
	}
	return fmt.Sprintf("%q", r)
}

// space skips blanks.
func (t *lexer) space(i int) int {
	for {
		switch t.data[i] {
		case '\n':
			if !t.newline {
				t.newline, t.newlineAt = true, i
			}
		case ' ', '\t', '\r':
		default:
			return i
		}
		t.spaces = true
		i++
	}
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// stringStops has the high bit of every byte set that ends or interrupts a
// string: a quote, a backslash, a control character. Bits above the lowest may
// be wrong.
func stringStops(x uint64) uint64 {
	quote := x ^ '"'*everyByte
	slash := x ^ '\\'*everyByte
	return ((quote-everyByte)&^quote | (slash-everyByte)&^slash | (x-' '*everyByte)&^x) & highBits
}

// quoted reads a string whose first character is at i, after the quote, and
// returns where its closing quote is, and whether it has escapes, which are
// not looked at.
func (t *lexer) quoted(i int) (end int, escaped bool) {
	start := i
	data := t.data
	var seen uint64
	for {
		x := binary.LittleEndian.Uint64(data[i:])
		stops := stringStops(x)
		if stops == 0 {
			seen |= x
			i += 8
			continue
		}
		n := bits.TrailingZeros64(stops) &^ 7
		seen |= x & (1<<n - 1)
		i += n >> 3
		switch data[i] {
		case '"':
			if seen&highBits != 0 && !utf8.Valid(data[start:i]) {
				return t.fail(start+input.InvalidAt(data[start:i]), "the string is not valid UTF-8; set encoding=… if the data has another encoding"), false
			}
			if i-start > t.maxField {
				return t.fail(start, "the string is longer than %d bytes, the maximum", t.maxField), false
			}
			return i, escaped
		case '\\':
			escaped = true
			if i+1 >= t.size {
				return t.fail(t.size, "the string is not closed"), false
			}
			if c := data[i+1]; c < ' ' {
				return t.fail(i, "the escape is not valid"), false
			}
			seen |= uint64(data[i+1])
			i += 2
		default:
			if i >= t.size {
				return t.fail(i, "the string is not closed"), false
			}
			return t.fail(i, "the control character 0x%02X must be escaped in a string", data[i]), false
		}
	}
}

// noDigits has the high bit of every byte set that is not a digit. Bits above the lowest may be wrong.
func noDigits(x uint64) uint64 {
	return ((x + (0x80-'9'-1)*everyByte) | (x - '0'*everyByte)) & highBits
}

// digitsEnd returns where the digits at i end. Eight of them are read in one step, because a
// loop over numbers of all lengths ends unexpectedly in each of them.
func digitsEnd(data []byte, i int) int {
	for {
		stops := noDigits(binary.LittleEndian.Uint64(data[i : i+8]))
		if stops != 0 {
			return i + bits.TrailingZeros64(stops)>>3
		}
		i += 8
	}
}

// number reads a number and returns where it ends.
func (t *lexer) number(i int) int {
	data, start := t.data, i
	if data[i] == '-' {
		i++
	}
	switch end := digitsEnd(data, i); {
	case end == i:
		return t.failExpected(i, "a digit")
	case end > i+1 && data[i] == '0':
		return t.fail(start, "a number must not start with 0")
	default:
		i = end
	}
	if data[i] == '.' {
		i++
		end := digitsEnd(data, i)
		if end == i {
			return t.failExpected(i, "a digit after the decimal point")
		}
		if i = end; data[i-1] == '0' {
			t.longer = true
		}
	}
	if data[i]|0x20 == 'e' {
		t.longer = true
		i++
		if data[i] == '+' || data[i] == '-' {
			i++
		}
		end := digitsEnd(data, i)
		if end == i {
			return t.failExpected(i, "a digit in the exponent")
		}
		i = end
	}
	if i-start > maxPlain {
		t.longer = true
	}
	if i-start > t.maxField {
		return t.fail(start, "the number is longer than %d bytes, the maximum", t.maxField)
	}
	return i
}

// The three words of JSON as the four bytes that they begin with.
const (
	wordTrue = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	wordFals = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24
	wordNull = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
)

// word reads true, false or null and returns where it ends.
func (t *lexer) word(i int) int {
	switch binary.LittleEndian.Uint32(t.data[i:]) {
	case wordTrue, wordNull:
		return i + 4
	case wordFals:
		if t.data[i+4] == 'e' {
			return i + 5
		}
	}
	return t.failExpected(i, "a value")
}

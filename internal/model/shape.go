package model

import (
	"encoding/binary"

	"github.com/feedmill/feedmill/internal/columnar"
)

// shape is what a value looks like by itself. The shapes of all values of a column
// decide its type.
type shape uint8

const (
	shapeInteger  shape = iota // of 64 bits
	shapeDecimal               // exact digits, with a point or too many for 64 bits
	shapeExponent              // digits with an exponent
	shapeGrouped               // a number that is read by the customs of a place
	shapeAmount                // a number with a currency, a percent sign or parentheses
	shapeBoolean
	shapeDate     // 2026-11-15
	shapeTime     // 2026-11-15T12:00:00
	shapeYearLast // 15/11/2026, with a time or without
	shapeJSON
	shapeToken    // a text that means null where the column has a type
	shapeZeroDate // 0000-00-00, which means so among dates
	shapeWrapped  // ="01067", by which Excel keeps a text
	shapeText
	shapes
)

// value is a value with what was found out about it.
type value struct {
	shape  shape
	text   []byte
	amount amount
	date   yearLast
	moment moment
	// format says how a date is written whose month has a name.
	format string
	// numeric says that a text, which its source says is one, is a number.
	numeric bool
	// guised says that a text is a number with something around it.
	guised bool
	with   string
	// long says that it is a number with digits that a 64-bit float loses.
	long bool
}

// classify finds the shape of one value that is not null. The tokens are texts
// that mean null.
func (n *nullTokens) classify(kind columnar.CellKind, text []byte) (v value) {
	v.text = text
	v.shape = shapeText
	switch kind {
	case columnar.CellTrue, columnar.CellFalse:
		v.shape = shapeBoolean
	case columnar.CellJSON:
		v.shape = shapeJSON
	case columnar.CellNumber:
		v.number(n, text)
	case columnar.CellString:
		if v.time(n, text); v.shape == shapeText && len(text) > 0 && isDigit(text[len(text)-1]) && len(text) <= maxTyped {
			_, v.numeric = readAmount(text)
		}
	case columnar.CellDate:
		v.iso(n, text)
	case columnar.CellToken:
		v.shape = shapeToken
	default:
		if text = n.plainly(text); len(text) > maxTyped {
			return v
		}
		switch {
		case len(text) == 0:
			if len(n.texts) > 0 {
				v.shape = shapeToken // blanks, as fields of a fixed width have
			}
			return v
		case isBoolean(text):
			v.shape = shapeBoolean
		case !v.number(n, text):
			v.time(n, text)
		}
	}
	if v.shape == shapeText {
		v.special(n, text)
	}
	if v.shape == shapeText && anyText>>kind&1 != 0 {
		v.with, v.guised = affixOf(text)
	}
	return v
}

// special finds out whether a text has a meaning of its own.
func (v *value) special(n *nullTokens, text []byte) {
	switch {
	case n.has(text) && !n.given:
		v.shape = shapeToken
	case len(n.texts) > 0 && isZeroDate(text):
		v.shape = shapeZeroDate
	case !n.original && isWrapped(text):
		v.shape = shapeWrapped
	}
}

// isWrapped reports whether a text is a formula that is nothing but a text.
func isWrapped(text []byte) bool {
	return len(text) >= 3 && text[0] == '=' && text[1] == '"' && text[len(text)-1] == '"'
}

// maxTyped is how long a text can be and still denote something else: no number
// of up to 38 digits and no date is longer with all that may stand around it.
const maxTyped = 400

// number finds out whether a text is one.
func (v *value) number(n *nullTokens, text []byte) bool {
	a, ok := readAmount(text)
	if !ok || n.original && a.later(text) {
		return false
	}
	v.amount = a
	switch {
	case a.unit != "" || a.brackets:
		v.shape = shapeAmount
	case !a.plain:
		v.shape = shapeGrouped
	case a.exponent:
		v.shape = shapeExponent
		v.long = !survives(text)
	default:
		v.shape = shapeDecimal
		if a.point.scale == 0 && fits64(a.text, a.negative) {
			v.shape = shapeInteger
		}
		v.long = a.point.whole+a.point.scale > 15 && !survives(text)
	}
	return true
}

// fits64 reports whether digits make a number of 64 bits.
func fits64(digits []byte, negative bool) bool {
	if len(digits) < 19 {
		return true
	}
	limit := "9223372036854775807"
	if negative {
		limit = "9223372036854775808"
	}
	return len(digits) == 19 && string(digits) <= limit
}

// time finds out whether a text is a date or a time.
func (v *value) time(n *nullTokens, text []byte) {
	text = n.plainly(text)
	if len(text) < 6 || len(text) > maxDate {
		return
	}
	if v.iso(n, text) {
		return
	}
	if d, ok := readYearLast(text, n.original); ok {
		v.date = d
		v.shape = shapeYearLast
	}
}

// maxDate is how long a date can be, with the name of its day and a time.
const maxDate = 64

// iso finds out whether a text is a date or a time that can be read in one way
// only.
func (v *value) iso(n *nullTokens, text []byte) bool {
	m, ok := parseMoment(text, 0, len(text))
	format := ""
	if !ok && !n.original {
		m, format, ok = readMoment(text, 0)
	}
	if !ok {
		return false
	}
	v.moment, v.format = m, format
	v.shape = shapeDate
	if m.timed {
		v.shape = shapeTime
	}
	return true
}

// isBoolean reports whether a text is true or false, in small or large letters.
func isBoolean(text []byte) bool {
	n := len(text)
	if n != 4 && n != 5 {
		return false
	}
	// Without a branch on the length, which varies at random.
	return binary.LittleEndian.Uint32(text)|0x20202020 == truths[n&1] && text[n-1]|0x20 == 'e'
}

// truths are the first four letters of true and false.
var truths = [2]uint32{'e'<<24 | 'u'<<16 | 'r'<<8 | 't', 's'<<24 | 'l'<<16 | 'a'<<8 | 'f'}

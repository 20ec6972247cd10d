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
	// long says that it is a number with digits that a 64-bit float loses.
	long bool
}

// classify finds the shape of one value that is not null.
func classify(kind columnar.CellKind, text []byte) (v value) {
	v.text = text
	v.shape = shapeText
	switch kind {
	case columnar.CellTrue, columnar.CellFalse:
		v.shape = shapeBoolean
	case columnar.CellJSON:
		v.shape = shapeJSON
	case columnar.CellNumber:
		v.number(text)
	case columnar.CellString:
		v.time(text)
	case columnar.CellDate:
		v.iso(text)
	default:
		if text = trim(text); len(text) == 0 || len(text) > maxTyped {
			return v
		}
		if isBoolean(text) {
			v.shape = shapeBoolean
		} else if !v.number(text) {
			v.time(text)
		}
	}
	return v
}

// maxTyped is how long a text can be and still denote something else: no number
// of up to 38 digits and no date is longer with all that may stand around it.
const maxTyped = 400

// number finds out whether a text is one.
func (v *value) number(text []byte) bool {
	a, ok := readAmount(text)
	if !ok {
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
func (v *value) time(text []byte) {
	text = trim(text)
	if len(text) < 6 || len(text) > 40 {
		return
	}
	if v.iso(text) {
		return
	}
	if d, ok := readYearLast(text); ok {
		v.date = d
		v.shape = shapeYearLast
	}
}

// iso finds out whether a text is a date or a time with the year first.
func (v *value) iso(text []byte) bool {
	m, ok := parseMoment(text, 0, len(text))
	if !ok {
		return false
	}
	v.moment = m
	v.shape = shapeDate
	if m.timed {
		v.shape = shapeTime
	}
	return true
}

// isBoolean reports whether a text is true or false, in small or large letters.
func isBoolean(text []byte) bool {
	switch len(text) {
	case 4:
		return binary.LittleEndian.Uint32(text)|0x20202020 == 'e'<<24|'u'<<16|'r'<<8|'t'
	case 5:
		return binary.LittleEndian.Uint32(text)|0x20202020 == 's'<<24|'l'<<16|'a'<<8|'f' && text[4]|0x20 == 'e'
	}
	return false
}

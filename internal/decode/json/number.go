package json

import (
	"bytes"
	"strconv"
)

// maxPlain is how long a number in a cell of JSON can be without an exponent, unless it is longer with one. It bounds how much
// longer numbers become.
const maxPlain = 40

// appendNumber writes a number of JSON as all numbers of its value are written: without zeros at the end of a fraction, and
// without an exponent up to maxPlain bytes. An exponent of more than a million stays as it is.
func appendNumber(out, number []byte) []byte {
	mantissa, exponent := number, 0
	if at := bytes.IndexAny(number, "eE"); at >= 0 {
		e, err := strconv.Atoi(string(number[at+1:]))
		if err != nil || e > 1<<20 || e < -1<<20 {
			return append(out, number...)
		}
		mantissa, exponent = number[:at], e
	}
	sign := 0
	if mantissa[0] == '-' {
		sign = 1
	}
	whole, fraction, _ := bytes.Cut(mantissa[sign:], []byte{'.'})
	digits := append(bytes.Clone(whole), fraction...)
	point := len(whole) + exponent // how many digits are before the point
	for len(digits) > 0 && digits[0] == '0' {
		digits, point = digits[1:], point-1
	}
	digits = bytes.TrimRight(digits, "0")
	out = append(out, number[:sign]...)
	if len(digits) == 0 {
		return append(out, '0')
	}
	plain := len(digits) + 1 // how long it is without an exponent
	switch {
	case point >= len(digits):
		plain = point
	case point <= 0:
		plain = len(digits) - point + 2
	}
	short := strconv.AppendInt(append(bytes.Clone(digits), 'e'), int64(point-len(digits)), 10)
	switch {
	case plain > maxPlain && plain > len(short):
		return append(out, short...)
	case point >= len(digits):
		return append(append(out, digits...), bytes.Repeat([]byte{'0'}, point-len(digits))...)
	case point > 0:
		return append(append(append(out, digits[:point]...), '.'), digits[point:]...)
	default:
		return append(append(append(out, "0."...), bytes.Repeat([]byte{'0'}, -point)...), digits...)
	}
}

package json

import (
	"bytes"
	"strconv"
)

// appendNumber writes a number of JSON so that it is never longer: without zeros at the end of a
// fraction, and without an exponent where it is as short without one. Numbers of the same value
// are then the same text, but for those such as 1e9 and 1e-9 that are longer without an exponent.
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
	start := len(out)
	out = append(out, number[:sign]...)
	if len(digits) == 0 {
		return append(out, '0')
	}
	room := len(number) - sign
	switch {
	case point >= len(digits) && point <= room:
		return append(append(out, digits...), bytes.Repeat([]byte{'0'}, point-len(digits))...)
	case 0 < point && point < len(digits) && len(digits)+1 <= room:
		return append(append(append(out, digits[:point]...), '.'), digits[point:]...)
	case point <= 0 && len(digits)-point+2 <= room:
		return append(append(append(out, "0."...), bytes.Repeat([]byte{'0'}, -point)...), digits...)
	}
	out = strconv.AppendInt(append(append(out, digits...), 'e'), int64(point-len(digits)), 10)
	if len(out)-start > len(number) {
		return append(out[:start], number...)
	}
	return out
}

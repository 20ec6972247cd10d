package jsonpath

import (
	"bytes"
	"cmp"
	"strconv"
)

// decimal is a number of JSON as 0.digits × 10^exponent, with no zero at
// either end of the digits. Zero has no digits.
type decimal struct {
	negative bool
	digits   []byte
	exponent int64
}

// maxExponent stands for every exponent that is larger; numbers beyond it
// count as equally large.
const maxExponent = 1 << 60

// compareNumbers compares the texts of two numbers of JSON exactly, without
// rounding them to floats.
func compareNumbers(a, b []byte) int {
	x, y := parseDecimal(a), parseDecimal(b)
	switch {
	case len(x.digits) == 0 && len(y.digits) == 0:
		return 0
	case len(x.digits) == 0:
		return y.sign(-1)
	case len(y.digits) == 0:
		return x.sign(1)
	case x.negative != y.negative:
		return x.sign(1)
	}
	order := cmp.Compare(x.exponent, y.exponent)
	if order == 0 {
		order = bytes.Compare(x.digits, y.digits)
	}
	return x.sign(order)
}

// sign is n, turned around for a negative number.
func (d decimal) sign(n int) int {
	if d.negative {
		return -n
	}
	return n
}

func parseDecimal(text []byte) decimal {
	var d decimal
	if len(text) > 0 && text[0] == '-' {
		d.negative, text = true, text[1:]
	}
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.ParseInt(string(text[i+1:]), 10, 64)
		switch {
		case err != nil && text[i+1] == '-' || exponent < -maxExponent:
			exponent = -maxExponent
		case err != nil || exponent > maxExponent:
			exponent = maxExponent
		}
		d.exponent, text = exponent, text[:i]
	}
	whole, fraction, _ := bytes.Cut(text, []byte{'.'})
	d.exponent += int64(len(whole))
	digits := whole
	if len(fraction) > 0 {
		digits = append(append(make([]byte, 0, len(text)), whole...), fraction...)
	}
	trimmed := bytes.TrimLeft(digits, "0")
	d.exponent -= int64(len(digits) - len(trimmed))
	d.digits = bytes.TrimRight(trimmed, "0")
	return d
}

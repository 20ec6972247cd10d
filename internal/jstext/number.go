package jstext

import (
	"bytes"
	"strconv"
)

// number reads a number.
func (s *scanner) number(dst []byte) ([]byte, *Error) {
	start := s.pos
	if s.src[s.pos] == '-' {
		s.pos++
	}
	whole := s.pos
	zero := s.pos < len(s.src) && s.src[s.pos] == '0'
	switch n := s.digits(); {
	case n == 0:
		return nil, s.fault("expected a digit")
	case zero && n > 1:
		s.pos = whole
		return nil, s.fault("a number must not start with 0")
	case n <= jsSafeDigits && !s.at('.') && !s.at('e') && !s.at('E'):
		if zero {
			start = whole
		}
		return append(dst, s.src[start:s.pos]...), nil
	}
	if s.at('.') {
		if s.pos++; s.digits() == 0 {
			return nil, s.fault("expected a digit")
		}
	}
	if s.at('e') || s.at('E') {
		if s.pos++; s.at('+') || s.at('-') {
			s.pos++
		}
		if s.digits() == 0 {
			return nil, s.fault("expected a digit")
		}
	}
	written := s.src[start:s.pos]
	if d, ok := parseDecimal(written); ok && d.survivesFloat() {
		return d.append(dst), nil
	}
	return append(dst, written...), nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.src) && s.src[s.pos] == c }

// digits skips digits and returns their number.
func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.src) && '0' <= s.src[s.pos] && s.src[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

const (
	// jsSafeDigits is the number of decimal digits that a float64 always preserves.
	jsSafeDigits = 15
	// jsMaxDigits is the maximum number of digits that JavaScript prints for a float64.
	jsMaxDigits = 17
)

// decimal is the number 0.digits × 10^point. Its first and last digits are not zero; zero
// has no digits.
type decimal struct {
	negative bool
	digits   [jsMaxDigits]byte
	n        int
	point    int64
}

// parseDecimal parses a well-formed number. It returns false for a number with more digits
// than JavaScript ever prints.
func parseDecimal(number []byte) (d decimal, ok bool) {
	zeros, fraction := 0, false
	for i, c := range number {
		switch {
		case c == '-':
			d.negative = true
			continue
		case c == '.':
			fraction = true
			continue
		case c == 'e' || c == 'E':
			d.point += exponent(number[i+1:])
			return d, true
		}
		significant := d.n > 0 || c != '0'
		if significant && !fraction {
			d.point++
		} else if !significant && fraction {
			d.point--
		}
		switch {
		case !significant:
		case c == '0':
			zeros++
		case d.n+zeros >= jsMaxDigits:
			return d, false
		default:
			for ; zeros > 0; zeros-- {
				d.digits[d.n] = '0'
				d.n++
			}
			d.digits[d.n] = c
			d.n++
		}
	}
	return d, true
}

// exponent parses an exponent. An exponent that is too large for any number of digits
// before it is not exact.
func exponent(digits []byte) (e int64) {
	for _, c := range digits {
		if c >= '0' && e < 1<<50 {
			e = e*10 + int64(c-'0')
		}
	}
	if digits[0] == '-' {
		return -e
	}
	return e
}

// survivesFloat reports whether the float64 nearest to d prints as d.
func (d *decimal) survivesFloat() bool {
	switch {
	case d.n == 0:
		return true
	case d.point < -323 || d.point > 309:
		return false
	case d.n <= jsSafeDigits && d.point > -300 && d.point < 300:
		return true
	}
	// Write d as strconv does, and compare it with the shortest decimal of its float64.
	var room, again [32]byte
	text := append(room[:0], d.digits[0])
	if d.n > 1 {
		text = append(append(text, '.'), d.digits[1:d.n]...)
	}
	e, sign := d.point-1, byte('+')
	if e < 0 {
		e, sign = -e, '-'
	}
	text = append(text, 'e', sign)
	if e < 10 {
		text = append(text, '0')
	}
	text = strconv.AppendInt(text, e, 10)
	f, err := strconv.ParseFloat(string(text), 64)
	return err == nil && bytes.Equal(text, strconv.AppendFloat(again[:0], f, 'e', -1, 64))
}

// append appends d as JavaScript's Number.prototype.toString prints it.
func (d *decimal) append(dst []byte) []byte {
	if d.n == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	digits, point := d.digits[:d.n], int(d.point)
	switch {
	case d.n <= point && point <= 21:
		dst = append(dst, digits...)
		return append(dst, "000000000000000000000"[:point-d.n]...)
	case 0 < point && point <= 21:
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	case -6 < point && point <= 0:
		dst = append(append(dst, "0."...), "000000"[:-point]...)
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if d.n > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	dst = append(dst, 'e')
	if point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(point-1), 10)
}

// Float returns the float64 of a well-formed JSON number, and whether it denotes the same
// decimal value when JavaScript prints it.
func Float(number []byte) (f float64, exact bool) {
	d, ok := parseDecimal(number)
	if !ok || !d.survivesFloat() {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(number), 64)
	return f, err == nil
}

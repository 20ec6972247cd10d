package model

import (
	"bytes"
	"math"
	"strconv"
)

// decimals is the character before the fraction of a number, as far as the
// number tells: a set of those with which it can be read.
type decimals uint8

const (
	point decimals = 1 << iota // 1,234.56 and 1234.56
	comma                      // 1.234,56 and 1234,56
	both  = point | comma
)

// extent is how many digits a number has before and after its decimal separator.
type extent struct{ whole, scale int }

func (e extent) max(o extent) extent {
	return extent{max(e.whole, o.whole), max(e.scale, o.scale)}
}

// number is what the text of a number tells of it.
type number struct {
	read decimals
	// plain says that it has no digit groups and no decimal comma, and
	// exponent that it has an exponent.
	plain, exponent bool
	// weak says that spaces stand between its digits and nothing else tells
	// that it is a number: it could be that of a telephone.
	weak bool
	// point and comma are the extents in the two ways to read it.
	point, comma extent
}

// readNumber reads a number without its sign. It reports false where the text is
// none, or is one that must stay text because of a leading zero.
func readNumber(text []byte) (n number, ok bool) {
	whole := leadingDigits(text)
	rest := text[whole:]
	if len(rest) == 0 {
		size := extent{whole: whole}
		return number{read: both, plain: true, point: size, comma: size}, whole > 0 && !leadingZero(text)
	}
	if rest[0] == '.' {
		fraction := leadingDigits(rest[1:])
		after := rest[1+fraction:]
		switch {
		case fraction > 0 && len(after) == 0:
			return readFraction(text[:whole], fraction), whole == 0 || !leadingZero(text[:whole])
		case fraction > 0 && isExponent(after):
			return number{read: point, plain: true, exponent: true}, whole > 0 && !leadingZero(text[:whole])
		}
	}
	if isExponent(rest) {
		return number{read: point, plain: true, exponent: true}, whole > 0 && !leadingZero(text[:whole])
	}
	return readGrouped(text)
}

// readFraction is the number with a decimal point and so many digits after it.
// With three of them it could be a group of digits too.
func readFraction(whole []byte, fraction int) number {
	n := number{read: point, plain: true, point: extent{len(whole), fraction}}
	if fraction == 3 && len(whole) > 0 && len(whole) <= 3 && whole[0] != '0' {
		n.read = both
		n.comma = extent{whole: len(whole) + 3}
	}
	return n
}

// separators are those between groups of digits: commas, points, spaces of three
// widths, and apostrophes of two kinds.
var separators = []string{",", ".", " ", "\u00a0", "\u202f", "\u2009", "'", "’"}

// readGrouped reads a number with groups of digits or with a decimal comma.
func readGrouped(text []byte) (n number, ok bool) {
	first := leadingDigits(text)
	if first == 0 {
		return number{}, false
	}
	for _, separator := range separators {
		rest, cut := bytes.CutPrefix(text[first:], []byte(separator))
		if !cut || leadingZero(text[:first]) {
			continue
		}
		digits, after, groups := readGroups(first, rest, separator)
		if groups > 0 && (len(after) == 0 || isFraction(after, separator)) && !isAddress(text, separator, groups) {
			n.addGrouped(separator, digits, after)
			n.weak = separator == " " && len(after) == 0
		}
		// A comma can be the decimal one.
		if separator == "," && allDigits(rest, 0, len(rest)) && len(rest) > 0 {
			n.read |= comma
			n.comma = extent{first, len(rest)}
		}
	}
	if n.read&comma != 0 && n.comma.scale > 0 && n.read&point != 0 && (first > 3 || text[0] == '0') {
		n.read = comma
	}
	return n, n.read != 0
}

// addGrouped takes in the way to read a number whose groups of digits stand
// between the separator; after is its fraction.
func (n *number) addGrouped(separator string, digits int, after []byte) {
	size := extent{whole: digits, scale: max(0, len(after)-1)}
	if separator != "," && (len(after) == 0 || after[0] == ',') {
		n.read |= comma
		n.comma = size
	}
	if separator != "." && (len(after) == 0 || after[0] == '.') {
		n.read |= point
		n.point = size
	}
}

// readGroups reads the groups of three digits behind the first digits of a number,
// and by the custom of India, groups of two before the last.
func readGroups(first int, rest []byte, separator string) (digits int, after []byte, groups int) {
	if first > 3 {
		return 0, nil, 0
	}
	digits = first
	size, pairs := 0, 0
	for {
		if size = leadingDigits(rest); size != 3 && size != 2 {
			return 0, nil, 0
		}
		digits += size
		groups++
		if size == 2 {
			pairs++
		} else if pairs > 0 && pairs != groups-1 {
			return 0, nil, 0
		}
		var more bool
		if rest, more = bytes.CutPrefix(rest[size:], []byte(separator)); !more {
			break
		}
	}
	if size != 3 || pairs > 0 && (pairs != groups-1 || first > 2 || separator != ",") {
		return 0, nil, 0
	}
	return digits, rest, groups
}

// isAddress reports whether digits between three points look like the address of
// a computer.
func isAddress(text []byte, separator string, groups int) bool {
	if separator != "." || groups != 3 {
		return false
	}
	for part := range bytes.SplitSeq(text, []byte(separator)) {
		if len(part) > 3 || digitsValue(part, 0, len(part)) > 255 {
			return false
		}
	}
	return true
}

// isFraction reports whether a text is a decimal separator, other than the one
// between groups, and digits.
func isFraction(text []byte, separator string) bool {
	return (text[0] == '.' || text[0] == ',') && string(text[:1]) != separator && len(text) > 1 && allDigits(text, 1, len(text))
}

func leadingDigits(text []byte) (n int) {
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func leadingZero(digits []byte) bool { return len(digits) > 1 && digits[0] == '0' }

// isExponent reports whether a text is the exponent of a number, such as e-5.
func isExponent(text []byte) bool {
	if len(text) < 2 || text[0]|0x20 != 'e' {
		return false
	}
	text = text[1:]
	if text[0] == '+' || text[0] == '-' {
		text = text[1:]
	}
	return len(text) > 0 && len(text) < 10 && allDigits(text, 0, len(text))
}

// survives reports whether a plain number is the same after it has been a
// 64-bit float and is written again.
func survives(text []byte) bool {
	if _, ok := shortFloat(text); ok {
		return true
	}
	digits, exponent := significant(text)
	if len(digits) <= 15 && len(text) < 200 && exponent > -200 && exponent < 200 {
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	again, exponentAgain := significant(strconv.AppendFloat(nil, f, 'e', -1, 64))
	return bytes.Equal(digits, again) && (len(digits) == 0 || exponent == exponentAgain)
}

// shortFloat is the value of a number of up to 15 significant digits, with a
// point or without and no exponent. Such digits and the power of ten that they are divided by
// are floats without a rest, so that the quotient is the float nearest to the number.
// It reports false for all others.
func shortFloat(text []byte) (f float64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	whole := leadingDigits(text)
	fraction := max(0, len(text)-whole-1)
	switch {
	case whole == 0, whole+fraction >= len(powers), leadingZero(text[:whole]):
		return 0, false
	case whole < len(text) && (text[whole] != '.' || fraction == 0 || !allDigits(text, whole+1, len(text))):
		return 0, false
	}
	digits := digitsValue(text, 0, whole)
	if fraction > 0 {
		digits = digits*powers[fraction] + digitsValue(text, whole+1, len(text))
	}
	if digits >= powers[15] {
		return 0, false
	}
	f = float64(digits) / float64(powers[fraction])
	if negative {
		f = -f
	}
	return f, true
}

// significant is the digits of a plain number without zeros before and after
// them, and the exponent with which 0.digits is that number.
func significant(text []byte) (digits []byte, exponent int) {
	text = bytes.TrimLeft(text, "-")
	if at := bytes.IndexAny(text, "eE"); at >= 0 {
		exponent, _ = strconv.Atoi(string(text[at+1:]))
		text = text[:at]
	}
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	exponent += len(whole)
	digits = append(append(make([]byte, 0, len(text)), whole...), fraction...)
	trimmed := bytes.TrimLeft(digits, "0")
	exponent -= len(digits) - len(trimmed)
	return bytes.TrimRight(trimmed, "0"), exponent
}

package model

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/columnar"
)

// The formats of columns whose values are written with more than digits. Amounts
// of money have their currency as it is written, such as € or USD.
const (
	formatPercent    = "percent"
	formatAccounting = "accounting"
)

// amount is a number with what may stand around it.
type amount struct {
	number
	text     []byte // of the number alone, without a sign
	negative bool
	// unit is the currency as it is written, or percent, or empty.
	unit string
	// brackets says that it stands in the parentheses by which accountants
	// write negative amounts.
	brackets bool
	// odd says that its minus stands behind it, or is not that of ASCII.
	odd bool
	// glued says that the unit has letters and stands right at the number.
	glued bool
	// without is the decimal separator before the dash by which prices are written that have no cents: 89,-.
	without decimals
}

// readAmount reads a number with its sign, a currency or a percent sign on one
// side of it, and parentheses.
func readAmount(text []byte) (a amount, ok bool) {
	a.text = text
	if len(text) == 0 {
		return a, false
	}
	if bare(text) {
		if a.negative = text[0] == '-'; a.negative {
			a.text = text[1:]
		}
		a.number, ok = readNumber(a.text)
		return a, ok
	}
	if lastDigit(text) < 0 {
		return a, a.dash()
	}
	a.sign()
	if !a.parentheses() || !a.takeUnit() {
		return a, false
	}
	if a.unit != "" && !a.negative {
		a.sign()
		if !a.parentheses() {
			return a, false
		}
	}
	a.number, ok = readNumber(a.text)
	if a.exponent && (a.unit != "" || a.brackets || a.odd) {
		return a, false
	}
	a.plain = a.plain && !a.odd
	if a.without != 0 {
		a.read &= a.without
		a.plain, ok = false, ok && (a.read == point && a.point.scale == 0 || a.read == comma && a.comma.scale == 0)
	}
	return a, ok
}

// later reports whether the amount is written in a way that the first release left as text.
func (a *amount) later(text []byte) bool {
	return a.odd || a.glued || a.without != 0 || lastDigit(text) < 0 ||
		a.unit != formatPercent && strings.ContainsFunc(a.unit, func(r rune) bool { return (r < 'A' || r > 'Z') && !unicode.Is(unicode.Sc, r) })
}

// bare reports whether a number, which may have a minus before it, begins and
// ends with a digit, so that no unit, no parenthesis and no odd sign stands around it.
func bare(text []byte) bool {
	first := text[0]
	if first == '-' && len(text) > 1 {
		first = text[1]
	}
	return isDigit(first) && isDigit(text[len(text)-1])
}

// parentheses takes those off the number in which accountants write negative
// amounts. It reports false where one of them is missing.
func (a *amount) parentheses() bool {
	inner, found := bytes.CutPrefix(a.text, []byte("("))
	if !found || a.negative {
		return true
	}
	if inner, found = bytes.CutSuffix(inner, []byte(")")); !found {
		return false
	}
	a.text, a.negative, a.brackets = trim(inner), true, true
	return true
}

// lastDigit is where the last digit stands, or -1.
func lastDigit(text []byte) int {
	for i := len(text) - 1; i >= 0; i-- {
		if isDigit(text[i]) {
			return i
		}
	}
	return -1
}

// dash reads a currency with a dash, which is how accountants write zero.
func (a *amount) dash() bool {
	if len(a.text) > 12 {
		return false
	}
	rest := bytes.Trim(a.text, "-\u2013\u2014 \u00a0\u202f")
	if len(rest) == 0 || len(rest) == len(a.text) || !bytes.ContainsAny(a.text, "-\u2013\u2014") {
		return false
	}
	before := bytes.HasPrefix(trim(a.text), rest)
	apart := !before && !bytes.HasSuffix(a.text, append([]byte("-"), rest...)) || before && !bytes.HasPrefix(a.text, append(rest[:len(rest):len(rest)], '-'))
	if a.unit = string(rest); !columnar.IsCurrency(a.unit, apart) {
		return false
	}
	a.text = []byte("0")
	a.number, _ = readNumber(a.text)
	return true
}

// sign takes a minus off the number, which some systems write behind it.
func (a *amount) sign() {
	for _, minus := range []string{"-", "\u2212"} {
		if rest, found := bytes.CutPrefix(a.text, []byte(minus)); found {
			a.text, a.negative, a.odd = rest, true, minus != "-"
			return
		}
	}
	if rest, found := bytes.CutSuffix(a.text, []byte("-")); found && len(rest) > 0 && isDigit(rest[len(rest)-1]) {
		a.text, a.negative, a.odd = rest, true, true
	}
}

// takeUnit takes what is not part of the number off one of its sides. It
// reports false where that is no unit.
func (a *amount) takeUnit() bool {
	first := a.begin()
	last := lastDigit(a.text)
	if bracket := bytes.LastIndexByte(a.text, ')'); bracket > last {
		last = bracket
	}
	if last < first {
		return false
	}
	before, after := a.text[:first], a.text[last+1:]
	a.text = a.text[first : last+1]
	if rest, found := bytes.CutPrefix(after, []byte("-")); found && !a.negative && len(rest) > 0 {
		after, a.negative, a.odd = rest, true, true
	}
	after = a.cutCents(after)
	switch {
	case len(before) > 0 && len(after) > 0:
		return a.twoUnits(before, after)
	case len(before) == 0 && len(after) == 0:
		return true
	}
	side := before
	if len(before) == 0 {
		side = after
	}
	unit := trim(side)
	if a.unit = string(unit); a.unit == "%" {
		a.unit = formatPercent
		return true
	}
	if columnar.IsCurrency(a.unit, len(unit) < len(side)) {
		return true
	}
	a.glued = len(unit) == len(side) && isCurrency(unit)
	return a.glued
}

// begin is where the number begins, behind what stands before it.
func (a *amount) begin() (at int) {
	if isLetter(a.text[0]) {
		for _, word := range pointedCurrencies {
			if bytes.HasPrefix(a.text, []byte(word)) {
				at = len(word)
			}
		}
	}
	for at < len(a.text) && !isDigit(a.text[at]) && a.text[at] != '.' && a.text[at] != '-' && a.text[at] != '(' && !bytes.HasPrefix(a.text[at:], []byte("\u2212")) {
		at++
	}
	return at
}

// twoUnits takes the sign of a currency before the number and its code behind it: $5.00 MXN.
func (a *amount) twoUnits(before, after []byte) bool {
	code := trim(after)
	a.unit = string(code)
	return len(code) == 3 && isLetter(code[0]) && columnar.IsCurrency(string(trim(before)), false) && columnar.IsCurrency(a.unit, true)
}

// cutCents takes the dash off what stands behind a number that is written where its cents
// would be, and remembers the separator before it.
func (a *amount) cutCents(after []byte) []byte {
	if len(after) == 0 || after[0] != ',' && after[0] != '.' {
		return after
	}
	for _, dash := range []string{"--", "-", "\u2013", "\u2014"} {
		if rest, found := bytes.CutPrefix(after[1:], []byte(dash)); found {
			a.without = decimalsNamed(string(after[:1]))
			return rest
		}
	}
	return after
}

// isCurrency reports whether the letters right before a number may be a currency.
func isCurrency(letters []byte) bool {
	if len(letters) == 1 && isLetter(letters[0]) {
		return letters[0] == 'R'
	}
	return columnar.IsCurrency(string(letters), true)
}

// pointedCurrencies are currencies before a number that are written with a point.
var pointedCurrencies = []string{"Fr.", "SFr.", "Rs.", "kr.", "Kr.", "Rp.", "Bs."}

// trim takes spaces off both sides, of the widths that stand in numbers.
func trim(text []byte) []byte {
	for len(text) > 0 {
		if text[0] == ' ' {
			text = text[1:]
		} else if r, size := utf8.DecodeRune(text); r == '\u00a0' || r == '\u202f' {
			text = text[size:]
		} else {
			break
		}
	}
	for len(text) > 0 {
		if text[len(text)-1] == ' ' {
			text = text[:len(text)-1]
		} else if r, size := utf8.DecodeLastRune(text); r == '\u00a0' || r == '\u202f' {
			text = text[:len(text)-size]
		} else {
			break
		}
	}
	return text
}

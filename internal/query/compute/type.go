package compute

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Type is the type of an expression.
type Type struct {
	// Kind is empty for null, which has every type.
	Kind columnar.Type
	// Digits and Scale are those of integers and decimals: how many digits a value has at
	// most, and how many of them are after the point.
	Digits, Scale int
	// Open says that the digits of a decimal are not known before the values are.
	Open bool
}

// The types that do not depend on operands.
var (
	typeBoolean = Type{Kind: columnar.TypeBoolean}
	typeText    = Type{Kind: columnar.TypeText}
	typeDate    = Type{Kind: columnar.TypeDate}
	typeNumber  = Type{Kind: columnar.TypeNumber}
	// typeConverted is that of toDecimal.
	typeConverted = Type{Kind: columnar.TypeDecimal, Digits: maxDigits, Scale: divisionPlaces}
)

const (
	// integerDigits is how many digits an integer can have, and safeDigits up to how many
	// every number is one.
	integerDigits = 19
	safeDigits    = 18
	// divisionPlaces is how many places a quotient has.
	divisionPlaces = 12
)

func integer(digits int) Type { return Type{Kind: columnar.TypeInteger, Digits: digits} }

// typeOf is the type of a column.
func typeOf(c *feedmill.Column) Type {
	switch {
	case c.Type == columnar.TypeInteger:
		return integer(integerDigits)
	case c.Type == columnar.TypeDecimal && (c.Precision == 0 || c.Precision > columnar.WideDigits):
		return Type{Kind: c.Type, Open: true}
	case c.Type == columnar.TypeDecimal:
		return Type{Kind: c.Type, Digits: c.Precision, Scale: c.Scale}
	}
	return Type{Kind: c.Type}
}

// Column is a column of the type.
func (t Type) Column(name string) feedmill.Column {
	c := feedmill.Column{Name: name, SourceName: name, Type: t.Kind, Nullable: true}
	if t.Kind == columnar.TypeDecimal && !t.Open {
		c.Precision, c.Scale = t.Digits, t.Scale
	}
	return c
}

// exact reports whether values are integers or decimals.
func (t Type) exact() bool {
	return t.Kind == columnar.TypeInteger || t.Kind == columnar.TypeDecimal
}

func (t Type) numeric() bool { return t.exact() || t.Kind == columnar.TypeNumber }

func (t Type) temporal() bool {
	return t.Kind == columnar.TypeDate || t.Kind == columnar.TypeTimestamp
}

// whole is how many digits are before the point.
func (t Type) whole() int { return t.Digits - t.Scale }

// String is the name of the type.
func (t Type) String() string {
	if t.Kind == "" {
		return "null"
	}
	return string(t.Kind)
}

// calculated is the type of a result with some digits before and after the point. It is an
// integer where every value is one, and else a decimal. It overflows where a value can
// have more digits than a decimal.
func calculated(whole, scale int, integers, open bool) (t Type, overflows bool) {
	switch {
	case open:
		return Type{Kind: columnar.TypeDecimal, Open: true}, true
	case integers && whole <= safeDigits:
		return integer(whole), false
	}
	t = Type{Kind: columnar.TypeDecimal, Digits: whole + scale, Scale: scale}
	if t.Digits > maxDigits {
		t.Digits, overflows = maxDigits, true
	}
	return t, overflows
}

// common is the type that can hold the values of two. It reports false where there is none.
func common(a, b Type) (t Type, overflows, ok bool) {
	switch {
	case a.Kind == "":
		return b, false, true
	case b.Kind == "":
		return a, false, true
	case a.Kind == columnar.TypeInteger && b.Kind == columnar.TypeInteger:
		return integer(max(a.Digits, b.Digits)), false, true
	case a.exact() && b.exact():
		t, overflows = calculated(max(a.whole(), b.whole()), max(a.Scale, b.Scale), false, a.Open || b.Open)
		return t, overflows, true
	case a.numeric() && b.numeric():
		return typeNumber, false, true
	}
	return a, false, a.Kind == b.Kind && a.Kind != columnar.TypeJSON
}

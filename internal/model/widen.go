package model

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Widen is the type of a column that has held values as old says and now gets
// values as new says: the narrowest that holds both exactly. Name, id and source
// are those of old.
func Widen(old, new feedmill.Column) feedmill.Column {
	if old.FormatSet {
		labelled := old
		old.FormatSet, old.DataFormat, old.Format = false, "", labelled.DataFormat
		out := Widen(old, new)
		if out.Type != columnar.TypeText || old.Type == columnar.TypeText {
			out.FormatSet, out.DataFormat, out.Format = true, out.Format, labelled.Format
		}
		return out
	}
	out := old
	out.Nullable = old.Nullable || new.Nullable
	if old.Type == new.Type && old.Type != columnar.TypeDecimal {
		if old.Format != new.Format && (old.Type == columnar.TypeDate || old.Type == columnar.TypeTimestamp) {
			out.Format = ""
		}
		return out
	}
	out.Type, out.Format, out.Precision, out.Scale = columnar.TypeText, "", 0, 0
	switch pair := [2]columnar.Type{old.Type, new.Type}; {
	case isExact(old) && isExact(new) && old.Format == new.Format:
		whole := max(wholeDigits(old), wholeDigits(new))
		scale := max(old.Scale, new.Scale)
		if whole+scale <= columnar.WideDigits {
			out.Type, out.Format = columnar.TypeDecimal, old.Format
			out.Precision, out.Scale = whole+scale, scale
		}
	case pair == [2]columnar.Type{columnar.TypeDate, columnar.TypeTimestamp},
		pair == [2]columnar.Type{columnar.TypeTimestamp, columnar.TypeDate}:
		out.Type = columnar.TypeTimestamp
	case old.Type == columnar.TypeJSON:
		out.Type = columnar.TypeJSON
	}
	return out
}

func isExact(c feedmill.Column) bool {
	return c.Type == columnar.TypeInteger || c.Type == columnar.TypeDecimal
}

// wholeDigits is how many digits a column has before the decimal separator.
func wholeDigits(c feedmill.Column) int {
	if c.Type == columnar.TypeInteger {
		return 19
	}
	return c.Precision - c.Scale
}

// typeName is the type of a column for messages.
func typeName(c feedmill.Column) string {
	if c.Type == columnar.TypeDecimal {
		return fmt.Sprintf("decimal(%d,%d)", c.Precision, c.Scale)
	}
	return string(c.Type)
}

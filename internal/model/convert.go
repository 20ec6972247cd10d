package model

import (
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// convert fills the vector of a column, with the memory that it has. It reports
// false where a value did not fit and was not to be null.
func (c *converter) convert(column feedmill.Column) bool {
	v, rows := c.out, c.cells.Rows
	had := *v
	if had.Shared {
		had = columnar.Vector{}
	}
	if c.allMissing() {
		if nulls, ok := columnar.Nulls(column.Type, rows, column.Precision, column.Scale); ok {
			*v = nulls
			return true
		}
	}
	*v = columnar.Vector{Type: column.Type, Len: rows, Precision: column.Precision, Scale: column.Scale}
	c.valid.words = had.Valid[:0]
	switch column.Type {
	case columnar.TypeText, columnar.TypeJSON:
		v.Offsets, v.Bytes = slices.Grow(had.Offsets[:0], rows+1), slices.Grow(had.Bytes[:0], c.room())
		if c.loose && column.Type == columnar.TypeJSON {
			return c.jsonTexts()
		}
		return c.texts(column.Type == columnar.TypeJSON)
	case columnar.TypeNumber:
		v.Floats = resize(had.Floats, rows)
		return c.each(c.number)
	case columnar.TypeDecimal:
		if column.Precision > columnar.NarrowDigits {
			v.Wide = resize(had.Wide, rows)
			return c.each(c.wideDecimal)
		}
		v.Ints = resize(had.Ints, rows)
		if c.index < 0 {
			return c.each(nil)
		}
		return c.narrowDecimals()
	}
	v.Ints = resize(had.Ints, rows)
	if c.index < 0 {
		return c.each(nil)
	}
	switch column.Type {
	case columnar.TypeInteger:
		return c.integers()
	case columnar.TypeBoolean:
		return c.booleans()
	case columnar.TypeDate:
		return c.dates()
	case columnar.TypeTimestamp:
		return c.timestamps()
	}
	panic("model: unknown column type " + string(column.Type))
}

// allMissing reports whether no record has anything for the column.
func (c *converter) allMissing() bool {
	if c.index < 0 {
		return true
	}
	for at := c.index; at < len(c.cells.Cell); at += c.cells.Columns {
		if c.cells.Cell[at] != 0 {
			return false
		}
	}
	return true
}

func resize[T any](s []T, n int) []T {
	return slices.Grow(s[:0], n)[:n]
}

// each converts cell by cell. One reports whether it could set the value of a row.
func (c *converter) each(one func(row int, cell columnar.Cell) bool) bool {
	at, stride := c.index, c.cells.Columns
	for row := range c.cells.Rows {
		cell := columnar.Cell(0)
		if c.index >= 0 {
			cell = c.cells.Cell[at]
			at += stride
		}
		if !c.other(row, cell, one) {
			return false
		}
	}
	c.out.Valid = c.valid.bits()
	return true
}

// other converts one cell, which may be null. It reports false where the cell does
// not fit and is not to be null.
func (c *converter) other(row int, cell columnar.Cell, one func(row int, cell columnar.Cell) bool) bool {
	if !(cell.Empty() && withoutValue(cell)) {
		if one(row, cell) {
			return true
		}
		if !c.isToken(cell) && !c.onMisfit(row) {
			return false
		}
	}
	c.zero(row)
	c.valid.null(row, c.cells.Rows)
	return true
}

// isToken reports whether a cell is a text that means null in a column like this.
func (c *converter) isToken(cell columnar.Cell) bool {
	if !c.plan.tokens || cell.Kind() == columnar.CellToken {
		return c.plan.tokens
	}
	text := trim(c.cells.Text(cell))
	return len(text) == 0 || c.nulls.has(text) && !c.nulls.given || isZeroDate(text)
}

// withoutValue reports whether a cell without text is null in a column that is
// not text.
func withoutValue(cell columnar.Cell) bool {
	return isNull(cell) || cell.Kind() == columnar.CellQuoted
}

// zero is the value that stands where there is none.
func (c *converter) zero(row int) {
	switch v := c.out; {
	case v.Ints != nil:
		v.Ints[row] = 0
	case v.Wide != nil:
		v.Wide[row] = columnar.Int128{}
	case v.Floats != nil:
		v.Floats[row] = 0
	}
}

// validity gathers which rows have a value.
type validity struct {
	words []uint64
	used  bool // there is a null
}

// null marks a row out of so many as one without a value.
func (v *validity) null(row, rows int) {
	if !v.used {
		v.used = true
		v.words = resize(v.words, (rows+63)/64)
		for i := range v.words {
			v.words[i] = ^uint64(0)
		}
	}
	v.words[row>>6] &^= 1 << (row & 63)
}

// bits is nil where every row has a value.
func (v *validity) bits() []uint64 {
	if !v.used {
		return nil
	}
	return v.words
}

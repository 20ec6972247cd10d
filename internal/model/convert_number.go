package model

import (
	"strconv"

	"github.com/feedmill/feedmill/internal/columnar"
)

// integers fills a column of whole numbers of 64 bits. What is not written as most
// are is left to integer.
func (c *converter) integers() bool {
	data, out := c.cells.Data, c.out.Ints
	at, stride := c.index, c.cells.Columns
	for row := range out {
		cell := c.cells.Cell[at]
		at += stride
		s, e := cell.Range()
		start, end := int(s), int(e)
		if start < end && end >= 16 && digital>>cell.Kind()&1 != 0 {
			minus := one(data[start] == '-')
			start += minus
			n := end - start
			if uint(n-1) < 8 && (n == 1 || data[start] != '0') {
				if word := lastBytes(data, end, n); digits8(word) {
					out[row] = signed(value8(word), minus)
					continue
				}
			} else if uint(n-1) < 16 && data[start] != '0' {
				high, low := lastBytes(data, end-8, n-8), lastBytes(data, end, 8)
				if digits8(high) && digits8(low) {
					out[row] = signed(value8(high)*1e8+value8(low), minus)
					continue
				}
			}
		}
		if !c.other(row, cell, c.integer) {
			return false
		}
	}
	c.out.Valid = c.valid.bits()
	return true
}

// integer sets a whole number of 64 bits.
func (c *converter) integer(row int, cell columnar.Cell) bool {
	digits, negative, ok := c.exact(cell, 0)
	if !ok {
		return false
	}
	c.out.Ints[row], ok = toInt64(digits, negative)
	return ok
}

// narrowDecimals fills a column of decimals of up to 18 digits. What is not
// written as most are is left to decimal.
func (c *converter) narrowDecimals() bool {
	data, out, scale, room := c.cells.Data, c.out.Ints, c.out.Scale, c.out.Precision-c.out.Scale
	at, stride := c.index, c.cells.Columns
	usual := scale > 0 && scale < 7 && c.decimals == point
	shift := uint(8*(7-scale)) & 63
	// The digits before the point move up to those after it.
	below := uint64(1)<<shift - 1
	above := ^(below<<8 | 0xff)
	for row := range out {
		cell := c.cells.Cell[at]
		at += stride
		s, e := cell.Range()
		start, end := int(s), int(e)
		if start < end && end >= 8 && usual && digital>>cell.Kind()&1 != 0 {
			sign := int64(1)
			if data[start] == '-' {
				sign = -1
				start++
			}
			n := end - start
			whole := n - 1 - scale
			if whole > 0 && n <= 8 && whole <= room && (whole == 1 || data[start] != '0') {
				word := lastBytes(data, end, n)
				if digits := word ^ ('.'^'0')<<shift; byte(word>>shift) == '.' && digits8(digits) {
					joined := digits&below<<8 | digits&above | '0'
					out[row] = sign * int64(value8(joined))
					continue
				}
			} else if uint(n-9) < 8 && end >= 16 && whole <= room && data[start] != '0' {
				word, high := lastBytes(data, end, 8), lastBytes(data, end-8, n-8)
				if digits := word ^ ('.'^'0')<<shift; byte(word>>shift) == '.' && digits8(digits) && digits8(high) {
					joined := digits&below<<8 | digits&above | '0'
					out[row] = sign * int64(value8(high)*1e7+value8(joined))
					continue
				}
			}
		}
		if !c.other(row, cell, c.decimal) {
			return false
		}
	}
	c.out.Valid = c.valid.bits()
	return true
}

// decimal sets a decimal of up to 18 digits.
func (c *converter) decimal(row int, cell columnar.Cell) bool {
	digits, negative, ok := c.exact(cell, c.out.Scale)
	if !ok || !fitsDigits(digits, c.out.Precision) {
		return false
	}
	c.out.Ints[row] = int64(digits.Lo)
	if negative {
		c.out.Ints[row] = -int64(digits.Lo)
	}
	return true
}

// wideDecimal sets a decimal of up to 38 digits.
func (c *converter) wideDecimal(row int, cell columnar.Cell) bool {
	digits, negative, ok := c.exact(cell, c.out.Scale)
	if !ok || !fitsDigits(digits, c.out.Precision) {
		return false
	}
	if negative {
		digits = digits.Neg()
	}
	c.out.Wide[row] = digits
	return true
}

// number sets a float that keeps all digits.
func (c *converter) number(row int, cell columnar.Cell) bool {
	text := c.cells.Text(cell)
	if cell.Kind() != columnar.CellNumber {
		if digital>>cell.Kind()&1 == 0 {
			return false
		}
		text = plainly(text)
	}
	if f, ok := shortFloat(text); ok {
		c.out.Floats[row] = f
		return true
	}
	a, ok := readAmount(text)
	if !ok || !a.plain || a.unit != "" || a.brackets || !survives(text) {
		return false
	}
	f, err := strconv.ParseFloat(string(text), 64)
	c.out.Floats[row] = f
	return err == nil
}

// exact is the digits of a number of any form, at a scale. It reports false
// where the cell is no such number or has more digits after its decimal
// separator than the scale, other than zeros.
func (c *converter) exact(cell columnar.Cell, scale int) (digits columnar.Int128, negative, ok bool) {
	if digital>>cell.Kind()&1 == 0 {
		return digits, false, false
	}
	if digits, negative, ok = c.plainDigits(cell, scale); ok {
		return digits, negative, true
	}
	a, ok := readAmount(plainly(c.cells.Text(cell)))
	if !ok || a.exponent || a.read&c.decimals == 0 {
		return digits, false, false
	}
	size := a.point
	if c.decimals == comma {
		size = a.comma
	}
	// All digits in a row, without what stands between them.
	var room [64]byte
	plain := room[:0]
	for _, b := range a.text {
		if isDigit(b) {
			plain = append(plain, b)
		}
	}
	for size.scale > scale {
		if last := len(plain) - 1; plain[last] != '0' {
			return digits, false, false
		}
		plain = plain[:len(plain)-1]
		size.scale--
	}
	for len(plain) > 1 && plain[0] == '0' {
		plain = plain[1:]
	}
	if len(plain)+scale-size.scale > columnar.WideDigits {
		return digits, false, false
	}
	return scaleUp(appendDigits(digits, plain), scale-size.scale), a.negative, true
}

// plainDigits is the same for a plain number, with a point or without, whose
// digits fit a word. It reports false for others.
func (c *converter) plainDigits(cell columnar.Cell, scale int) (digits columnar.Int128, negative, ok bool) {
	s, e := cell.Range()
	start, end := int(s), int(e)
	data := c.cells.Data
	if start == end || c.decimals != point {
		return digits, false, false
	}
	if negative = data[start] == '-'; negative {
		start++
	}
	whole := leadingDigits(data[start:end])
	dot := start + whole
	fraction := max(0, end-dot-1)
	switch {
	case whole == 0, whole > 1 && data[start] == '0', fraction > scale, whole+scale > columnar.NarrowDigits:
		return digits, false, false
	case dot < end && (data[dot] != '.' || fraction == 0 || !allDigits(data, dot+1, end)):
		return digits, false, false
	}
	value := digitsValue(data, start, dot)
	if fraction > 0 {
		value = value*powers[fraction] + digitsValue(data, dot+1, end)
	}
	return columnar.Int128{Lo: value * powers[scale-fraction]}, negative, true
}

// fitsDigits reports whether a number that is not negative has at most so many digits.
func fitsDigits(n columnar.Int128, digits int) bool {
	if n.Hi == 0 && digits < len(powers) {
		return n.Lo < powers[digits]
	}
	return n.Compare(scaleUp(columnar.Int128{Lo: 1}, digits)) < 0
}

func toInt64(n columnar.Int128, negative bool) (int64, bool) {
	if n.Hi != 0 || n.Lo > 1<<63 || n.Lo == 1<<63 && !negative {
		return 0, false
	}
	if negative {
		return -int64(n.Lo), true
	}
	return int64(n.Lo), true
}

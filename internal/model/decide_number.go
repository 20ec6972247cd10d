package model

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// number is for columns of numbers of any kind. It is a table: the first case that applies decides.
func (d *decision) number(c *column, n int64, e *evidence) {
	t := &c.tallies
	special := t[shapeGrouped]
	special.merge(t[shapeAmount])
	switch {
	case t[shapeExponent].count > 0 && special.count > 0:
		d.misfits(c, n)
		return
	case t[shapeExponent].count > 0 && e.decimalsSet && e.decimals == comma && c.read&comma == 0:
		d.note(feedmill.WarnLocale, t[shapeExponent], "Some numbers do not have the decimal comma that was set, so the column is text. Fix them at the source, or set decimal=. instead.")
		return
	case t[shapeExponent].count > 0:
		d.float(c)
		return
	case c.mixed:
		d.note(feedmill.WarnCurrency, t[shapeAmount], "The amounts have different currencies or units, so the column is text. Use one currency or unit at the source, or split the column.")
		return
	case c.glued > 0 && !c.priced:
		d.column.Format = "" // the names of things: CAD100
		return
	case t[shapeAmount].count > 0 && t[shapeAmount].count < n && c.unit != "":
		d.misfits(c, n)
		return
	}
	if !d.decimalsOf(c, e, special) {
		return
	}
	whole := d.plan.extent.scale == 0 && (d.plan.extent.whole <= columnar.NarrowDigits || special.count == 0 && t[shapeDecimal].count == 0)
	switch {
	case special.count > 0 && c.weak == special.count && t[shapeDecimal].count == 0:
		d.note(feedmill.WarnLocale, special, "The values contain spaces between digits and might not be numbers, so the column is text. Remove the spaces at the source to get numbers.")
	case special.count > 0 && c.brackets == n && c.unit == "" && d.plan.extent.scale == 0:
		d.note(feedmill.WarnLocale, special, "All numbers are in parentheses and might not be negative amounts, so the column is text. Use minus signs at the source to get numbers.")
	case t[shapeAmount].count > 0:
		d.column.Format = c.unit
		if c.unit == "" {
			d.column.Format = formatAccounting
		}
		d.exact(c, false)
	default:
		d.exact(c, whole)
	}
}

// decimalsOf finds by which of the two ways the numbers are read. It reports false
// where that cannot be said, and warns. It is a table: the first case that applies decides.
func (d *decision) decimalsOf(c *column, e *evidence, special tally) bool {
	read := c.read
	ambiguous := read == both && c.points+c.commas > 0
	shown := special
	shown.merge(c.tallies[shapeDecimal])
	switch {
	case e.decimalsSet:
		if read &= e.decimals; read == 0 {
			d.note(feedmill.WarnLocale, shown, "Some numbers do not match the decimal separator that was set, so the column is text. Fix them at the source, or change decimal.")
			return false
		}
	case read == 0:
		d.note(feedmill.WarnLocale, shown, "Some numbers have a decimal point and others a decimal comma, so the column is text. Use one of them at the source.")
		return false
	case !ambiguous:
	case e.decimals != 0:
		read = e.decimals
		if read == comma || c.commas > 0 || e.semicolon || c.tallies[shapeAmount].count > 0 {
			d.note(feedmill.WarnAssumedLocale, shown, "The numbers were read with a decimal %s because other columns or earlier data use it. Set decimal=… to change it.", read.name())
		}
	case c.commas > 0 && c.points == 0 && (c.thousands || e.assumesThousands(c)):
		read, d.thousands = point, true
		d.note(feedmill.WarnThousands, shown, "Commas were assumed to separate thousands; no number proves it. Set decimal=, if they are decimal commas, or decimal=. to confirm the assumption.")
	case c.commas == 0 && !e.semicolon && (c.tallies[shapeAmount].count == 0 || c.unit == formatPercent):
		read = point
	default:
		d.note(feedmill.WarnLocale, shown, "No number shows whether the comma or the point is the decimal separator, so the column is text. Set decimal=. or decimal=, to choose one.")
		return false
	}
	if read == both {
		read = point
	}
	if d.plan.decimals = read; read == comma {
		d.plan.extent = c.comma
	}
	return true
}

// minThousands is how many numbers with a comma are enough for it to be assumed to separate
// thousands.
const minThousands = 10

// assumesThousands reports whether commas of a column that proves nothing are assumed to
// separate thousands: each stands before three digits, numbers without one have at most three, and
// something speaks for it.
func (e *evidence) assumesThousands(c *column) bool {
	return e.assumes && e.proven == 0 && !e.semicolon && c.comma.whole <= 3 &&
		(c.commas >= minThousands || e.commaSeparated || c.unit == "$" || c.unit == "£")
}

// name is the decimal separator in a word.
func (r decimals) name() string {
	if r == comma {
		return "comma"
	}
	return "point"
}

// exact makes the column one of integers or decimals, where 38 digits are enough.
func (d *decision) exact(c *column, whole bool) {
	digits := d.plan.extent.whole + d.plan.extent.scale
	switch {
	case whole:
		d.column.Type = columnar.TypeInteger
	case digits <= columnar.WideDigits:
		d.column.Type = columnar.TypeDecimal
		d.column.Precision, d.column.Scale = digits, d.plan.extent.scale
	default:
		d.float(c)
	}
}

// formatted gives a column of numbers the format that the source says that all of them have. Amounts of
// money are decimals, as they are where they are written.
func (d *decision) formatted(c *column, format string) {
	if format == "" || d.column.Type != columnar.TypeInteger && d.column.Type != columnar.TypeDecimal {
		return
	}
	if columnar.IsCurrency(format, true) {
		d.exact(c, false)
	}
	d.column.Format = format
}

// float makes the column one of floats, where no value loses digits by it.
func (d *decision) float(c *column) {
	special := c.tallies[shapeGrouped].count + c.tallies[shapeAmount].count
	switch {
	case c.long.count > 0:
		d.note(feedmill.WarnDigits, c.long, "Some numbers would lose digits as floating-point numbers, so the column is text. Round them at the source to get numbers.")
	case special > 0:
		d.column.Format = ""
		d.note(feedmill.WarnDigits, c.tallies[shapeGrouped], "Some numbers have more than %d digits, so the column is text. Round them at the source to get numbers.", columnar.WideDigits)
	default:
		d.column.Type = columnar.TypeNumber
	}
}

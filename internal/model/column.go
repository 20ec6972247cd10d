package model

import (
	"github.com/feedmill/feedmill/internal/columnar"
)

// column is what is known of one column. States of different rows merge into
// that of all of them, in any order.
type column struct {
	rows    int64 // that were scanned, with nulls
	nulls   int64
	empties int64 // quoted fields without any text
	errors  tally // cells of the kind CellError, which count as nulls
	tallies [shapes]tally
	// givenUp says that the column is text and is no longer scanned closely,
	// so that the tallies are not complete.
	givenUp bool

	// Of numbers: how they can be read, how many digits they have in both
	// ways, those whose digits a float loses, and what else stands with them.
	read         decimals
	point, comma extent
	long         tally
	// weak are the grouped numbers that prove nothing; alike those grouped
	// ones that both ways read the same; unit is that of the first amount.
	weak, alike int64
	unit        string
	mixed       bool
	brackets    int64

	// Of dates with the year last: how they can be read, and how they are written.
	order      order
	separator  byte
	separators bool // there are several
	shortYear  bool
	timed      int64

	// Of all times: those that are more exact than a microsecond.
	overrun tally
}

func newColumn() *column { return &column{read: both, order: dayFirst | monthFirst} }

// value takes in one value.
func (c *column) value(row int64, v *value) {
	c.tallies[v.shape].add(row, v.text)
	if v.long {
		c.long.add(row, v.text)
	}
	switch v.shape {
	case shapeInteger, shapeDecimal, shapeExponent, shapeGrouped, shapeAmount:
		c.number(&v.amount, v.shape)
	case shapeYearLast:
		c.yearLast(&v.date)
		if v.date.time.overrun {
			c.overrun.add(row, v.text)
		}
	case shapeTime:
		if v.moment.overrun {
			c.overrun.add(row, v.text)
		}
	}
}

func (c *column) number(a *amount, s shape) {
	c.read &= a.read
	if a.read&point != 0 {
		c.point = c.point.max(a.point)
	}
	if a.read&comma != 0 {
		c.comma = c.comma.max(a.comma)
	}
	if s == shapeGrouped && a.weak {
		c.weak++
	}
	if (s == shapeGrouped || s == shapeAmount) && a.read == both && a.point == a.comma {
		c.alike++
	}
	if s != shapeAmount {
		return
	}
	if a.brackets {
		c.brackets++
	}
	if c.tallies[shapeAmount].count == 1 {
		c.unit = a.unit
	}
	c.mixed = c.mixed || c.unit != a.unit
}

func (c *column) yearLast(d *yearLast) {
	c.order &= d.read
	if c.separator != 0 && c.separator != d.separator {
		c.separators = true
	}
	c.separator = d.separator
	c.shortYear = c.shortYear || d.shortYear
	if d.time.timed {
		c.timed++
	}
}

// merge takes in the state of other rows.
func (c *column) merge(o *column) {
	amounts := c.tallies[shapeAmount].count
	for s := range c.tallies {
		c.tallies[s].merge(o.tallies[s])
	}
	c.rows += o.rows
	c.nulls += o.nulls
	c.empties += o.empties
	c.errors.merge(o.errors)
	c.givenUp = c.givenUp || o.givenUp
	c.read &= o.read
	c.point, c.comma = c.point.max(o.point), c.comma.max(o.comma)
	c.long.merge(o.long)
	c.weak += o.weak
	c.alike += o.alike
	c.brackets += o.brackets
	switch {
	case o.tallies[shapeAmount].count == 0:
	case amounts == 0:
		c.unit, c.mixed = o.unit, o.mixed
	default:
		c.mixed = c.mixed || o.mixed || c.unit != o.unit
	}
	c.order &= o.order
	c.separators = c.separators || o.separators || c.separator != 0 && o.separator != 0 && c.separator != o.separator
	c.separator = max(c.separator, o.separator)
	c.shortYear = c.shortYear || o.shortYear
	c.timed += o.timed
	c.overrun.merge(o.overrun)
}

// values counts those that are not null.
func (c *column) values() (n int64) {
	for _, t := range c.tallies {
		n += t.count
	}
	return n
}

// isNull reports whether a cell is null by its kind.
func isNull(cell columnar.Cell) bool {
	switch cell.Kind() {
	case columnar.CellMissing, columnar.CellNull:
		return true
	case columnar.CellPlain:
		return cell.Empty()
	}
	return false
}

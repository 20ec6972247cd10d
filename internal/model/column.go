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
	// givenUp says that the column is to be text and is not scanned closely.
	givenUp bool
	// settled says that the column is text beyond doubt.
	settled bool
	tokens  tokens
	// numeric counts the texts that are numbers, where the source says that they
	// are text.
	numeric int64
	guises  guises
	// sole is the only text of the shape that has no other.
	sole sole

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
	// glued are amounts whose currency has letters and stands right at the number, where it may
	// be part of a name, and priced says that one of them is written as prices are.
	glued  int64
	priced bool
	// points and commas are those that have another value by each of the two ways to
	// read them: 1.234 and 1,234.
	points, commas int64
	// thousands says that commas of the data before were assumed to separate thousands.
	thousands bool

	// Of dates with the year last: how they can be read, and how they are written.
	order      order
	separator  byte
	separators bool // there are several
	shortYear  bool
	longYear   bool // some have four digits
	timed      int64
	birth      bool // its name is about births
	// first and last are the first and last parts of those with short years.
	first, last twoDigits
	// format is how the dates are written whose months have names, and named their years of two digits; namedLong says that
	// a date that can be read in one way only has another year.
	format    formats
	named     twoDigits
	namedLong bool
	// original says that the rules of the first release decide about the column.
	original bool

	// clock is that of times without an offset, nil for UTC. Those that it skips or shows twice are in local, and in localIn for
	// each order in which the parts of dates may stand.
	clock   *localClock
	local   localTimes
	localIn [len(orders)]localTimes

	// Of all times: those that are more exact than a microsecond.
	overrun tally
}

func newColumn() *column {
	return &column{read: both, order: dayFirst | monthFirst | yearFirst}
}

// value takes in one value.
func (c *column) value(row int64, v *value) {
	c.tallies[v.shape].add(row, v.text)
	if v.long {
		c.long.add(row, v.text)
	}
	if v.numeric {
		c.numeric++
	}
	if v.shape == shapeText {
		c.sole.add(v.text)
	}
	if v.guised {
		c.guises.add(row, v.text, v.with)
	}
	switch v.shape {
	case shapeToken, shapeZeroDate:
		c.tokens.add(trim(v.text))
	case shapeInteger, shapeDecimal, shapeExponent, shapeGrouped, shapeAmount:
		c.number(&v.amount, v.shape)
	case shapeYearLast:
		c.yearLast(&v.date)
		for i, in := range orders {
			if m, ok := v.date.moment(in); ok && c.clock != nil {
				c.clock.note(&c.localIn[i], m, row, v.text)
			}
		}
		if v.date.time.overrun {
			c.overrun.add(row, v.text)
		}
	case shapeDate, shapeTime:
		c.format.add(v.format)
		if c.clock != nil {
			c.clock.note(&c.local, v.moment, row, v.text)
		}
		if c.namedLong = c.namedLong || !v.moment.short; v.moment.short {
			c.named.add(v.moment.two)
		}
		if v.moment.overrun {
			c.overrun.add(row, v.text)
		}
	}
}

// formats is how dates are written, of which there may be several ways.
type formats struct {
	one     string
	several bool
	any     bool
}

func (f *formats) add(format string) {
	f.several = f.several || f.any && f.one != format
	f.one, f.any = format, true
}

func (f *formats) merge(o formats) {
	if o.any {
		f.several = f.several || o.several
		f.add(o.one)
	}
}

// name is the way where it is the only one.
func (f *formats) name() string {
	if f.several {
		return ""
	}
	return f.one
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
	switch {
	case a.read != both:
	case a.point == a.comma:
		if s == shapeGrouped || s == shapeAmount {
			c.alike++
		}
	case a.point.scale > 0:
		c.points++
	default:
		c.commas++
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
	if a.glued {
		c.glued++
		c.priced = c.priced || !a.plain || a.point.scale == 2
	}
}

func (c *column) yearLast(d *yearLast) {
	c.order &= d.read
	if c.separator != 0 && c.separator != d.separator {
		c.separators = true
	}
	c.separator = d.separator
	c.shortYear, c.longYear = c.shortYear || d.shortYear, c.longYear || !d.shortYear
	if d.shortYear {
		c.first.add(d.first)
		c.last.add(d.last)
	}
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
	c.givenUp, c.settled = c.givenUp || o.givenUp, c.settled || o.settled
	c.read &= o.read
	c.point, c.comma = c.point.max(o.point), c.comma.max(o.comma)
	c.long.merge(o.long)
	c.weak += o.weak
	c.alike += o.alike
	c.points += o.points
	c.commas += o.commas
	c.brackets += o.brackets
	c.glued += o.glued
	c.priced = c.priced || o.priced
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
	c.shortYear, c.longYear = c.shortYear || o.shortYear, c.longYear || o.longYear
	c.first.merge(o.first)
	c.last.merge(o.last)
	c.format.merge(o.format)
	c.named.merge(o.named)
	c.namedLong = c.namedLong || o.namedLong
	if o.clock != nil {
		c.clock = o.clock
	}
	c.local.merge(o.local)
	for i := range c.localIn {
		c.localIn[i].merge(o.localIn[i])
	}
	c.tokens.merge(o.tokens)
	c.numeric += o.numeric
	c.guises.merge(o.guises)
	c.sole.merge(o.sole)
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

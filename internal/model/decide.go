package model

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// decision is the type of a column and how its values are read.
type decision struct {
	column   feedmill.Column
	plan     plan
	warnings []feedmill.Warning
}

// plan says how the values of a column are read from text.
type plan struct {
	decimals decimals
	order    order
	// extent is how many digits the numbers have.
	extent extent
	// long says that floats lose digits of some of them.
	long bool
	// empty says that the column has no value at all.
	empty bool
}

// decide applies the rules to all that is known of the column.
func (c *column) decide(text bool) decision {
	d := decision{plan: plan{decimals: point, order: c.order, extent: c.point, long: c.long.count > 0}}
	if c.read == comma {
		d.plan.decimals, d.plan.extent = comma, c.comma
	}
	n := c.values()
	d.plan.empty = n == 0 && c.empties == 0 && !c.givenUp
	d.column.Type = columnar.TypeText
	if !text && !c.givenUp && n > 0 {
		c.decideType(&d, n)
	}
	if text || c.givenUp {
		d.plan = plan{decimals: point}
	}
	d.column.Nullable = c.nulls > 0 || c.empties > 0 && d.column.Type != columnar.TypeText
	if c.errors.count > 0 {
		d.warnings = append(d.warnings, feedmill.Warning{
			Code: feedmill.WarnCell, Count: c.errors.count, FirstRow: c.errors.first + 1,
			Detail: fmt.Sprintf("cells with an error instead of a value, which are null (%q)", c.errors.sample),
		})
	}
	return d
}

func (c *column) decideType(d *decision, n int64) {
	count := func(of ...shape) (sum int64) {
		for _, s := range of {
			sum += c.tallies[s].count
		}
		return sum
	}
	switch n {
	case count(shapeBoolean):
		d.column.Type = columnar.TypeBoolean
	case count(shapeDate):
		d.column.Type = columnar.TypeDate
	case count(shapeDate, shapeTime):
		d.moments(c, columnar.TypeTimestamp)
	case count(shapeYearLast):
		d.yearLast(c)
	case count(shapeInteger, shapeDecimal, shapeExponent, shapeGrouped, shapeAmount):
		d.number(c, n)
	default:
		if count(shapeJSON) > 0 {
			d.column.Type = columnar.TypeJSON
			return
		}
		d.misfits(c, n)
	}
}

func (d *decision) warn(code string, t tally, format string, args ...any) {
	d.warnings = append(d.warnings, feedmill.Warning{
		Code: code, Count: t.count, FirstRow: t.first + 1, Detail: fmt.Sprintf(format, args...) + fmt.Sprintf("; the column is text (%q)", t.sample),
	})
}

// moments gives the column a type for dates or times, unless that would lose digits.
func (d *decision) moments(c *column, as columnar.Type) {
	if c.overrun.count > 0 {
		d.warn(feedmill.WarnDigits, c.overrun, "times are more exact than a microsecond")
		return
	}
	d.column.Type = as
}

// yearLast is for dates with the year last.
func (d *decision) yearLast(c *column) {
	dates := c.tallies[shapeYearLast]
	switch {
	case c.shortYear:
		d.warn(feedmill.WarnDates, dates, "dates have years of two digits")
	case c.separators:
		d.warn(feedmill.WarnDates, dates, "dates are written in several ways")
	case c.order == 0:
		d.warn(feedmill.WarnDates, dates, "some dates have the day first and some the month")
	case c.order == dayFirst|monthFirst:
		d.warn(feedmill.WarnDates, dates, "no date tells whether the day comes first or the month")
	case c.timed > 0:
		d.column.Format = c.dateFormat() + " hh:mm"
		d.moments(c, columnar.TypeTimestamp)
	default:
		d.column.Format = c.dateFormat()
		d.column.Type = columnar.TypeDate
	}
}

func (c *column) dateFormat() string {
	if c.order == dayFirst {
		return fmt.Sprintf("dd%cmm%cyyyy", c.separator, c.separator)
	}
	return fmt.Sprintf("mm%cdd%cyyyy", c.separator, c.separator)
}

// number is for columns of numbers of any kind.
func (d *decision) number(c *column, n int64) {
	t := &c.tallies
	special := t[shapeGrouped]
	special.merge(t[shapeAmount])
	switch {
	case t[shapeExponent].count > 0 && special.count > 0:
		d.misfits(c, n)
	case t[shapeExponent].count > 0:
		d.float(c)
	case special.count == 0:
		d.exact(c, t[shapeDecimal].count == 0)
	case c.mixed:
		d.warn(feedmill.WarnCurrency, t[shapeAmount], "amounts are in several currencies or units")
	case t[shapeAmount].count > 0 && t[shapeAmount].count < n && c.unit != "":
		d.misfits(c, n)
	case c.read == 0:
		d.warn(feedmill.WarnLocale, special, "some numbers have a decimal point and some a decimal comma")
	case c.read == both && (c.alike < special.count || t[shapeDecimal].count > 0):
		d.warn(feedmill.WarnLocale, special, "no number tells whether the comma or the point is the decimal one")
	case c.weak == special.count && t[shapeDecimal].count == 0:
		d.warn(feedmill.WarnLocale, special, "digits have spaces between them and may be something else than numbers")
	case c.brackets == n && c.unit == "" && d.plan.extent.scale == 0:
		d.warn(feedmill.WarnLocale, special, "all numbers are in parentheses and may be something else than negative")
	case t[shapeAmount].count > 0:
		d.column.Format = c.unit
		if c.unit == "" {
			d.column.Format = formatAccounting
		}
		d.exact(c, false)
	default:
		d.exact(c, d.plan.extent.scale == 0 && d.plan.extent.whole <= columnar.NarrowDigits)
	}
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

// float makes the column one of floats, where no value loses digits by it.
func (d *decision) float(c *column) {
	special := c.tallies[shapeGrouped].count + c.tallies[shapeAmount].count
	switch {
	case c.long.count > 0:
		d.warn(feedmill.WarnDigits, c.long, "numbers have more digits than a number can hold")
	case special > 0:
		d.column.Format = ""
		d.warn(feedmill.WarnDigits, c.tallies[shapeGrouped], "numbers have more than %d digits", columnar.WideDigits)
	default:
		d.column.Type = columnar.TypeNumber
	}
}

// misfitShare is how few misfits, one in so many values, are worth a warning.
const misfitShare = 20

// misfits warns where only a few values keep the column from another type.
func (d *decision) misfits(c *column, n int64) {
	families := []struct {
		name   string
		shapes []shape
	}{
		{"numbers", []shape{shapeInteger, shapeDecimal, shapeExponent}},
		{"numbers", []shape{shapeGrouped, shapeAmount}},
		{"booleans", []shape{shapeBoolean}},
		{"dates", []shape{shapeDate, shapeTime}},
		{"dates", []shape{shapeYearLast}},
	}
	for _, family := range families {
		others := c.tallies
		for _, s := range family.shapes {
			others[s] = tally{}
		}
		var rest tally
		for _, t := range others {
			rest.merge(t)
		}
		if rest.count*misfitShare <= n {
			d.warn(feedmill.WarnMisfit, rest, "values that are not %s like the others, %d of %d", family.name, rest.count, n)
			return
		}
	}
}

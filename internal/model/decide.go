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
	// thousands says that commas are assumed to separate thousands.
	thousands bool
}

// plan says how the values of a column are read from text.
type plan struct {
	decimals decimals
	order    order
	// latest is the last year that a year of two digits can mean, 0 for any.
	latest int
	// extent is how many digits the numbers have.
	extent extent
	// long says that floats lose digits of some of them.
	long bool
	// empty says that the column has no value at all.
	empty bool
	// tokens says that texts that mean null do so here, and unwrap that texts
	// are taken out of the formulas that they are in.
	tokens, unwrap bool
	// loose says that somebody has set the type, so that a text may be what its
	// source does not say that it is.
	loose bool
}

// numbers are the shapes of numbers, and moments those of dates that can be read
// in one way only.
var (
	numbers = []shape{shapeInteger, shapeDecimal, shapeExponent, shapeGrouped, shapeAmount}
	moments = []shape{shapeDate, shapeTime}
)

// count is how many values have one of the shapes.
func (c *column) count(of ...shape) (sum int64) {
	for _, s := range of {
		sum += c.tallies[s].count
	}
	return sum
}

// decide applies the rules to all that is known of the column and the table.
func (c *column) decide(text bool, e *evidence) decision {
	d := decision{plan: plan{decimals: point, extent: c.point, long: c.long.count > 0}}
	n := c.values()
	d.plan.empty = n == 0 && c.empties == 0 && !c.givenUp
	d.column.Type = columnar.TypeText
	if !text && !c.givenUp && n > 0 {
		c.decideType(&d, n, e)
	}
	if text || c.givenUp {
		d.plan = plan{decimals: point}
	}
	d.column.Nullable = d.column.Nullable || c.nulls > 0 || c.empties > 0 && d.column.Type != columnar.TypeText
	if c.errors.count > 0 {
		d.warnings = append(d.warnings, feedmill.Warning{
			Code: feedmill.WarnCell, Count: c.errors.count, FirstRow: c.errors.firstRow(), Examples: c.errors.list(),
			Detail: "Formula errors (#N/A, #DIV/0!) were imported as null. Fix the formulas at the source to get values.",
		})
	}
	return d
}

// decideType gives the column the type that all of its values have, but for those
// that mean null.
func (c *column) decideType(d *decision, all int64, e *evidence) {
	null := c.tallies[shapeToken]
	n := all - null.count
	if dates := c.count(append(moments, shapeYearLast)...); dates > 0 && dates+c.tallies[shapeZeroDate].count == n {
		null.merge(c.tallies[shapeZeroDate])
		n = dates
	}
	switch n {
	case 0:
		// A column of nothing but tokens stays text.
	case c.count(shapeBoolean):
		d.column.Type = columnar.TypeBoolean
	case c.count(shapeDate):
		d.column.Type, d.column.Format = columnar.TypeDate, c.format.name()
		d.century(c, e, 0)
	case c.count(moments...):
		d.column.Format = c.format.name()
		d.moments(c, columnar.TypeTimestamp)
		if d.column.Type == columnar.TypeTimestamp {
			d.century(c, e, 0)
			d.localWarnings(c, 0)
		}
	case c.count(shapeYearLast):
		d.yearLast(c, e)
	case c.count(numbers...):
		d.number(c, n, e)
	default:
		if c.count(shapeJSON) > 0 {
			d.column.Type = columnar.TypeJSON
			return
		}
		d.texts(c, n)
		return
	}
	d.yearsAhead(c)
	if d.column.Type == columnar.TypeText {
		d.column.Format = ""
	} else if null.count > 0 {
		d.nulled(c, null)
	}
}

// note adds a warning about the values of a tally.
func (d *decision) note(code string, t tally, format string, args ...any) {
	d.warnings = append(d.warnings, feedmill.Warning{
		Code: code, Count: t.count, FirstRow: t.firstRow(), Examples: t.list(), Detail: fmt.Sprintf(format, args...),
	})
}

// moments gives the column a type for dates or times, unless that would lose digits.
func (d *decision) moments(c *column, as columnar.Type) {
	if c.overrun.count > 0 {
		d.column.Format = ""
		d.note(feedmill.WarnDigits, c.overrun, "Some times are more precise than a microsecond, so the column is text. Round them at the source to get timestamps.")
		return
	}
	d.column.Type = as
}

// texts is for columns of text: it warns where their values are mostly of
// another type, and of what their texts are.
func (d *decision) texts(c *column, n int64) {
	if wrapped := c.tallies[shapeWrapped]; wrapped.count > 0 {
		d.plan.unwrap = true
		d.note(feedmill.WarnWrapped, wrapped, `Cells are written as ="…", which Excel uses to keep digits as text. Only the text in the quotes was imported.`)
		if wrapped.count == n {
			return
		}
	}
	if c.numeric == n {
		d.note(feedmill.WarnNumericText, c.tallies[shapeText], "All values are numbers that the source marks as text, so the column is text. Set its type to integer, decimal or number in columns.")
		return
	}
	like := c.numeric + c.count(numbers...)
	switch {
	case c.numeric > 0 && like == n:
		d.note(feedmill.WarnNumericText, c.tallies[shapeText], "All values are numbers, but the source marks %d of %d as text, so the column is text. Set its type to integer, decimal or number in columns.", c.numeric, n)
		return
	case c.numeric > 0 && like*10 >= n*(10-misfitShare):
		d.note(feedmill.WarnNumericText, c.tallies[shapeText], "%d of %d values are numbers, but the source marks some of them as text, so the column is text. Fix the other values at the source, then set the type in columns.", like, n)
		return
	}
	if !d.guised(c, n) {
		d.misfits(c, n)
	}
}

// misfitShare is how many misfits in ten values are worth a warning, at most.
const misfitShare = 3

// originalShare is how many values there are at least for one misfit that is worth a warning by
// the original rules.
const originalShare = 20

// misfits warns where most values are of one other type, and those that are not
// keep the column from it.
func (d *decision) misfits(c *column, n int64) {
	families := []struct {
		name   string
		shapes []shape
	}{
		{"numbers", numbers},
		{"true or false", []shape{shapeBoolean}},
		{"dates", append(moments, shapeYearLast)},
	}
	for _, family := range families {
		others := c.tallies
		others[shapeToken] = tally{}
		for _, s := range family.shapes {
			others[s] = tally{}
		}
		var rest tally
		for _, t := range others {
			rest.merge(t)
		}
		if c.original && rest.count*originalShare > n {
			continue
		}
		if alone := c.sole.any && !c.sole.several && len(c.sole.text) <= maxSample && rest.count == c.tallies[shapeText].count && rest.count < n; alone && rest.count > 1 && rest.count*10 <= n*9 {
			d.note(feedmill.WarnMisfit, rest, "All values are %s except %q, which occurs in %d of %d values, so the column is text. List it as a null token (nulls=…) if it means no value.", family.name, c.sole.text, rest.count, n)
			return
		}
		if rest.count*10 > n*misfitShare {
			continue
		}
		if rest.count > 0 {
			d.note(feedmill.WarnMisfit, rest, "%d of %d values are not %s, so the column is text. Fix them at the source, or list them as null tokens (nulls=…).", rest.count, n, family.name)
		} else {
			d.note(feedmill.WarnMisfit, c.mixedShapes(family.shapes), "The column contains %s in several formats that cannot be combined, so it is text. Use one format at the source.", family.name)
		}
		return
	}
}

// mixedShapes is the values of the rarest of some shapes.
func (c *column) mixedShapes(of []shape) (rarest tally) {
	for _, s := range of {
		if t := c.tallies[s]; t.count > 0 && (rarest.count == 0 || t.count < rarest.count) {
			rarest = t
		}
	}
	return rarest
}

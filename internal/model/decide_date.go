package model

import (
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// ordered is the orders in which all dates of the column can be read. With points
// the day comes first, unless there is no such day.
func (c *column) ordered() order {
	o := c.order
	if c.longYear {
		o &^= yearFirst
	}
	if o&(dayFirst|monthFirst) != 0 && o&yearFirst != 0 && c.first.size() >= c.last.size() {
		o &^= yearFirst // what changes least is the year
	}
	if !c.original && c.separator == '.' && o&dayFirst != 0 && o&yearFirst == 0 {
		o = dayFirst
	}
	return o
}

// yearLast is for dates of three numbers.
func (d *decision) yearLast(c *column, e *evidence) {
	dates := c.tallies[shapeYearLast]
	if c.original && c.shortYear && e.orderSet == 0 {
		d.note(feedmill.WarnDates, dates, "The dates have two-digit years, so the column is text. Set dates=dmy, mdy or ymd to read them as dates.")
		return
	}
	o := c.ordered()
	if set := e.orderSet; set != 0 && (set != yearFirst || !c.longYear) {
		if o = c.order & set; o == 0 {
			d.note(feedmill.WarnDates, dates, "Some dates do not match the order %s that was set, so the column is text. Fix them at the source, or set another order with dates=….", set.name())
			return
		}
	}
	switch {
	case c.separators:
		d.note(feedmill.WarnDates, dates, "The dates have different separators, so the column is text. Use one separator at the source.")
		return
	case o == 0:
		d.note(feedmill.WarnDates, dates, "Some dates have the day first and others the month, so the column is text. Use one order at the source.")
		return
	case !o.single():
		assumed := o & e.order(c.separator)
		if assumed == 0 || o&yearFirst != 0 {
			d.note(feedmill.WarnDates, dates, "The dates can be read as %s, so the column is text. Set dates=dmy, mdy or ymd to choose an order.", o.names())
			return
		}
		o = assumed
		d.note(feedmill.WarnAssumedOrder, dates, "The dates were read as %s because other columns or earlier data use that order. Set dates=… to choose another order.", o.name())
	}
	d.plan.order = o
	d.column.Format = c.dateFormat(o)
	d.century(c, e, o)
	if c.timed > 0 {
		d.column.Format += " hh:mm"
		d.moments(c, columnar.TypeTimestamp)
		d.localWarnings(c, o)
		return
	}
	d.column.Type = columnar.TypeDate
}

// names lists the orders of a set.
func (o order) names() string {
	var names []string
	for _, one := range []order{dayFirst, monthFirst, yearFirst} {
		if o&one != 0 {
			names = append(names, one.name())
		}
	}
	return strings.Join(names, " or ")
}

// dateFormat is how the dates are written.
func (c *column) dateFormat(o order) string {
	year := "yyyy"
	switch {
	case c.shortYear && c.longYear:
		year = "yy or yyyy"
	case c.shortYear:
		year = "yy"
	}
	parts := []string{"dd", "mm", year}
	switch o {
	case monthFirst:
		parts = []string{"mm", "dd", year}
	case yearFirst:
		parts = []string{year, "mm", "dd"}
	}
	return strings.Join(parts, string(rune(c.separator)))
}

// The years of Thailand's calendar are buddhistYears ahead of those of others, and what is between the two is hardly
// meant to be that far ahead.
const (
	buddhistYears = 543
	firstBuddhist = 1930 + buddhistYears
	lastBuddhist  = 2070 + buddhistYears
)

// yearsAhead warns of dates that look like those of Thailand's calendar. They are kept as they are written: only who
// wrote them knows.
func (d *decision) yearsAhead(c *column) {
	if d.column.Type != columnar.TypeDate && d.column.Type != columnar.TypeTimestamp {
		return
	}
	var dates tally
	for _, s := range append([]shape{shapeYearLast}, moments...) {
		dates.merge(c.tallies[s])
	}
	for _, e := range dates.examples {
		if year := yearIn(e.text); year < firstBuddhist || year > lastBuddhist {
			return
		}
	}
	if len(dates.examples) > 0 {
		d.note(feedmill.WarnYearsAhead, dates, "The years look like years of the Buddhist calendar, which is %d years ahead. They were imported unchanged. Subtract %d at the source, or set the column's type to text.", buddhistYears, buddhistYears)
	}
}

// yearIn is the first number of four digits in a text, or 0.
func yearIn(text string) (year int) {
	digits := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isDigit(text[i]) {
			year, digits = year*10+int(text[i]-'0'), digits+1
			continue
		}
		if digits == 4 {
			return year
		}
		year, digits = 0, 0
	}
	return 0
}

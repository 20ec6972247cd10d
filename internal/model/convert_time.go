package model

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
)

// boolean sets 0 or 1.
func (c *converter) boolean(row int, cell columnar.Cell) bool {
	truth := cell.Kind() == columnar.CellTrue
	if !truth && cell.Kind() != columnar.CellFalse {
		text := trim(c.cells.Text(cell))
		switch {
		case anyText>>cell.Kind()&1 != 0 && isBoolean(text):
			truth = len(text) == len("true")
		case c.loose && isAnswer(text, "1", "yes", "y", "t"):
			truth = true
		case !c.loose || !isAnswer(text, "0", "no", "n", "f"):
			return false
		}
	}
	c.out.Ints[row] = 0
	if truth {
		c.out.Ints[row] = 1
	}
	return true
}

// isAnswer reports whether a text is one of some words, in small or large letters.
func isAnswer(text []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(string(text), word) })
}

// date sets the days since 1970.
func (c *converter) date(row int, cell columnar.Cell) bool {
	start, end := cell.Range()
	if d, ok := parseDate(c.cells.Data, int(start), int(end)); ok && d.real() && dated>>cell.Kind()&1 != 0 {
		c.out.Ints[row] = d.unix()
		return true
	}
	m, ok := c.moment(cell)
	c.out.Ints[row] = m.day
	return ok && !m.timed
}

// timestamp sets the microseconds since 1970.
func (c *converter) timestamp(row int, cell columnar.Cell) bool {
	start, end := cell.Range()
	if d, seconds, ok := parseSeconds(c.cells.Data, int(start), int(end)); ok && c.location == nil && dated>>cell.Kind()&1 != 0 {
		c.out.Ints[row] = (d.unix()*24*3600 + int64(seconds)) * 1e6
		return true
	}
	m, ok := c.moment(cell)
	if !ok || m.overrun {
		return false
	}
	c.out.Ints[row] = m.unix(c.location)
	return true
}

// moment reads a date of any form, with a time or without.
func (c *converter) moment(cell columnar.Cell) (m moment, ok bool) {
	if dated>>cell.Kind()&1 == 0 {
		return m, false
	}
	start, end := cell.Range()
	if m, ok = parseMoment(c.cells.Data, int(start), int(end)); ok {
		return m, true
	}
	text := plainly(c.cells.Text(cell))
	if len(text) > maxDate || len(text) < 6 {
		return moment{}, false
	}
	if m, _, ok = readMoment(text, c.latest); ok {
		return m, true
	}
	if c.order == 0 {
		return m, false
	}
	d, ok := readYearLast(text, false)
	if !ok {
		return m, false
	}
	d.latest = c.latest
	return d.moment(c.order)
}

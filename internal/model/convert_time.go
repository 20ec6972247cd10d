package model

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
)

// booleans fills a column of true and false. What is not written as most are is left to boolean.
func (c *converter) booleans() bool {
	data, out := c.cells.Data, c.out.Ints
	at, stride := c.index, c.cells.Columns
	for row := range out {
		cell := c.cells.Cell[at]
		at += stride
		start, end := cell.Range()
		switch kind := cell.Kind(); {
		case isTruth(kind):
			out[row] = int64(columnar.CellFalse - kind)
		case anyText>>kind&1 != 0 && isBoolean(data[start:end]):
			out[row] = int64(len("false")) - int64(end-start)
		default:
			if !c.other(row, cell, c.boolean) {
				return false
			}
		}
	}
	c.out.Valid = c.valid.bits()
	return true
}

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

// dates fills a column of days. What is not written as most are is left to date.
func (c *converter) dates() bool {
	data, out := c.cells.Data, c.out.Ints
	at, stride := c.index, c.cells.Columns
	for row := range out {
		cell := c.cells.Cell[at]
		at += stride
		start, end := cell.Range()
		if d, ok := parseDate(data, int(start), int(end)); ok && d.real() && dated>>cell.Kind()&1 != 0 {
			out[row] = d.unix()
			continue
		}
		if !c.other(row, cell, c.date) {
			return false
		}
	}
	c.out.Valid = c.valid.bits()
	return true
}

// date sets the days since 1970.
func (c *converter) date(row int, cell columnar.Cell) bool {
	m, ok := c.moment(cell)
	c.out.Ints[row] = m.day
	return ok && !m.timed
}

// timestamps fills a column of times. What is not written as most are is left to timestamp.
func (c *converter) timestamps() bool {
	data, out := c.cells.Data, c.out.Ints
	at, stride := c.index, c.cells.Columns
	for row := range out {
		cell := c.cells.Cell[at]
		at += stride
		start, end := cell.Range()
		if d, seconds, ok := parseSeconds(data, int(start), int(end)); ok && c.location == nil && dated>>cell.Kind()&1 != 0 {
			out[row] = (d.unix()*24*3600 + int64(seconds)) * 1e6
			continue
		}
		if !c.other(row, cell, c.timestamp) {
			return false
		}
	}
	c.out.Valid = c.valid.bits()
	return true
}

// timestamp sets the microseconds since 1970.
func (c *converter) timestamp(row int, cell columnar.Cell) bool {
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

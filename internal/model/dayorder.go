package model

import "bytes"

// order is in which order the day and the month of a date stand, as far as the
// date tells: a set of orders in which it can be read.
type order uint8

const (
	dayFirst order = 1 << iota
	monthFirst
)

// yearLast is a date whose year comes last, such as 15/11/2026, with a time
// perhaps.
type yearLast struct {
	read      order
	separator byte
	// shortYear says that the year has two digits, which do not say which
	// century it is in.
	shortYear     bool
	first, second int
	year          int
	time          moment // without the day
}

// readYearLast reads such a date.
func readYearLast(text []byte) (d yearLast, ok bool) {
	rest := text
	if d.first, rest, ok = oneOrTwo(rest); !ok || len(rest) < 5 {
		return d, false
	}
	d.separator = rest[0]
	if d.separator != '/' && d.separator != '.' && d.separator != '-' {
		return d, false
	}
	if d.second, rest, ok = oneOrTwo(rest[1:]); !ok || len(rest) < 3 || rest[0] != d.separator {
		return d, false
	}
	rest = rest[1:]
	switch leadingDigits(rest) {
	case 4:
		d.year = pair(rest[0], rest[1])*100 + pair(rest[2], rest[3])
		rest = rest[4:]
	case 2:
		d.year, d.shortYear = 2000+pair(rest[0], rest[1]), true
		rest = rest[2:]
	default:
		return d, false
	}
	if len(rest) > 0 && !d.readTime(rest) {
		return d, false
	}
	if _, real := dayOf(d.year, d.second, d.first); real {
		d.read |= dayFirst
	}
	if _, real := dayOf(d.year, d.first, d.second); real {
		d.read |= monthFirst
	}
	return d, d.read != 0
}

// moment is the date in an order in which it can be read.
func (d yearLast) moment(in order) (m moment, ok bool) {
	m = d.time
	if in == dayFirst {
		m.day, ok = dayOf(d.year, d.second, d.first)
	} else {
		m.day, ok = dayOf(d.year, d.first, d.second)
	}
	return m, ok
}

// readTime reads a time behind a date, by 24 or by 12 hours.
func (d *yearLast) readTime(text []byte) bool {
	if text[0] == ',' {
		text = text[1:]
	}
	if len(text) < 5 || text[0] != ' ' && text[0] != 'T' {
		return false
	}
	text = text[1:]
	var padded [40]byte
	if text[1] == ':' {
		if len(text) >= len(padded) {
			return false
		}
		padded[0] = '0'
		text = padded[:1+copy(padded[1:], text)]
	}
	upper := bytes.ToUpper(text[max(0, len(text)-2):])
	half := string(upper)
	if half != "AM" && half != "PM" {
		return d.time.parseTime(text) && !d.time.zoned
	}
	if !d.time.parseTime(bytes.TrimRight(text[:len(text)-2], " ")) || d.time.zoned {
		return false
	}
	const hour = 3600 * 1e6
	switch at := d.time.micros / hour; {
	case at < 1 || at > 12:
		return false
	case at == 12 && half == "AM":
		d.time.micros -= 12 * hour
	case at < 12 && half == "PM":
		d.time.micros += 12 * hour
	}
	return true
}

// oneOrTwo reads a number of one or two digits.
func oneOrTwo(text []byte) (n int, rest []byte, ok bool) {
	switch leadingDigits(text[:min(3, len(text))]) {
	case 1:
		return int(text[0] - '0'), text[1:], true
	case 2:
		return pair(text[0], text[1]), text[2:], true
	}
	return 0, nil, false
}

package model

import "math/bits"

// order is in which order the parts of a date stand, as far as the date tells: a
// set of orders in which it can be read.
type order uint8

const (
	dayFirst order = 1 << iota
	monthFirst
	yearFirst // of two digits
)

// orders are all of them.
var orders = [...]order{dayFirst, monthFirst, yearFirst}

// single reports whether the set has one order.
func (o order) single() bool { return bits.OnesCount8(uint8(o)) == 1 }

// name is the order as the option dates has it.
func (o order) name() string {
	switch o {
	case dayFirst:
		return "dmy"
	case monthFirst:
		return "mdy"
	case yearFirst:
		return "ymd"
	}
	return ""
}

// orderNamed is the order of the option dates, 0 for another text.
func orderNamed(name string) order {
	for _, o := range orders {
		if o.name() == name {
			return o
		}
	}
	return 0
}

// yearLast is a date of three numbers, of which the first is no year of four
// digits: 15/11/2026, 11/15/26, 26-11-15; with a time perhaps.
type yearLast struct {
	read      order
	separator byte
	// shortYear says that no part has four digits.
	shortYear     bool
	first, second int
	last          int
	// latest is the last year that a year of two digits can mean, 0 for any.
	latest int
	time   moment // without the day
}

// readYearLast reads such a date. With points, it has a year of four digits or
// two digits for every part: 3.11.10 is a version, unless versions are dates.
func readYearLast(text []byte, versions bool) (d yearLast, ok bool) {
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
	padded := len(text)-len(rest) == 5
	rest = rest[1:]
	switch leadingDigits(rest) {
	case 4:
		d.last = pair(rest[0], rest[1])*100 + pair(rest[2], rest[3])
		rest = rest[4:]
	case 2:
		d.last, d.shortYear = pair(rest[0], rest[1]), true
		rest = rest[2:]
	default:
		return d, false
	}
	if d.shortYear && d.separator == '.' && !padded && !versions {
		return d, false
	}
	if len(rest) > 0 && !d.time.readTime(rest) {
		return d, false
	}
	for _, in := range orders {
		if _, real := d.moment(in); real {
			d.read |= in
		}
	}
	return d, d.read != 0
}

// moment is the date in an order; it reports false where it cannot be read so.
func (d *yearLast) moment(in order) (m moment, ok bool) {
	m = d.time
	year := d.last
	if d.shortYear {
		year = d.fullYear(d.last)
	}
	switch in {
	case dayFirst:
		m.day, ok = dayOf(year, d.second, d.first)
	case monthFirst:
		m.day, ok = dayOf(year, d.first, d.second)
	case yearFirst:
		if d.shortYear {
			m.day, ok = dayOf(d.fullYear(d.first), d.second, d.last)
		}
	}
	return m, ok && m.ends()
}

// fullYear is a year of two digits, in the past century where it would be too late.
func (d *yearLast) fullYear(two int) int { return yearUpTo(two, d.latest) }

// twoDigits is a set of numbers of two digits.
type twoDigits [2]uint64

func (s *twoDigits) add(n int) { s[n>>6&1] |= 1 << (n & 63) }

func (s *twoDigits) merge(o twoDigits) { s[0], s[1] = s[0]|o[0], s[1]|o[1] }

// all yields the numbers.
func (s *twoDigits) all(yield func(int) bool) {
	for n := range 100 {
		if s[n>>6&1]&(1<<(n&63)) != 0 && !yield(n) {
			return
		}
	}
}

func (s *twoDigits) size() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

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

// Package cron parses cron expressions of five fields and computes their run times in a
// time zone.
//
// It is a leaf package: any package can import it, and it imports no other package of
// this module.
package cron

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Expression is a parsed cron expression. Each field is a bit set of the allowed values.
type Expression struct {
	minutes, hours, days, months, weekdays uint64
	// anyHour reports that the hour is * or a step of it. Such an expression runs in
	// every elapsed hour, also when the clock repeats one.
	anyHour bool
	// eitherDay reports that both day fields are restricted. A day then matches if either
	// field allows it; otherwise both must.
	eitherDay bool
}

// maxLen is the maximum length of an expression in bytes.
const maxLen = 200

// field describes the values that a field of an expression can have.
type field struct {
	name        string
	first, last int
	names       []string // of the values from first on
}

// fields lists the fields in order. Sunday is 0, and 7 at the end of a range.
var fields = [5]field{
	{name: "minute", first: 0, last: 59},
	{name: "hour", first: 0, last: 23},
	{name: "day of the month", first: 1, last: 31},
	{name: "month", first: 1, last: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{name: "day of the week", first: 0, last: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
}

// Parse parses an expression of five fields. Its error is written for users and contains
// no part of text.
func Parse(text string) (*Expression, error) {
	if len(text) > maxLen {
		return nil, fmt.Errorf("a cron expression must have at most %d characters", maxLen)
	}
	parts := strings.Fields(text)
	if len(parts) != len(fields) {
		return nil, errors.New("a cron expression must have five fields: minute, hour, day of the month, month and day of the week")
	}
	var sets [len(fields)]uint64
	for i, part := range parts {
		set, err := fields[i].parse(part)
		if err != nil {
			return nil, fmt.Errorf("the %s %w", fields[i].name, err)
		}
		sets[i] = set
	}
	open := func(field int) bool { return parts[field][0] == '*' }
	c := &Expression{
		minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], weekdays: sets[4]&^(1<<7) | sets[4]>>7,
		anyHour: open(1), eitherDay: !open(2) && !open(4),
	}
	if !c.matchesAnyDay() {
		return nil, errors.New("the expression never matches: no year has such a day")
	}
	return c, nil
}

// parse parses a list of values, ranges and steps into a bit set.
func (f field) parse(text string) (set uint64, err error) {
	for item := range strings.SplitSeq(text, ",") {
		some, err := f.parseItem(item)
		if err != nil {
			return 0, err
		}
		set |= some
	}
	return set, nil
}

// parseItem parses one value, range or step. A step without an end continues to the last
// value.
func (f field) parseItem(item string) (set uint64, err error) {
	span, stepText, stepped := strings.Cut(item, "/")
	last := f.last
	if f.last == 7 {
		last = 6 // 7 is only used if it is written
	}
	from, to := f.first, last
	if span != "*" {
		start, end, ranged := strings.Cut(span, "-")
		if from, err = f.value(start, false); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if to, err = f.value(end, true); err != nil {
				return 0, err
			}
		case !stepped:
			to = from
		default:
			to = max(last, from)
		}
		if to < from {
			return 0, errors.New("has a range that ends before it starts; write it as two ranges")
		}
	}
	step := 1
	if stepped {
		most := last - f.first
		if step, err = number(stepText); err != nil || step < 1 || step > most {
			return 0, fmt.Errorf("has a step that is not between 1 and %d", most)
		}
	}
	for v := from; v <= to; v += step {
		set |= 1 << v
	}
	return set, nil
}

// value parses a number or a name. Sunday at the end of a range is the one after
// Saturday.
func (f field) value(text string, end bool) (int, error) {
	v, err := number(text)
	if err != nil {
		v = -1
		for i, name := range f.names {
			if strings.EqualFold(name, text) && (v < 0 || end) {
				v = f.first + i
			}
		}
	}
	if v < f.first || v > f.last {
		hint := ""
		if f.names != nil {
			hint = " or names such as " + strings.ToUpper(f.names[0])
		}
		return 0, fmt.Errorf("must be numbers from %d to %d%s, lists (1,2), ranges (1-5), steps (*/5) or *", f.first, f.last, hint)
	}
	return v, nil
}

// number parses decimal digits. It accepts no sign.
func number(text string) (int, error) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(text)
}

// matchesAnyDay reports whether the expression ever runs.
func (c *Expression) matchesAnyDay() bool {
	if c.eitherDay {
		return true // every month has every weekday
	}
	// Every weekday falls on every date in 400 years, also on 29 February.
	for m := time.January; m <= time.December; m++ {
		if c.months>>m&1 == 1 && bits.TrailingZeros64(c.days) <= daysIn(2000, m) {
			return true
		}
	}
	return false
}

func daysIn(year int, m time.Month) int { return time.Date(year, m+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// matchesDay reports whether the expression allows a date.
func (c *Expression) matchesDay(day time.Time) bool {
	byNumber := c.days>>day.Day()&1 == 1
	byWeekday := c.weekdays>>day.Weekday()&1 == 1
	if c.eitherDay {
		return byNumber || byWeekday
	}
	return byNumber && byWeekday
}

// nextLocal returns the first local time at or after from that the expression allows.
// Local times are represented as times in UTC.
func (c *Expression) nextLocal(from time.Time) time.Time {
	from = from.Add(time.Minute - 1).Truncate(time.Minute)
	hour, minute := from.Hour(), from.Minute()
	day := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, time.UTC)
	for {
		if c.months>>day.Month()&1 == 0 {
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			hour, minute = 0, 0
			continue
		}
		if c.matchesDay(day) {
			if at, ok := c.timeOfDay(hour, minute); ok {
				return day.Add(at)
			}
		}
		day = day.AddDate(0, 0, 1)
		hour, minute = 0, 0
	}
}

// timeOfDay returns the first allowed time of a day at or after an hour and minute.
func (c *Expression) timeOfDay(hour, minute int) (time.Duration, bool) {
	if c.hours>>hour&1 == 1 {
		if rest := c.minutes >> minute; rest != 0 {
			return time.Duration(hour)*time.Hour + time.Duration(minute+bits.TrailingZeros64(rest))*time.Minute, true
		}
	}
	later := c.hours >> (hour + 1)
	if later == 0 {
		return 0, false
	}
	next := hour + 1 + bits.TrailingZeros64(later)
	return time.Duration(next)*time.Hour + time.Duration(bits.TrailingZeros64(c.minutes))*time.Minute, true
}

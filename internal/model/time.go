package model

import (
	"bytes"
	"encoding/binary"
	"time"
)

// moment is a point in time as a text has it: a day, and what may follow it.
type moment struct {
	day     int64 // since 1970-01-01
	micros  int64 // since the day began
	timed   bool  // it has a time of day
	zoned   bool  // it has an offset
	offset  int64 // in seconds, east of Greenwich
	overrun bool  // it has digits below the microsecond
	// short says that the year was written as the two digits that it ends with.
	short bool
	two   int
}

// date is a day of the calendar, which there may not have been.
type date struct{ year, month, day int }

// parseDate reads a day that is written as 2026-11-15, or with slashes.
func parseDate(data []byte, start, end int) (d date, ok bool) {
	if end-start != 10 {
		return d, false
	}
	text := (*[10]byte)(data[start:end])
	head := binary.LittleEndian.Uint64(text[:8])
	// The two separators are made digits so that one check covers all eight bytes.
	const middle = 0xff0000ff00000000
	separators := head & middle
	if separators != '-'<<32|'-'<<56 && separators != '/'<<32|'/'<<56 {
		return d, false
	}
	if !digits8(head&^middle|zeros8&middle) || !isDigit(text[8]) || !isDigit(text[9]) {
		return d, false
	}
	// Each byte becomes the number that it makes with the one behind it.
	pairs := head&^middle | zeros8&middle - zeros8
	pairs = pairs*10 + pairs>>8
	d.year, d.month, d.day = int(pairs&0xff*100+pairs>>16&0xff), int(pairs>>40&0xff), pair(text[8], text[9])
	return d, true
}

// pair is the number that two digits make.
func pair(tens, ones byte) int { return int(tens-'0')*10 + int(ones-'0') }

var monthDays = [16]int8{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// real reports whether there is such a day.
func (d date) real() bool {
	if d.day <= 28 {
		return d.day >= 1 && d.month >= 1 && d.month <= 12 && d.year >= 1
	}
	return d.month >= 1 && d.month <= 12 && d.year >= 1 &&
		(d.day <= int(monthDays[d.month&15]) || d.month == 2 && d.day == 29 && leap(d.year))
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// unix counts the days since 1970.
func (d date) unix() int64 {
	// The year begins in March here, so that a leap day is its last.
	early := one(d.month <= 2)
	year, month := uint(d.year-early), uint(d.month+12*early)
	centuries := year / 100
	return int64(365*year+year/4-centuries+centuries/4+(153*(month-3)+2)/5+uint(d.day)) - 719469
}

// dayOf counts the days since 1970 and reports false where there is no such day.
func dayOf(year, month, day int) (int64, bool) {
	d := date{year, month, day}
	return d.unix(), d.real()
}

// parseSeconds reads a day and a time of the one form 2026-11-15 12:30:00, with a
// T or a space between them.
func parseSeconds(data []byte, start, end int) (d date, seconds int, ok bool) {
	if end-start != 19 || data[start+10] != ' ' && data[start+10] != 'T' {
		return d, 0, false
	}
	clock := binary.LittleEndian.Uint64(data[start+11 : end])
	const colons = 0x0000ff0000ff0000
	if clock&colons != ':'<<16|':'<<40 || !digits8(clock&^colons|zeros8&colons) {
		return d, 0, false
	}
	d, ok = parseDate(data, start, start+10)
	hour := pair(byte(clock), byte(clock>>8))
	minute := pair(byte(clock>>24), byte(clock>>32))
	second := pair(byte(clock>>48), byte(clock>>56))
	return d, hour*3600 + minute*60 + second, ok && hour < 24 && minute < 60 && second < 60 && d.real()
}

// parseMoment reads a day and a time, such as 2026-11-15T12:30:00.5+01:00. The
// time may be missing.
func parseMoment(data []byte, start, end int) (m moment, ok bool) {
	if end-start < 10 {
		return m, false
	}
	d, ok := parseDate(data, start, start+10)
	if !ok || !d.real() {
		return m, false
	}
	m.day = d.unix()
	if end-start == 10 {
		return m, true
	}
	if separator := data[start+10]; separator != 'T' && separator != ' ' && separator != 't' {
		return m, false
	}
	return m, m.parseTime(data[start+11 : end])
}

// parseTime reads a time of day, with seconds, a fraction and an offset or without. 24:00 is the end of the
// day, as ISO 8601 has it, which is when the next begins.
func (m *moment) parseTime(text []byte) bool {
	hour, minute, rest, ok := clock(text)
	if !ok && bytes.HasPrefix(text, []byte("24:00")) {
		hour, minute, rest, ok = 24, 0, text[5:], true
	}
	if !ok {
		return false
	}
	m.timed = true
	seconds := hour*3600 + minute*60
	if len(rest) >= 3 && rest[0] == ':' && isDigit(rest[1]) && isDigit(rest[2]) {
		second := pair(rest[1], rest[2])
		if second > 59 {
			return false
		}
		seconds += second
		rest = rest[3:]
		if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && isDigit(rest[1]) {
			rest = m.fraction(rest[1:])
		}
	}
	m.micros += int64(seconds) * 1e6
	return (hour < 24 || m.micros == dayMicros) && m.ends() && m.parseOffset(rest)
}

// clock reads hours and minutes.
func clock(text []byte) (hour, minute int, rest []byte, ok bool) {
	if len(text) < 5 || text[2] != ':' || !isDigit(text[0]) || !isDigit(text[1]) || !isDigit(text[3]) || !isDigit(text[4]) {
		return 0, 0, nil, false
	}
	hour, minute = pair(text[0], text[1]), pair(text[3], text[4])
	return hour, minute, text[5:], hour <= 23 && minute <= 59
}

// fraction reads the digits of a fraction of a second.
func (m *moment) fraction(text []byte) (rest []byte) {
	unit := int64(1e5)
	n := 0
	for ; n < len(text) && isDigit(text[n]); n++ {
		digit := int64(text[n] - '0')
		m.micros += digit * unit
		m.overrun = m.overrun || unit == 0 && digit != 0
		unit /= 10
	}
	return text[n:]
}

// parseOffset reads what stands behind a time: nothing, Z, or an offset.
func (m *moment) parseOffset(text []byte) bool {
	if len(text) > 1 && text[0] == ' ' {
		text = text[1:] // PostgreSQL and others write one
	}
	switch {
	case len(text) == 0:
		return true
	case len(text) == 1 && text[0]|0x20 == 'z', string(text) == "UTC":
		m.zoned = true
		return true
	case text[0] != '+' && text[0] != '-':
		return false
	}
	hours, minutes := 0, 0
	switch digits := text[1:]; {
	case len(digits) == 2 && allDigits(digits, 0, 2):
		hours = pair(digits[0], digits[1])
	case len(digits) == 4 && allDigits(digits, 0, 4):
		hours, minutes = pair(digits[0], digits[1]), pair(digits[2], digits[3])
	case len(digits) == 5:
		var rest []byte
		var ok bool
		if hours, minutes, rest, ok = clock(digits); !ok || len(rest) > 0 {
			return false
		}
	default:
		return false
	}
	if hours > 18 || minutes > 59 {
		return false
	}
	m.zoned = true
	m.offset = int64(hours*3600 + minutes*60)
	if text[0] == '-' {
		m.offset = -m.offset
	}
	return true
}

const (
	dayMicros = 24 * 3600 * 1e6
	lastDay   = 2932896 // 9999-12-31
)

// ends reports whether the moment is before the year 10000, which the end of the last day is not.
func (m moment) ends() bool { return m.micros < dayMicros || m.day < lastDay }

// unix is the moment in microseconds since 1970 in UTC. Without an offset it is
// in the location, nil being UTC.
func (m moment) unix(location *time.Location) int64 {
	local := m.day*dayMicros + m.micros
	if m.zoned || location == nil {
		return local - m.offset*1e6
	}
	return m.in(location).UnixMicro()
}

// in is the moment in a location, as clocks there show it.
func (m moment) in(location *time.Location) time.Time {
	t := time.UnixMicro(m.day*dayMicros + m.micros).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), location)
}

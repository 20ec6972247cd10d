package model

import "bytes"

// fullYear is the year of two digits, by the rule of POSIX: from 69 on they are of
// the last century.
func fullYear(two int) int {
	if two >= 69 {
		return 1900 + two
	}
	return 2000 + two
}

// yearUpTo is the year of two digits, in the past century where it would be after the latest, of which 0 is none.
func yearUpTo(two, latest int) int {
	year := fullYear(two)
	if latest > 0 && year > latest {
		year -= 100
	}
	return year
}

// hourMicros is an hour in microseconds.
const hourMicros = 3600 * 1e6

// readTime reads the time after a date, by 24 or by 12 hours, with an offset
// perhaps.
func (m *moment) readTime(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte(","))
	if len(text) < 4 || text[0] != ' ' && text[0] != 'T' && text[0] != 't' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " ")
	clock, half := cutHalf(text)
	zone := ""
	if half == 0 {
		if clock, zone = cutZoneName(text); zone != "" {
			clock, half = cutHalf(clock) // 10:30 AM PST
		}
	}
	var room [48]byte
	if len(clock) < 4 || len(clock) >= len(room) || !m.parseTime(padClock(room[:0], clock)) {
		return false
	}
	if zone != "" && (m.zoned || !m.parseOffset([]byte(zone))) {
		return false
	}
	if half == 0 || m.zoned && zone == "" {
		return half == 0
	}
	return m.addHalf(half)
}

// padClock appends a time whose hour has two digits and which has colons: Oracle and some of
// Italy write points.
func padClock(to, clock []byte) []byte {
	if clock[1] == ':' || clock[1] == '.' {
		to = append(to, '0')
	}
	to = append(to, clock...)
	if len(to) >= 5 && to[2] == '.' {
		to[2] = ':'
		if len(to) > 5 && to[5] == '.' {
			to[5] = ':'
		}
	}
	return to
}

// addHalf makes a time of the 12 hours before or after noon one of 24.
func (m *moment) addHalf(half byte) bool {
	switch hour := m.micros / hourMicros; {
	case hour < 1 || hour > 12:
		return false
	case hour == 12 && half == 'a':
		m.micros -= 12 * hourMicros
	case hour < 12 && half == 'p':
		m.micros += 12 * hourMicros
	}
	return true
}

// cutHalf takes AM or PM off the end of a time, in small letters or large, with points
// or without.
func cutHalf(text []byte) (rest []byte, half byte) {
	end := len(text)
	letters := [2]byte{}
	n := 0
	for end > 0 && n < 2 {
		c := text[end-1]
		if c == '.' && (n == 0 && end == len(text) || n == 1) {
			end--
			continue
		}
		if c|0x20 < 'a' || c|0x20 > 'z' {
			break
		}
		letters[1-n] = c | 0x20
		n++
		end--
	}
	if n != 2 || letters[1] != 'm' || letters[0] != 'a' && letters[0] != 'p' {
		return text, 0
	}
	rest = bytes.TrimRight(text[:end], " ")
	if len(rest) < len("h:mm") {
		return text, 0
	}
	return rest, letters[0]
}

// cutZoneName takes off the end of a time a name for its offset, most of them those of RFC 2822, and
// returns the offset.
func cutZoneName(text []byte) (rest []byte, offset string) {
	at := bytes.LastIndexByte(text, ' ')
	if at < 0 {
		return text, ""
	}
	if offset = zones[string(text[at+1:])]; offset == "" {
		return text, ""
	}
	return bytes.TrimRight(text[:at], " "), offset
}

var zones = map[string]string{
	"GMT": "Z", "UT": "Z", "EST": "-05:00", "EDT": "-04:00", "CST": "-06:00", "CDT": "-05:00",
	"MST": "-07:00", "MDT": "-06:00", "PST": "-08:00", "PDT": "-07:00",
	// Those of Europe and Japan that mean nothing else.
	"WET": "Z", "WEST": "+01:00", "CET": "+01:00", "CEST": "+02:00", "MEZ": "+01:00", "MESZ": "+02:00", "EET": "+02:00", "EEST": "+03:00", "JST": "+09:00",
}

// readYearFirst reads a date with the year first that is not written as ISO has
// it: with one digit for a month or a day, with points, or with a time by 12
// hours. Points need two digits each, as 3.11.10 is a version, unless a space stands behind
// them or the last part has one too: 2026. 11. 5. is how Korea writes it.
func readYearFirst(text []byte) (m moment, ok bool) {
	if leadingDigits(text[:min(len(text), 5)]) != 4 || len(text) < 8 {
		return m, false
	}
	year, separator := pair(text[0], text[1])*100+pair(text[2], text[3]), text[4]
	if separator != '-' && separator != '/' && separator != '.' {
		return m, false
	}
	rest, spaced := text[5:], false
	if spaced = separator == '.' && rest[0] == ' '; spaced {
		rest = rest[1:]
	}
	month, rest, ok := oneOrTwo(rest)
	if !ok || len(rest) < 2 || rest[0] != separator {
		return m, false
	}
	if rest = rest[1:]; spaced {
		rest = bytes.TrimPrefix(rest, []byte(" "))
	}
	day, rest, ok := oneOrTwo(rest)
	if !ok {
		return m, false
	}
	if separator == '.' {
		afterDot, pointed := bytes.CutPrefix(rest, []byte("."))
		if !pointed && !spaced && len(text)-len(rest) != 10 {
			return m, false
		}
		rest = afterDot
	}
	if m.day, ok = dayOf(year, month, day); !ok {
		return m, false
	}
	return m, len(rest) == 0 || m.readTime(rest)
}

// readMoment reads a date that can be read in one way only, with a time perhaps. A year of two digits is up to the latest, of
// which 0 is none.
func readMoment(text []byte, latest int) (m moment, format string, ok bool) {
	if m, ok = parseMoment(text, 0, len(text)); ok {
		return m, "", true
	}
	if m, ok = readYearFirst(text); ok {
		return m, "", true
	}
	if at := bytes.IndexByte(text, '['); at > 0 && text[len(text)-1] == ']' {
		// Java writes the name of the zone behind the offset, which says it all.
		m, ok = parseMoment(text, 0, at)
		return m, "", ok && m.zoned
	}
	if hasLetter(text) {
		return readNamed(text, latest)
	}
	return m, "", false
}

// hasLetter reports whether a text has three letters in a row at least.
func hasLetter(text []byte) bool {
	row := 0
	for _, c := range text {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 {
			if row++; row == 3 {
				return true
			}
		} else {
			row = 0
		}
	}
	return false
}

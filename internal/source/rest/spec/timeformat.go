package spec

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// TimeFormat is how a time is written where it is sent. The zero value is none.
type TimeFormat struct {
	// name is one of the names, or empty for a pattern.
	name    string
	pattern string
	// unit is the shortest time that is written.
	unit time.Duration
}

// Day is 24 hours.
const Day = 24 * time.Hour

// namedFormats are the formats that have a name.
var namedFormats = map[string]time.Duration{
	"rfc3339": time.Second, "date": Day, "unix": time.Second, "unixMs": time.Millisecond,
}

// formatTokens are the parts of a pattern, the longer first where two begin alike.
var formatTokens = []struct {
	token string
	unit  time.Duration
	write func(time.Time) string
}{
	{"YYYY", Day, layout("2006")},
	{"MM", Day, layout("01")},
	{"DD", Day, layout("02")},
	{"HH", time.Hour, layout("15")},
	{"mm", time.Minute, layout("04")},
	{"SSS", time.Millisecond, func(t time.Time) string { return layout(".000")(t)[1:] }},
	{"ss", time.Second, layout("05")},
	{"Z", Day, layout("Z07:00")},
}

func layout(text string) func(time.Time) string {
	return func(t time.Time) string { return t.Format(text) }
}

// parseTimeFormat reads a format.
func parseTimeFormat(text string) (TimeFormat, error) {
	if unit, ok := namedFormats[text]; ok {
		return TimeFormat{name: text, unit: unit}, nil
	}
	f := TimeFormat{pattern: text, unit: Day}
	tokens := 0
	for rest := text; rest != ""; {
		token := tokenAt(rest)
		switch {
		case token >= 0:
			tokens++
			f.unit = min(f.unit, formatTokens[token].unit)
			rest = rest[len(formatTokens[token].token):]
			continue
		case rest[0] != 'T' && ('a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z'):
			return f, errors.New("a format is rfc3339, date, unix, unixMs, or a pattern of YYYY, MM, DD, HH, mm, ss, SSS, Z and T, such as YYYY-MM-DDTHH:mm:ss")
		}
		rest = rest[1:]
	}
	if tokens == 0 {
		return f, errors.New("a format is rfc3339, date, unix, unixMs, or a pattern such as YYYY-MM-DD")
	}
	return f, nil
}

// tokenAt is the part of a pattern that a text begins with, or -1.
func tokenAt(text string) int {
	for i := range formatTokens {
		if strings.HasPrefix(text, formatTokens[i].token) {
			return i
		}
	}
	return -1
}

// Write is a time in the format.
func (f TimeFormat) Write(t time.Time) string {
	switch f.name {
	case "rfc3339":
		return t.Format(time.RFC3339Nano)
	case "date":
		return t.Format(time.DateOnly)
	case "unix":
		return strconv.FormatInt(t.Unix(), 10)
	case "unixMs":
		return strconv.FormatInt(t.UnixMilli(), 10)
	}
	var b strings.Builder
	for rest := f.pattern; rest != ""; {
		if token := tokenAt(rest); token >= 0 {
			b.WriteString(formatTokens[token].write(t))
			rest = rest[len(formatTokens[token].token):]
			continue
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	return b.String()
}

// Ceil is the first time from another on that the format can write exactly.
func (f TimeFormat) Ceil(t time.Time) time.Time {
	var floor time.Time
	if f.unit == Day {
		year, month, d := t.Date()
		if floor = time.Date(year, month, d, 0, 0, 0, 0, t.Location()); floor.Before(t) {
			return floor.AddDate(0, 0, 1)
		}
		return floor
	}
	if floor = t.Truncate(f.unit); floor.Before(t) {
		return floor.Add(f.unit)
	}
	return floor
}

// Before is the last time before another that the format can write.
func (f TimeFormat) Before(t time.Time) time.Time {
	if f.unit == Day {
		return t.AddDate(0, 0, -1)
	}
	return t.Add(-f.unit)
}

// TimeOf is the time that a text of the data or of a definition means, in a zone
// where it does not say one: a date, a time, or a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970 in our day.
func TimeOf(text string, zone *time.Location) (time.Time, bool) {
	v := ParseCursor(text)
	switch v.Class {
	case CursorTime:
		if v.Layout == NetDate || strings.Contains(v.Layout, "07") || strings.HasSuffix(v.Layout, "Z") {
			return v.Time.In(zone), true
		}
		t, err := time.ParseInLocation(v.Layout, text, zone)
		return t, err == nil
	case cursorNumber:
		whole, fraction, _ := strings.Cut(text, ".")
		unit, known := epochUnits[len(whole)]
		n, err := strconv.ParseInt(whole, 10, 64)
		if !known || err != nil || n < 0 {
			return time.Time{}, false
		}
		t := time.Unix(n/int64(time.Second/unit), n%int64(time.Second/unit)*int64(unit))
		if part, err := strconv.ParseFloat("0."+fraction, 64); err == nil && fraction != "" {
			t = t.Add(time.Duration(part * float64(unit)))
		}
		return t.In(zone), true
	}
	return time.Time{}, false
}

// epochUnits are the units of times since 1970, by their digits in our day.
var epochUnits = map[int]time.Duration{10: time.Second, 13: time.Millisecond, 16: time.Microsecond, 19: time.Nanosecond}

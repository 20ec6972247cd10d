package feedmill

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// durationUnits are the units in which clients write durations, the longest first.
var durationUnits = []struct {
	name string
	unit time.Duration
}{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

var errDuration = errors.New("write a duration as a whole number and a unit out of ms, s, m, h and d, such as 30s, 15m, 24h or 7d")

// ParseDuration reads a duration as clients write it: a whole number and its
// unit, such as "30s", or several of them from the longest unit to the
// shortest, such as "1h30m". Unlike [time.ParseDuration] it knows days, and
// neither signs nor fractions. The error says how to write one and repeats
// nothing of the text.
func ParseDuration(text string) (time.Duration, error) {
	var total time.Duration
	rest, units := text, durationUnits
	for first := true; first || rest != ""; first = false {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		if err != nil {
			return 0, errDuration
		}
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))
		for len(units) > 0 && units[0].name != rest[:letters] {
			units = units[1:]
		}
		if len(units) == 0 {
			return 0, errDuration
		}
		unit := units[0].unit
		if n > int64((math.MaxInt64-total)/unit) {
			return 0, errDuration
		}
		total += time.Duration(n) * unit
		rest, units = rest[letters:], units[1:]
	}
	return total, nil
}

// DurationBetween reads durations within bounds. Its errors are sentences for
// whoever wrote the text.
func DurationBetween(least, most time.Duration) func(text string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := ParseDuration(text)
		if err != nil {
			return 0, Invalid("This is no duration: " + err.Error() + ".")
		}
		if d < least || d > most {
			return 0, Invalid("This must be from " + FormatDuration(least) + " to " + FormatDuration(most) + ".")
		}
		return d, nil
	}
}

// FormatDuration writes a duration as a whole number of the longest unit that
// leaves no rest, with days from two of them on: the day itself is "24h". What
// is finer than a millisecond is cut off.
func FormatDuration(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	for _, u := range durationUnits {
		if d%u.unit == 0 && (u.name != "d" || d > u.unit) {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

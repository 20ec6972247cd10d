package feedmill

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/cron"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Schedule says when a source is fetched: at an interval, or at the times of a
// cron expression in a time zone. The zero value is never.
type Schedule struct {
	Every    time.Duration
	Cron     string
	Timezone string // an IANA name, empty for UTC
}

// The bounds of an interval.
const (
	MinEvery = time.Minute
	MaxEvery = 366 * 24 * time.Hour
)

// IsZero reports whether nothing is planned.
func (s Schedule) IsZero() bool { return s == Schedule{} }

// Check lists what is wrong with a schedule that a client wrote. The pointers
// begin at the schedule itself.
func (s Schedule) Check() []Fault {
	var faults []Fault
	wrong := func(pointer, format string, args ...any) {
		faults = append(faults, Fault{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Every != 0 && s.Cron != "":
		wrong("", "A schedule must have either every or cron, not both.")
	case s.Every == 0 && s.Cron == "":
		wrong("", `A schedule requires every, such as "15m", or cron, such as "0 6 * * 1-5".`)
	}
	if s.Every != 0 && (s.Every < MinEvery || s.Every > MaxEvery) {
		wrong("/every", "The interval must be between %s and %s.", FormatDuration(MinEvery), FormatDuration(MaxEvery))
	}
	if s.Cron != "" {
		if _, err := cron.Parse(s.Cron); err != nil {
			wrong("/cron", "%s", sentence(err))
		}
	}
	if s.Timezone != "" {
		if _, err := s.location(); err != nil {
			wrong("/timezone", "The time zone is unknown. Use an IANA name such as Europe/Paris.")
		}
		if s.Cron == "" {
			wrong("/timezone", "A time zone applies only to cron. Omit it.")
		}
	}
	return faults
}

// location is the time zone of the schedule.
func (s Schedule) location() (*time.Location, error) { return Zone(s.Timezone) }

// Zone is the time zone of an IANA name, UTC where it is empty. Names that mean
// something else on another machine, or that count leap seconds, are not known.
func Zone(name string) (*time.Location, error) {
	area, _, _ := strings.Cut(name, "/")
	if slices.Contains([]string{"Local", "localtime", "posix", "right"}, area) {
		return nil, fmt.Errorf("time zone: %w", ErrInvalid)
	}
	return time.LoadLocation(name)
}

// sentence writes an error as a sentence of its own.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// How far planned times are moved, so that schedules that read the same do not
// all start at once: by at most a tenth of the time to the next run, and by no
// more than this.
const (
	maxEverySpread = 10 * time.Minute
	maxCronSpread  = time.Minute
)

// Next is the first planned time after a time, or zero where there is none.
//
// An interval counts from the anchor, which is when the source was made. Every
// time is then moved by a little that depends on the seed alone. Whoever asks
// for the next time after now, however long that was not asked, makes up for
// all runs that were missed by one.
//
// The times of a cron expression are those that a clock in its time zone shows.
func (s Schedule) Next(after, anchor time.Time, seed ID) time.Time {
	switch {
	case s.Every > 0:
		return nextEvery(s.Every, after, anchor, seed)
	case s.Cron != "":
		c, err := cron.Parse(s.Cron)
		if err != nil {
			return time.Time{}
		}
		zone, err := s.location()
		if err != nil {
			return time.Time{}
		}
		return nextCron(c, after, zone, seed)
	}
	return time.Time{}
}

func nextEvery(every time.Duration, after, anchor time.Time, seed ID) time.Time {
	first := anchor.Truncate(time.Millisecond).Add(every + seed.part(min(every/10, maxEverySpread)))
	if first.After(after) {
		return first.UTC()
	}
	return first.Add(every * (after.Sub(first)/every + 1)).UTC()
}

// nextCron is the first time after another when the seed's run comes.
func nextCron(c *cron.Expression, after time.Time, zone *time.Location, seed ID) time.Time {
	at := c.Next(after.Add(-maxCronSpread-1), zone)
	for {
		following := c.Next(at, zone)
		if moved := at.Add(seed.part(min(following.Sub(at)/10, maxCronSpread))); moved.After(after) {
			return moved.UTC()
		}
		at = following
	}
}

// part is a part of a whole, from nothing to nearly all of it in milliseconds,
// and always the same for an id.
func (id ID) part(whole time.Duration) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(id))
	fraction := float64(mix(h.Sum64())>>11) / (1 << 53)
	return time.Duration(fraction * float64(whole)).Truncate(time.Millisecond)
}

// mix spreads what differs in any bit over all of them.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ReadSchedule reads when a source is fetched. Whether the values make sense is
// looked at where all of them could be read.
func ReadSchedule(o *strictjson.Object) (s Schedule) {
	f, ok := o.Given("schedule")
	if !ok {
		return s
	}
	if f.Kind != '{' {
		f.Fault("A schedule must be an object with every, or with cron and timezone.")
		return s
	}
	in, _ := f.Object()
	right := true
	for name, f := range in.All() {
		text, filled := "", false
		switch name {
		case "every", "cron", "timezone":
			if text, filled = readFilled(f); !filled {
				right = false
				continue
			}
		}
		switch name {
		case "every":
			s.Every, ok = readEvery(f, text)
			right = right && ok
		case "cron":
			s.Cron = text
		case "timezone":
			s.Timezone = text
		default:
			f.Fault("Unknown field. A schedule has every, or cron and timezone.")
			right = false
		}
	}
	if !right {
		return s
	}
	for _, fault := range s.Check() {
		at := f
		if fault.Pointer != "" {
			at = in.Field(strings.TrimPrefix(fault.Pointer, "/"), nil)
		}
		at.Fault(fault.Detail)
	}
	return s
}

// readFilled reads a string that is not empty.
func readFilled(f strictjson.Field) (string, bool) {
	if f.Kind != '"' || f.Value.Text() == "" {
		f.Fault("Must be a string that is not empty.")
		return "", false
	}
	return f.Value.Text(), true
}

func readEvery(f strictjson.Field, text string) (time.Duration, bool) {
	every, err := ParseDuration(text)
	switch {
	case err != nil:
		f.Fault(sentence(err))
	case every == 0:
		f.Fault("The interval must be at least " + FormatDuration(MinEvery) + ".")
	default:
		return every, true
	}
	return 0, false
}

// durationUnits are the units in which clients write durations, the longest first.
var durationUnits = []struct {
	name string
	unit time.Duration
}{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

var errDuration = errors.New("a duration must be an integer with one of the units ms, s, m, h and d, such as 30s, 15m, 24h or 7d")

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
			return 0, Invalid(sentence(err))
		}
		if d < least || d > most {
			return 0, Invalid("The duration must be between " + FormatDuration(least) + " and " + FormatDuration(most) + ".")
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

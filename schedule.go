package feedmill

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/cron"
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
		wrong("", "A schedule has either every or cron; leave one of them out.")
	case s.Every == 0 && s.Cron == "":
		wrong("", `A schedule needs every, such as "15m", or cron, such as "0 6 * * 1-5".`)
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
			wrong("/timezone", "No time zone of this name is known; write an IANA name such as Europe/Paris.")
		}
		if s.Cron == "" {
			wrong("/timezone", "A time zone goes with cron only; leave it out.")
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

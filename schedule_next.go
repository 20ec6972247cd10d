package feedmill

import (
	"hash/fnv"
	"time"
)

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
// Where daylight saving skips a time, it runs at the end of the gap, and once
// for all that were skipped; where a time comes twice, it runs the first time.
// An expression whose hour is * or a step of it runs whenever the clock shows
// its times, which is in every hour that passes.
func (s Schedule) Next(after, anchor time.Time, seed ID) time.Time {
	switch {
	case s.Every > 0:
		return nextEvery(s.Every, after, anchor, seed)
	case s.Cron != "":
		c, err := parseCron(s.Cron)
		if err != nil {
			return time.Time{}
		}
		zone, err := s.location()
		if err != nil {
			return time.Time{}
		}
		return c.spread(after, zone, seed)
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

// spread is the first time after another when the seed's run comes.
func (c *cron) spread(after time.Time, zone *time.Location, seed ID) time.Time {
	at := c.after(after.Add(-maxCronSpread-1), zone)
	for {
		following := c.after(at, zone)
		if moved := at.Add(seed.part(min(following.Sub(at)/10, maxCronSpread))); moved.After(after) {
			return moved.UTC()
		}
		at = following
	}
}

// after is the first time after another at which the expression runs.
func (c *cron) after(t time.Time, zone *time.Location) time.Time {
	start, end := steady(t, zone)
	shown := showing(t, t, zone)
	from := shown.Truncate(time.Minute).Add(time.Minute)
	if !c.anyHour && !start.IsZero() {
		// What the clock showed before it was set back does not count again.
		if before := showing(start, start.Add(-1), zone); before.After(from) {
			from = before
		}
	}
	next := c.clock(from)
	// offset is how far the clock is ahead of UTC until the end.
	for offset := shown.Sub(t); ; {
		at := next.Add(-offset)
		if end.IsZero() || at.Before(end) {
			return at
		}
		set := showing(end, end, zone)
		switch {
		case c.anyHour:
			next = c.clock(set)
		case next.Before(set):
			return end
		}
		offset = set.Sub(end)
		_, end = steady(end, zone)
	}
}

// steady are times between which the clock goes as it does at t: from start,
// and until the end, which is behind t. Either may be zero.
func steady(t time.Time, zone *time.Location) (start, end time.Time) {
	start, end = t.In(zone).ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		// Past the end of its table the time package takes every year for
		// 365 days long, and has no bounds for the last day of a leap year.
		end = t.Add(time.Hour)
	}
	return start, end
}

// showing is what a clock shows at a time if it goes as it does at another,
// written as a time in UTC.
func showing(t, as time.Time, zone *time.Location) time.Time {
	_, offset := as.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
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

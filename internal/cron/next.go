package cron

import "time"

// Next is the first time after t at which the expression runs by the clock of a
// zone. Where daylight saving skips a time, it runs at the end of the gap, and once
// for all that were skipped; where a time comes twice, it runs the first time. An
// expression whose hour is * or a step of it runs whenever the clock shows its
// times, which is in every hour that passes.
func (c *Expression) Next(t time.Time, zone *time.Location) time.Time {
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

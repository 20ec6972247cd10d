package cron

import "time"

// Next returns the first run time after t in a zone.
//
// A local time that daylight saving skips runs once, at the end of the gap, however many
// times were skipped. A local time that occurs twice runs the first time. An expression
// whose hour is * or a step of it runs at every matching local time, so it runs in every
// elapsed hour.
func (c *Expression) Next(t time.Time, zone *time.Location) time.Time {
	start, end := offsetBounds(t, zone)
	local := localTime(t, t, zone)
	from := local.Truncate(time.Minute).Add(time.Minute)
	if !c.anyHour && !start.IsZero() {
		// Skip the local times that occurred before the clock was set back.
		if before := localTime(start, start.Add(-1), zone); before.After(from) {
			from = before
		}
	}
	next := c.nextLocal(from)
	// offset is the offset from UTC until end.
	for offset := local.Sub(t); ; {
		at := next.Add(-offset)
		if end.IsZero() || at.Before(end) {
			return at
		}
		afterChange := localTime(end, end, zone)
		switch {
		case c.anyHour:
			next = c.nextLocal(afterChange)
		case next.Before(afterChange):
			return end
		}
		offset = afterChange.Sub(end)
		_, end = offsetBounds(end, zone)
	}
}

// offsetBounds returns the start and the end of the period around t in which the zone's
// offset is constant. end is after t. Either is zero if there is no such bound.
func offsetBounds(t time.Time, zone *time.Location) (start, end time.Time) {
	start, end = t.In(zone).ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		// Beyond its table, package time assumes years of 365 days and returns no
		// usable bounds for the last day of a leap year.
		end = t.Add(time.Hour)
	}
	return start, end
}

// localTime returns the local time at t with the offset that the zone has at another time,
// represented as a time in UTC.
func localTime(t, offsetAt time.Time, zone *time.Location) time.Time {
	_, offset := offsetAt.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

package model

import (
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// localTimes are times without an offset that clocks of a time zone skip or show twice.
type localTimes struct{ gaps, overlaps tally }

func (l *localTimes) merge(o localTimes) {
	l.gaps.merge(o.gaps)
	l.overlaps.merge(o.overlaps)
}

// localClock tells which times of a time zone clocks skip or show twice.
type localClock struct {
	location *time.Location
	// from and to are seconds on the clock, as if it showed UTC, between which the zone's offset does not change.
	from, to int64
}

// note counts a moment that clocks skip or show twice. A day alone is its first moment.
func (z *localClock) note(l *localTimes, m moment, row int64, text []byte) {
	if m.zoned {
		return
	}
	local := m.day*24*3600 + m.micros/1e6
	if local >= z.from && local < z.to {
		return
	}
	switch t := m.in(z.location); {
	case wallClock(t) != local:
		l.gaps.add(row, text)
	case z.twice(t, local):
		l.overlaps.add(row, text)
	default:
		z.remember(t)
	}
}

// wallClock is what a clock shows, in seconds as if it showed UTC.
func wallClock(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// twice reports whether clocks show a time twice, of which t is one.
func (z *localClock) twice(t time.Time, local int64) bool {
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		_, before := start.Add(-time.Second).Zone()
		if local-int64(before) < start.Unix() {
			return true
		}
	}
	if !end.IsZero() {
		_, after := end.Zone()
		if local-int64(after) >= end.Unix() {
			return true
		}
	}
	return false
}

// remember notes how long the offset of a time holds, with a day to spare at both ends, which no change of an offset exceeds.
func (z *localClock) remember(t time.Time) {
	const spare = 26 * 3600
	start, end := t.ZoneBounds()
	_, offset := t.Zone()
	z.from, z.to = wallClock(t), wallClock(t)
	if !start.IsZero() {
		z.from = start.Unix() + int64(offset) + spare
	}
	if !end.IsZero() {
		z.to = end.Unix() + int64(offset) - spare
	}
}

// localWarnings are about times of a column of timestamps that clocks skip or show twice.
func (d *decision) localWarnings(c *column, o order) {
	if c.clock == nil || d.column.Type != columnar.TypeTimestamp {
		return
	}
	zone := c.clock.location
	var all localTimes
	all.merge(c.local)
	for i, in := range orders {
		if in == o {
			all.merge(c.localIn[i])
		}
	}
	example := func(t tally) (text, read string) {
		text = t.examples[0].text
		m, _, ok := readMoment(plainly([]byte(text)), d.plan.latest)
		if date, isDate := readYearLast(plainly([]byte(text)), false); !ok && isDate {
			date.latest = d.plan.latest
			m, _ = date.moment(o)
		}
		return text, time.UnixMicro(m.unix(zone)).UTC().Format(time.RFC3339)
	}
	if all.gaps.count > 0 {
		text, read := example(all.gaps)
		d.note(feedmill.WarnNoLocalTime, all.gaps, "These times do not exist in %s because the clocks skip them. They were shifted by the clock change: %s was read as %s. Include a UTC offset at the source, or set timezone.", zone, text, read)
	}
	if all.overlaps.count > 0 {
		text, read := example(all.overlaps)
		d.note(feedmill.WarnTwoLocalTimes, all.overlaps, "These times occur twice in %s because the clocks are set back. One of the two was used: %s was read as %s. Include a UTC offset at the source, or set timezone.", zone, text, read)
	}
}

package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Calendar divides times into periods.
type Calendar struct {
	Unit feedmill.PeriodUnit
	Zone *Zone
	Week time.Weekday
	// end is the first second after the year 9999 in the zone.
	end int64
}

func newCalendar(unit feedmill.PeriodUnit, zone *time.Location, week time.Weekday) *Calendar {
	return &Calendar{Unit: unit, Zone: NewZone(zone), Week: week, end: time.Date(10000, 1, 1, 0, 0, 0, 0, zone).Unix()}
}

const daySeconds = 24 * 3600

// The days of the years 1 to 9999, counted from 1970, without the end.
var (
	firstDay = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / daySeconds
	endDay   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / daySeconds
)

// Type is the type of a period's start.
func (c *Calendar) Type() columnar.Type {
	if c.Unit == feedmill.UnitHour {
		return columnar.TypeTimestamp
	}
	return columnar.TypeDate
}

// Start returns the start of the period of a day or of a microsecond. It reports false if
// the start or the local day lies outside the years 1 to 9999.
func (c *Calendar) Start(of columnar.Type, value int64) (int64, bool) {
	if of == columnar.TypeDate {
		start := c.startOfDay(value)
		return start, start >= firstDay
	}
	const second = 1_000_000
	local := value + c.Zone.Offset((value-floorMod(value, second))/second)*second
	if c.Unit == feedmill.UnitHour {
		start := value - floorMod(local, 3600*second)
		return start, start >= firstDay*daySeconds*second
	}
	day := (local - floorMod(local, daySeconds*second)) / (daySeconds * second)
	start := c.startOfDay(day)
	return start, start >= firstDay && day < endDay
}

func (c *Calendar) startOfDay(day int64) int64 {
	if c.Unit == feedmill.UnitDay {
		return day
	}
	return startOf(c.Unit, time.Unix(day*daySeconds, 0).UTC(), c.Week).Unix() / daySeconds
}

// WeekShift is how many days after Monday weeks start.
func (c *Calendar) WeekShift() int { return (int(c.Week) + 6) % 7 }

// Range returns the seconds since 1970 from and before which times have a period; see Start. For
// dates these are midnights.
func (c *Calendar) Range(of columnar.Type) (from, before int64) {
	first := firstDay
	if c.Unit == feedmill.UnitWeek {
		first = c.startOfDay(firstDay + 6)
	}
	from, before = first*daySeconds, endDay*daySeconds
	if of == columnar.TypeDate {
		return from, before
	}
	offset := c.Zone.Offsets[0]
	if c.Unit == feedmill.UnitHour {
		return from + floorMod(-(from+offset), 3600), before
	}
	return max(from-offset, firstDay*daySeconds), min(c.end, before)
}

// groupUnits are the units that rows can be grouped by.
var groupUnits = feedmill.PeriodUnits[slices.Index(feedmill.PeriodUnits, feedmill.UnitHour):]

// calendar resolves the period that a field groups by, nil for none.
func (r *resolver) calendar(f *feedmill.Field, column Column) *Calendar {
	if f.Group == "" {
		return nil
	}
	units := groupUnits
	if column.Type == columnar.TypeDate {
		units = units[1:]
	}
	switch {
	case !slices.Contains(temporal, column.Type):
		r.faults.Add(beside(f.Place, "group"), fmt.Sprintf("group applies only to dates and timestamps; %q has the type %s", f.Name, column.Type))
	case !slices.Contains(units, f.Group):
		r.faults.Add(beside(f.Place, "group"), fmt.Sprintf("group of a column of type %s must be one of %s", column.Type, list(units)))
	default:
		return newCalendar(f.Group, r.zone, r.query.WeekStart)
	}
	return nil
}

package lake

import (
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// maxPeriod is how many units a period can have, so that its ends are dates.
const maxPeriod = 10_000

var (
	units    = []feedmill.PeriodUnit{feedmill.UnitMinute, feedmill.UnitHour, feedmill.UnitDay, feedmill.UnitWeek, feedmill.UnitMonth, feedmill.UnitQuarter, feedmill.UnitYear}
	dayUnits = units[2:]
)

// during is last, next, current and toDate.
func (b *builder) during(c *column, f feedmill.Filter) (string, error) {
	p := *f.Values[0].Period
	allowed := units
	if c.Type == columnar.TypeDate {
		allowed = dayUnits
	}
	if !slices.Contains(allowed, p.Unit) {
		return "", &valueError{0, "the unit of a period on a column of type " + string(c.Type) + " is one of " + listUnits(allowed)}
	}
	if (f.Op == feedmill.OpLast || f.Op == feedmill.OpNext) && (p.N < 1 || p.N > maxPeriod) {
		return "", &valueError{0, "the n of a period is 1 to 10000"}
	}
	now := b.query.Now.In(b.zone())
	if f.Op == feedmill.OpToDate {
		from := begin(now, p.Unit, b.query.WeekStart)
		if c.Type == columnar.TypeDate {
			return c.sql + " >= " + b.day(from) + " AND " + c.sql + " <= " + b.day(now), nil
		}
		return c.sql + " >= " + b.instant(from) + " AND " + c.sql + " <= " + b.instant(now), nil
	}
	from, to := span(f.Op, p, now, b.query.WeekStart)
	if c.Type == columnar.TypeDate {
		return c.sql + " >= " + b.day(from) + " AND " + c.sql + " < " + b.day(to), nil
	}
	return c.sql + " >= " + b.instant(from) + " AND " + c.sql + " < " + b.instant(to), nil
}

// span is from when until before when last, next and current go.
func span(op feedmill.FilterOp, p feedmill.Period, now time.Time, week time.Weekday) (from, to time.Time) {
	current := begin(now, p.Unit, week)
	next := add(current, p.Unit, 1)
	switch op {
	case feedmill.OpLast:
		from, to = add(current, p.Unit, -p.N), current
	case feedmill.OpNext:
		from, to = next, add(next, p.Unit, p.N)
	default:
		return current, next
	}
	if p.IncludeCurrent {
		if op == feedmill.OpLast {
			to = next
		} else {
			from = current
		}
	}
	return from, to
}

// begin is when the unit that t lies in began, where t is.
func begin(t time.Time, unit feedmill.PeriodUnit, week time.Weekday) time.Time {
	year, month, day := t.Date()
	switch unit {
	case feedmill.UnitMinute:
		return t.Add(-time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	case feedmill.UnitHour:
		return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	case feedmill.UnitWeek:
		day -= (int(t.Weekday()) - int(week) + 7) % 7
	case feedmill.UnitMonth:
		day = 1
	case feedmill.UnitQuarter:
		month, day = (month-1)/3*3+1, 1
	case feedmill.UnitYear:
		month, day = 1, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location())
}

// add is n units after the beginning of one.
func add(t time.Time, unit feedmill.PeriodUnit, n int) time.Time {
	switch unit {
	case feedmill.UnitMinute:
		return t.Add(time.Duration(n) * time.Minute)
	case feedmill.UnitHour:
		return t.Add(time.Duration(n) * time.Hour)
	case feedmill.UnitDay:
		return t.AddDate(0, 0, n)
	case feedmill.UnitWeek:
		return t.AddDate(0, 0, 7*n)
	case feedmill.UnitMonth:
		return t.AddDate(0, n, 0)
	case feedmill.UnitQuarter:
		return t.AddDate(0, 3*n, 0)
	}
	return t.AddDate(n, 0, 0)
}

func listUnits(allowed []feedmill.PeriodUnit) string {
	out := ""
	for i, u := range allowed {
		if i > 0 {
			out += ", "
		}
		out += string(u)
	}
	return out
}

package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// during is last, next, current and toDate.
func (f *filter) during() (Predicate, error) {
	p := *f.Values[0].Period
	units := feedmill.PeriodUnits
	if f.column.Type == columnar.TypeDate {
		units = units[slices.Index(units, feedmill.UnitDay):]
	}
	if !slices.Contains(units, p.Unit) {
		return nil, &valueError{0, fmt.Sprintf("the unit of a period on a column of type %s must be one of %s", f.column.Type, list(units))}
	}
	if (f.Op == feedmill.OpLast || f.Op == feedmill.OpNext) && (p.N < 1 || p.N > feedmill.MaxPeriod) {
		return nil, &valueError{0, fmt.Sprintf("the n of a period must be between 1 and %d", feedmill.MaxPeriod)}
	}
	from, to := f.span(p)
	return Range{f.column, from, to}, nil
}

// span is the time [from, to) that a period is.
func (f *filter) span(p feedmill.Period) (from, to time.Time) {
	current := startOf(p.Unit, f.now, f.week)
	next := p.Unit.Add(current, 1)
	switch f.Op {
	case feedmill.OpToDate:
		// Now is part of it: the day where there are days, else the microsecond.
		if f.column.Type == columnar.TypeDate {
			return current, f.now.AddDate(0, 0, 1)
		}
		return current, f.now.Add(time.Microsecond)
	case feedmill.OpLast:
		from, to = p.Unit.Add(current, -p.N), current
		if p.IncludeCurrent {
			to = next
		}
	case feedmill.OpNext:
		from, to = next, p.Unit.Add(next, p.N)
		if p.IncludeCurrent {
			from = current
		}
	default:
		return current, next
	}
	return from, to
}

// startOf is when the unit that t lies in began, where t is.
func startOf(unit feedmill.PeriodUnit, t time.Time, week time.Weekday) time.Time {
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

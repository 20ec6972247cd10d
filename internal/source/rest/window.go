package rest

import (
	"time"

	"github.com/feedmill/feedmill"
)

// maxWindows is how many windows one fetch may go through.
const maxWindows = 100_000

// window is a part of the time that is fetched: from one time to just before
// another.
type window struct{ from, to time.Time }

// stepped is a time so many steps later. Whole days are days of the calendar, which
// can have 23 hours.
func stepped(t time.Time, step time.Duration, n int) time.Time {
	if step%day == 0 {
		return t.AddDate(0, 0, n*int(step/day))
	}
	return t.Add(time.Duration(n) * step)
}

// windows are the parts of the time from where the last fetch left off to now, and
// those before that. The last one is open: more can come in it, so it is fetched again
// the next time.
func (r *run) windows() (all, passed []window, err error) {
	inc := r.spec.incremental
	text := inc.start.expand(r.at, nil)
	start, ok := timeOf(text, r.spec.zone)
	if !ok {
		return nil, nil, fail("no-cursor", nil, "incremental.start is %q, which is not a time; use a date such as 2024-01-31.", shorten(text))
	}
	from := start
	if at, ok := timeOf(r.from.Window, r.spec.zone); ok {
		from = at
		back := int((inc.lookback + inc.step - 1) / inc.step)
		if from = stepped(from, inc.step, -back); from.Before(start) {
			from = earlier(start, at) // A start can move with the day.
		}
	}
	if passed, err = inc.cut(start, from); err == nil {
		all, err = inc.cut(from, inc.format.ceil(r.at.now))
	}
	return all, passed, err
}

// cut is the time from one to another in windows.
func (inc *incremental) cut(from, end time.Time) (all []window, err error) {
	start := from
	for from.Before(end) {
		next := stepped(from, inc.step, 1)
		all = append(all, window{from, earlier(next, end)})
		if from = next; len(all) > maxWindows {
			return nil, fail("too-many-pages", nil, "There are more than %d windows of %s since %s, the maximum. Use a longer incremental.step, or a later start.", maxWindows, feedmill.FormatDuration(inc.step), start.Format(time.RFC3339))
		}
	}
	return all, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// in is the moment as a window has it.
func (w window) in(m moment, inc *incremental) moment {
	to := w.to
	if inc.inclusive {
		to = inc.format.before(to)
	}
	m.cursor, m.to = inc.format.write(w.from), inc.format.write(to)
	return m
}

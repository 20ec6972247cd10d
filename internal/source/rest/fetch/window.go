package fetch

import (
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// maxWindows is how many windows one fetch may go through.
const maxWindows = 100_000

// window is a part of the time that is fetched: from one time to just before
// another.
type window struct{ from, to time.Time }

// stepped is a time so many steps later. Whole days are days of the calendar, which
// can have 23 hours.
func stepped(t time.Time, step time.Duration, n int) time.Time {
	if step%spec.Day == 0 {
		return t.AddDate(0, 0, n*int(step/spec.Day))
	}
	return t.Add(time.Duration(n) * step)
}

// windows are the parts of the time from where the last fetch left off to now, and
// those before that. The last one is open: more can come in it, so it is fetched again
// the next time.
func (r *run) windows() (all, passed []window, err error) {
	inc := r.spec.Incremental
	text := inc.Start.Expand(r.at, nil)
	start, ok := spec.TimeOf(text, r.spec.Zone)
	if !ok {
		return nil, nil, spec.Fail("no-cursor", nil, "incremental.start is %q, which is not a time; use a date such as 2024-01-31.", spec.Shorten(text))
	}
	from := start
	if at, ok := spec.TimeOf(r.from.Window, r.spec.Zone); ok {
		from = at
		back := int((inc.Lookback + inc.Step - 1) / inc.Step)
		if from = stepped(from, inc.Step, -back); from.Before(start) {
			from = earlier(start, at) // A start can move with the day.
		}
	}
	if passed, err = cutWindows(inc, start, from); err == nil {
		all, err = cutWindows(inc, from, inc.Format.Ceil(r.at.Now))
	}
	return all, passed, err
}

// cutWindows is the time from one to another in windows.
func cutWindows(inc *spec.Incremental, from, end time.Time) (all []window, err error) {
	start := from
	for from.Before(end) {
		next := stepped(from, inc.Step, 1)
		all = append(all, window{from, earlier(next, end)})
		if from = next; len(all) > maxWindows {
			return nil, spec.Fail("too-many-pages", nil, "There are more than %d windows of %s since %s, the maximum. Use a longer incremental.step, or a later start.", maxWindows, feedmill.FormatDuration(inc.Step), start.Format(time.RFC3339))
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
func (w window) in(m spec.Moment, inc *spec.Incremental) spec.Moment {
	to := w.to
	if inc.Inclusive {
		to = inc.Format.Before(to)
	}
	m.Cursor, m.To = inc.Format.Write(w.from), inc.Format.Write(to)
	return m
}

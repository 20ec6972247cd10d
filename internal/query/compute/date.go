package compute

import (
	"math/big"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

const daySeconds = 24 * 3600

func whole(n int64) value { return value{n: big.NewInt(n)} }

// local is the day of a date, or of a timestamp in the time zone, as midnight in UTC.
func (c *compiler) local(t Type, v value) time.Time {
	if t.Kind == columnar.TypeTimestamp {
		year, month, day := time.UnixMicro(v.i).In(c.zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(v.i*daySeconds, 0).UTC()
}

func yearOf(t time.Time) int  { return t.Year() }
func monthOf(t time.Time) int { return int(t.Month()) }
func dayOf(t time.Time) int   { return t.Day() }

// evalPart is a part of a date.
func evalPart(of func(time.Time) int) func(*compiler, *Node) eval {
	return func(c *compiler, n *Node) eval {
		a, t := c.compile(n.Args[0]), n.Args[0].Type
		return func(r *row) value {
			v := a(r)
			if v.null {
				return v
			}
			return whole(int64(of(c.local(t, v))))
		}
	}
}

func evalDaysBetween(c *compiler, n *Node) eval {
	a, b := c.compile(n.Args[0]), c.compile(n.Args[1])
	return func(r *row) value {
		from, to := a(r), b(r)
		if from.null || to.null {
			return null
		}
		return whole((c.local(n.Args[1].Type, to).Unix() - c.local(n.Args[0].Type, from).Unix()) / daySeconds)
	}
}

func evalToDate(c *compiler, n *Node) eval {
	a, t := c.compile(n.Args[0]), n.Args[0].Type
	return func(r *row) value {
		v := a(r)
		if v.null || t.Kind == columnar.TypeDate {
			return v
		}
		var at time.Time
		ok := true
		if t.Kind == columnar.TypeTimestamp {
			at = c.local(t, v)
			ok = at.Year() >= 1 && at.Year() <= 9999
		} else {
			at, ok = parseDate(v.s)
		}
		if !ok {
			r.failed = true
			return null
		}
		return value{i: at.Unix() / daySeconds}
	}
}

// parseDate reads a date of the years 1 to 9999.
func parseDate(text string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil && t.Year() >= 1
}

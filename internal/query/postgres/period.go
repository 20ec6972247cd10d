package postgres

import (
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// Period is the start of a period. It does not depend on the time zones of the server.
func (t *Table) Period(c *query.Calendar, of query.Column, column string) string {
	kind := t.Columns[of.Index].Kind
	from, before := c.Range(of.Type)
	if kind == Date {
		bounds := query.Bounds{Low: ">= DATE '" + day(from) + "'", High: "< DATE '" + day(before) + "'"}
		return "CASE WHEN " + bounds.Inside(column) + " THEN " + truncated(c, "CAST("+column+" AS timestamp)") + " END"
	}
	inUTC := column
	if kind == TimestampTZ {
		inUTC = "(" + column + " AT TIME ZONE 'UTC')"
	}
	bounds := query.Bounds{Low: ">= " + timestamp(from), High: "< " + timestamp(before)}
	start := ""
	if c.Unit == feedmill.UnitHour {
		offset := t.offset(c.Zone.OfHours(), inUTC)
		start = "date_trunc('hour', " + inUTC + " + " + offset + ") - " + offset
		if kind == TimestampTZ {
			start = "(" + start + ") AT TIME ZONE 'UTC'"
		}
	} else {
		start = truncated(c, inUTC+" + "+t.offset(c.Zone, inUTC))
	}
	return "CASE WHEN " + bounds.Inside(inUTC) + " THEN " + start + " END"
}

// truncated is the first day of the period of a local time.
func truncated(c *query.Calendar, local string) string {
	if shift := c.WeekShift(); c.Unit == feedmill.UnitWeek && shift > 0 {
		return fmt.Sprintf("CAST(date_trunc('week', %s - INTERVAL '%d days') AS date) + %d", local, shift, shift)
	}
	return "CAST(date_trunc('" + string(c.Unit) + "', " + local + ") AS date)"
}

// offset is the offset of a zone at a time, as an interval.
func (t *Table) offset(z *query.Zone, inUTC string) string {
	if len(z.At) == 0 {
		return fmt.Sprintf("INTERVAL '%d seconds'", z.Offsets[0])
	}
	at := inUTC
	if z.At[len(z.At)-1] >= query.CycleStart {
		// Every 400 years, the changes are the same.
		const days = query.Cycle / (24 * 3600)
		start := timestamp(query.CycleStart)
		at = fmt.Sprintf("CASE WHEN %s < %s THEN %s ELSE %s - (CAST(%s AS date) - CAST(%s AS date)) / %d * INTERVAL '%d days' END", inUTC, start, inUTC, inUTC, inUTC, start, days, days)
	}
	changes := z.Changes(t.Readable, timestamp)
	return "(ARRAY[" + z.Numbers(t.Readable, z.Offsets) + "])[1 + width_bucket(" + at + ", ARRAY[" + changes + "])] * INTERVAL '1 second'"
}

func day(second int64) string { return time.Unix(second, 0).UTC().Format(time.DateOnly) }

func timestamp(second int64) string {
	return "TIMESTAMP '" + time.Unix(second, 0).UTC().Format(time.DateTime) + "'"
}

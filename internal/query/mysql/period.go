package mysql

import (
	"fmt"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// epoch is what TO_SECONDS makes of 1970.
const epoch = 62167219200

// Period is the start of a period. It does not depend on the time zones of the server, whose
// tables are mostly empty.
func (t *Table) Period(c *query.Calendar, of query.Column, column string) string {
	from, before := c.Range(of.Type)
	last := "'" + time.Unix(before-1, 0).UTC().Format(time.DateTime) + ".999999'" // which is a time of MySQL, unlike the year 10000
	if of.Type == columnar.TypeDate {
		last = "'9999-12-31'"
	}
	inside := valid(column) + " AND " + column + " BETWEEN '" + time.Unix(from, 0).UTC().Format(time.DateTime) + "' AND " + last
	start := ""
	switch {
	case of.Type == columnar.TypeDate:
		start = truncated(c, column)
	case c.Unit == feedmill.UnitHour:
		second := "DATE_SUB(" + column + ", INTERVAL MICROSECOND(" + column + ") MICROSECOND)"
		start = "DATE_SUB(" + second + ", INTERVAL MOD(TO_SECONDS(" + column + ") + " + t.offset(c.Zone.OfHours(), column) + ", 3600) SECOND)"
	default:
		start = truncated(c, "DATE_ADD("+column+", INTERVAL "+t.offset(c.Zone, column)+" SECOND)")
	}
	return "CASE WHEN " + inside + " THEN " + start + " END"
}

// truncated is the first day of the period of a local time.
func truncated(c *query.Calendar, local string) string {
	const first = "DATE '0001-01-01'" // a Monday
	months := map[feedmill.PeriodUnit]int{feedmill.UnitMonth: 1, feedmill.UnitQuarter: 3, feedmill.UnitYear: 12}
	switch c.Unit {
	case feedmill.UnitDay:
		return "CAST(" + local + " AS DATE)"
	case feedmill.UnitWeek:
		shift := c.WeekShift()
		return fmt.Sprintf("CAST(DATE_ADD(%s, INTERVAL FLOOR((TO_DAYS(%s) - TO_DAYS(%s) - %d) / 7) * 7 + %d DAY) AS DATE)", first, local, first, shift, shift)
	}
	n := months[c.Unit]
	return fmt.Sprintf("CAST(DATE_ADD(%s, INTERVAL FLOOR(TIMESTAMPDIFF(MONTH, %s, %s) / %d) * %d MONTH) AS DATE)", first, first, local, n, n)
}

// offset is the offset of a zone at a time, in seconds.
func (t *Table) offset(z *query.Zone, column string) string {
	if len(z.At) == 0 {
		return strconv.FormatInt(z.Offsets[0], 10)
	}
	at := "TO_SECONDS(" + column + ")"
	if start := epoch + query.CycleStart; z.At[len(z.At)-1] >= query.CycleStart {
		// Every 400 years, the changes are the same.
		at = fmt.Sprintf("IF(%s < %d, %s, %d + MOD(%s - %d, %d))", at, start, at, start, at, start, query.Cycle)
	}
	changes := z.Changes(t.Readable, func(second int64) string { return strconv.FormatInt(epoch+second, 10) })
	return "CAST(ELT(1 + INTERVAL(" + at + ", " + changes + "), " + z.Numbers(t.Readable, z.Offsets) + ") AS SIGNED)"
}

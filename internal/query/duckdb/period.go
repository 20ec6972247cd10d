package duckdb

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Period is the start of a period. It does not depend on the time zones of DuckDB.
func (d Dialect) Period(c *query.Calendar, of query.Column, column string) string {
	return d.period(c, of, column, "make_timestamptz")
}

// period is Period for a type of times that a function makes of microseconds.
func (d Dialect) period(c *query.Calendar, of query.Column, column, function string) string {
	from, before := c.Range(of.Type)
	if of.Type == columnar.TypeDate {
		bounds := query.Bounds{Low: ">= DATE '" + day(from) + "'", High: "< DATE '" + day(before) + "'"}
		return "CASE WHEN " + bounds.Inside(column) + " THEN " + truncated(c, "CAST("+column+" AS TIMESTAMP)") + " END"
	}
	time := func(second int64) string { return fmt.Sprintf("%s(%d)", function, second*1_000_000) }
	bounds := query.Bounds{Low: ">= " + time(from), High: "< " + time(before)}
	micros := "epoch_us(" + column + ")"
	start := ""
	if c.Unit == feedmill.UnitHour {
		// What is added has whole hours and makes all times positive.
		local := fmt.Sprintf("(%s + 62167219200000000 + %s)", micros, d.offset(c.Zone.OfHours(), micros))
		start = fmt.Sprintf("%s(%s - %s %% 3600000000)", function, micros, local)
	} else {
		start = truncated(c, "make_timestamp("+micros+" + "+d.offset(c.Zone, micros)+")")
	}
	return "CASE WHEN " + bounds.Inside(column) + " THEN " + start + " END"
}

// truncated is the first day of the period of a local time.
func truncated(c *query.Calendar, local string) string {
	if shift := c.WeekShift(); c.Unit == feedmill.UnitWeek && shift > 0 {
		return fmt.Sprintf("CAST(date_trunc('week', %s - INTERVAL %d DAY) + INTERVAL %d DAY AS DATE)", local, shift, shift)
	}
	return "CAST(date_trunc('" + string(c.Unit) + "', " + local + ") AS DATE)"
}

// offset is the offset of a zone at a number of microseconds, in microseconds. It looks up the
// year, and compares with the changes of that year.
func (d Dialect) offset(z *query.Zone, micros string) string {
	const second = 1_000_000
	if len(z.At) == 0 {
		return strconv.FormatInt(z.Offsets[0]*second, 10)
	}
	first, before, most := z.Years()
	if z.At[len(z.At)-1] >= query.CycleStart {
		// Every 400 years, the changes are the same.
		micros = fmt.Sprintf("(CASE WHEN %s < %d THEN %s ELSE %d + (%s - %d) %% %d END)",
			micros, query.CycleStart*second, micros, query.CycleStart*second, micros, query.CycleStart*second, query.Cycle*second)
	}
	last := first + len(before) - 1
	earlier := fmt.Sprintf("%s[least(greatest(year(make_timestamp(%s)), %d), %d) - %d]", d.list(z, before), micros, first, last, first-1)
	var changes []int64
	for _, at := range z.At {
		changes = append(changes, at*second)
	}
	for range most {
		changes = append(changes, math.MaxInt64)
	}
	at := "1 + " + earlier
	for i := range most {
		at += fmt.Sprintf(" + CAST(%s >= %s[%s + %d] AS INTEGER)", micros, d.list(z, changes), earlier, i+1)
	}
	return d.list(z, z.Offsets) + "[" + at + "] * 1000000"
}

// list is numbers as one constant, which DuckDB plans much faster than a list of constants.
func (d Dialect) list(z *query.Zone, numbers []int64) string {
	return "CAST('[" + z.Numbers(d.Readable, numbers) + "]' AS BIGINT[])"
}

func day(second int64) string { return time.Unix(second, 0).UTC().Format(time.DateOnly) }

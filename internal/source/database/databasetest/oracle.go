package databasetest

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// passes says whether a row passes all conditions.
func passes(q *feedmill.Query, row []any) bool {
	for _, c := range q.Where {
		i := columnIndex(c.From, c.Name)
		hits := 0
		for _, f := range c.Filters {
			if accepts(q, f, columnAt(i), row[i]) != f.Inverted {
				hits++
			}
		}
		if len(c.Filters) > 0 && (hits == 0 || !c.Any && hits < len(c.Filters)) {
			return false
		}
	}
	return q.Tree == nil || holdsFor(q, q.Tree, row)
}

// holdsFor says whether a condition holds for a row.
func holdsFor(q *feedmill.Query, n *feedmill.WhereNode, row []any) bool {
	for i := range n.All {
		if !holdsFor(q, &n.All[i], row) {
			return false
		}
	}
	for i := range n.Any {
		if holdsFor(q, &n.Any[i], row) {
			return true
		}
	}
	if n.All != nil || n.Any != nil {
		return n.All != nil
	}
	i := columnIndex(n.From, n.Name)
	return accepts(q, n.Filter, columnAt(i), row[i]) != n.Filter.Inverted
}

// selects says whether a group passes the filters on its aggregates.
func selects(q *feedmill.Query, group [][]any) bool {
	for _, f := range q.Fields {
		i := columnIndex(f.From, f.Name)
		for _, h := range f.Having {
			fn := h.Fn
			switch {
			case fn != "":
			case len(f.Aggregates) > 0:
				fn = f.Aggregates[0].Fn
			default:
				fn = f.Aggregate
			}
			if accepts(q, h.Filter, columnAt(i), aggregate(fn, group, i)) == h.Filter.Inverted {
				return false
			}
		}
	}
	return true
}

// columnIndex is where a column is in a row. The columns of joined tables follow those of the
// first.
func columnIndex(from, name string) int {
	for i := range Columns {
		if Columns[i].Name == name {
			return i + len(Columns)*(slices.Index(aliases, from)+1)
		}
	}
	panic("no column " + name)
}

// columnAt is the column that is at a place of a row.
func columnAt(i int) *feedmill.Column { return &Columns[i%len(Columns)] }

// accepts says whether a value passes a filter, inverted or not.
func accepts(q *feedmill.Query, f feedmill.Filter, c *feedmill.Column, v any) bool {
	switch f.Op {
	case feedmill.OpIsNull:
		return v == nil
	case feedmill.OpIsEmpty:
		return v == nil || v == "" && c.Type == columnar.TypeText || c.Type == columnar.TypeJSON && (v == `""` || v == "[]" || v == "{}")
	case feedmill.OpEq:
		for _, value := range f.Values {
			if value.Null && v == nil || !value.Null && v != nil && order(q, c, v, value.Text) == 0 {
				return true
			}
		}
		return false
	}
	if v == nil {
		return false
	}
	switch f.Op {
	case feedmill.OpIsTrue:
		return v == true
	case feedmill.OpIsFalse:
		return v == false
	case feedmill.OpGt:
		return order(q, c, v, f.Values[0].Text) > 0
	case feedmill.OpGte:
		return order(q, c, v, f.Values[0].Text) >= 0
	case feedmill.OpLt:
		return order(q, c, v, f.Values[0].Text) < 0
	case feedmill.OpLte:
		return order(q, c, v, f.Values[0].Text) <= 0
	case feedmill.OpBetween:
		end := f.Values[1].Text
		if c.Type == columnar.TypeTimestamp && len(end) == len(time.DateOnly) {
			last, _ := time.Parse(time.DateOnly, end)
			return order(q, c, v, f.Values[0].Text) >= 0 && unit(feedmill.UnitDay, v.(time.Time).In(zone(q)), 0) <= unit(feedmill.UnitDay, last, 0)
		}
		return order(q, c, v, f.Values[0].Text) >= 0 && order(q, c, v, end) <= 0
	case feedmill.OpMatches:
		return regexp.MustCompile(f.Values[0].Text).MatchString(v.(string))
	case feedmill.OpContains, feedmill.OpStartsWith, feedmill.OpEndsWith:
		return holds(f, v.(string))
	}
	return during(q, f, c, v.(time.Time))
}

func zone(q *feedmill.Query) *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}

func holds(f feedmill.Filter, text string) bool {
	for _, value := range f.Values {
		a, b := []rune(text), []rune(value.Text)
		if !f.CaseSensitive {
			for _, runes := range [][]rune{a, b} {
				for i := range runes {
					runes[i] = unicode.ToLower(runes[i])
				}
			}
		}
		at := strings.Index(string(a), string(b))
		switch f.Op {
		case feedmill.OpContains:
			if at >= 0 {
				return true
			}
		case feedmill.OpStartsWith:
			if at == 0 {
				return true
			}
		default:
			if strings.HasSuffix(string(a), string(b)) {
				return true
			}
		}
	}
	return false
}

// order compares a value with a text that stands for one.
func order(q *feedmill.Query, c *feedmill.Column, v any, text string) int {
	switch v := v.(type) {
	case string:
		return strings.Compare(v, text)
	case *big.Rat:
		return v.Cmp(rational(text).(*big.Rat))
	case float64:
		n, _ := rational(text).(*big.Rat).Float64()
		return compareFloats(v, n)
	case bool:
		if v == (text == "true") {
			return 0
		}
		return 1
	case time.Time:
		if c.Type == columnar.TypeDate {
			return strings.Compare(v.Format(time.DateOnly), text)
		}
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateOnly} {
			if t, err := time.ParseInLocation(layout, text, zone(q)); err == nil {
				return v.Compare(t)
			}
		}
	}
	panic(text)
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// during says whether a time lies in a period, by counting the units between it
// and now.
func during(q *feedmill.Query, f feedmill.Filter, c *feedmill.Column, v time.Time) bool {
	p := f.Values[0].Period
	now := q.Now.In(zone(q))
	if c.Type == columnar.TypeTimestamp {
		v = v.In(zone(q))
	}
	ago := unit(p.Unit, now, q.WeekStart) - unit(p.Unit, v, q.WeekStart)
	switch f.Op {
	case feedmill.OpCurrent:
		return ago == 0
	case feedmill.OpToDate:
		if c.Type == columnar.TypeDate {
			return ago == 0 && v.Format(time.DateOnly) <= now.Format(time.DateOnly)
		}
		return ago == 0 && !v.After(now)
	case feedmill.OpNext:
		ago = -ago
	}
	return ago >= 1 && ago <= p.N || ago == 0 && p.IncludeCurrent
}

// periodOf is the start of the period that a time is in, where an output is one. It walks back
// from the time, one day or minute at a time.
func periodOf(q *feedmill.Query, o output, v any) any {
	if o.period == "" || v == nil {
		return v
	}
	local := v.(time.Time)
	if columnAt(o.column).Type == columnar.TypeTimestamp {
		local = local.In(zone(q))
	}
	if o.period == feedmill.UnitHour {
		_, offset := local.Zone()
		for local = local.Truncate(time.Second); local.Minute() != 0 || local.Second() != 0; {
			local = local.Add(-time.Second).In(time.FixedZone("", offset)) // the hour of the clock that shows the time
		}
		if local.UTC().Year() < 1 {
			return nil
		}
		return local.UTC()
	}
	year, month, day := local.Date()
	start := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for unit(o.period, start.AddDate(0, 0, -1), q.WeekStart) == unit(o.period, start, q.WeekStart) {
		start = start.AddDate(0, 0, -1)
	}
	if start.Year() < 1 || year > 9999 {
		return nil
	}
	return start
}

// unit is the number of the day, week, month or year that a time is in.
func unit(u feedmill.PeriodUnit, t time.Time, week time.Weekday) int {
	year, month, day := t.Date()
	days := int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()/86400) + 1_000_006 // more than there are before 1970, and whole weeks
	switch u {
	case feedmill.UnitDay:
		return days
	case feedmill.UnitWeek:
		return (days + 4 - int(week)) / 7
	case feedmill.UnitMonth:
		return 12*year + int(month)
	case feedmill.UnitQuarter:
		return 4*year + (int(month)-1)/3
	case feedmill.UnitYear:
		return year
	}
	panic(u)
}

package worker_test

import (
	"cmp"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// passes evaluates the conditions of a query on a row.
func (t *table) passes(q *feedmill.Query, row []cell) bool {
	for _, c := range q.Where {
		i := t.index(c.Name)
		passed := func(f feedmill.Filter) bool { return holds(q, &t.columns[i], f, row[i]) != f.Inverted }
		failed := func(f feedmill.Filter) bool { return !passed(f) }
		if c.Any && !slices.ContainsFunc(c.Filters, passed) || !c.Any && slices.ContainsFunc(c.Filters, failed) {
			return false
		}
	}
	return true
}

func (t *table) index(name string) int {
	return slices.IndexFunc(t.columns, func(c feedmill.Column) bool { return c.Name == name })
}

// order compares rows by the keys of a query, nulls last.
func (t *table) order(q *feedmill.Query, a, b []cell) int {
	for _, s := range q.Sort {
		i := t.index(s.Name)
		switch {
		case a[i] == nil && b[i] == nil:
			continue
		case a[i] == nil:
			return 1
		case b[i] == nil:
			return -1
		}
		if c := compare(a[i], b[i]); c != 0 {
			if s.Descending {
				return -c
			}
			return c
		}
	}
	return 0
}

func compare(a, b cell) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case float64:
		b := b.(float64)
		// As in SQL, what is not a number is greater than all that are.
		return cmp.Or(cmp.Compare(btoi(math.IsNaN(a)), btoi(math.IsNaN(b))), cmp.Compare(a, b))
	case bool:
		return cmp.Compare(btoi(a), btoi(b.(bool)))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	return strings.Compare(a.(string), b.(string))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// holds evaluates a filter that is not inverted.
func holds(q *feedmill.Query, c *feedmill.Column, f feedmill.Filter, value cell) bool {
	if value == nil {
		return f.Op == feedmill.OpIsNull || f.Op == feedmill.OpIsEmpty ||
			f.Op == feedmill.OpEq && slices.ContainsFunc(f.Values, func(v feedmill.FilterValue) bool { return v.Null })
	}
	zone := cmp.Or(q.Zone, time.UTC)
	than := func(i int) int {
		other := parse(c, f.Values[i].Text, zone)
		if n, ok := value.(float64); ok {
			exact, _ := other.(*big.Rat).Float64()
			return compare(n, exact)
		}
		return compare(value, other)
	}
	text, _ := value.(string)
	part := func(test func(whole, part string) bool) bool {
		return slices.ContainsFunc(f.Values, func(v feedmill.FilterValue) bool {
			if f.CaseSensitive {
				return test(text, v.Text)
			}
			return test(strings.ToLower(text), strings.ToLower(v.Text))
		})
	}
	switch f.Op {
	case feedmill.OpIsNull:
		return false
	case feedmill.OpIsEmpty:
		return c.Type == columnar.TypeText && text == "" || c.Type == columnar.TypeJSON && slices.Contains(jsons[:3], text)
	case feedmill.OpIsTrue:
		return value.(bool)
	case feedmill.OpIsFalse:
		return !value.(bool)
	case feedmill.OpEq:
		for i, v := range f.Values {
			if !v.Null && than(i) == 0 {
				return true
			}
		}
		return false
	case feedmill.OpContains:
		return part(strings.Contains)
	case feedmill.OpStartsWith:
		return part(strings.HasPrefix)
	case feedmill.OpEndsWith:
		return part(strings.HasSuffix)
	case feedmill.OpMatches:
		return regexp.MustCompile(f.Values[0].Text).MatchString(text)
	case feedmill.OpGt:
		return than(0) > 0
	case feedmill.OpGte:
		return than(0) >= 0
	case feedmill.OpLt:
		return than(0) < 0
	case feedmill.OpLte:
		return than(0) <= 0
	case feedmill.OpBetween:
		if c.Type == columnar.TypeTimestamp && len(f.Values[1].Text) == len(time.DateOnly) {
			day := parse(c, f.Values[1].Text, zone).(time.Time)
			return than(0) >= 0 && value.(time.Time).Before(day.AddDate(0, 0, 1))
		}
		return than(0) >= 0 && than(1) <= 0
	}
	return within(c, f, value.(time.Time), zone)
}

func parse(c *feedmill.Column, text string, zone *time.Location) cell {
	switch c.Type {
	case columnar.TypeText:
		return text
	case columnar.TypeBoolean:
		return text == "true"
	case columnar.TypeDate:
		return moment(text)
	case columnar.TypeTimestamp:
		for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05"} {
			if t, err := time.ParseInLocation(layout, text, zone); err == nil {
				return t
			}
		}
		return moment(text)
	}
	n, _ := new(big.Rat).SetString(text)
	return n
}

// within walks from the current unit to the unit of a value, one at a time.
func within(c *feedmill.Column, f feedmill.Filter, value time.Time, zone *time.Location) bool {
	p := f.Values[0].Period
	at := now.In(zone)
	local := value.In(zone)
	if c.Type == columnar.TypeDate {
		local = time.Date(value.Year(), value.Month(), value.Day(), 0, 0, 0, 0, zone)
	}
	distance := number(local, p.Unit) - number(at, p.Unit)
	switch f.Op {
	case feedmill.OpCurrent:
		return distance == 0
	case feedmill.OpToDate:
		if c.Type == columnar.TypeDate {
			return distance == 0 && number(local, feedmill.UnitDay) <= number(at, feedmill.UnitDay)
		}
		return distance == 0 && !local.After(at)
	case feedmill.OpLast:
		distance = -distance
	}
	return distance >= 1 && distance <= p.N || p.IncludeCurrent && distance == 0
}

// number counts the units until a time, from some beginning.
func number(t time.Time, unit feedmill.PeriodUnit) int {
	_, offset := t.Zone()
	seconds := t.Unix() + int64(offset)
	day := int(math.Floor(float64(seconds) / 86400))
	switch unit {
	case feedmill.UnitMinute:
		return int(math.Floor(float64(seconds) / 60))
	case feedmill.UnitHour:
		return int(math.Floor(float64(seconds) / 3600))
	case feedmill.UnitDay:
		return day
	case feedmill.UnitWeek:
		return int(math.Floor(float64(day+3) / 7)) // 1970 began on a Thursday
	case feedmill.UnitMonth:
		return t.Year()*12 + int(t.Month())
	case feedmill.UnitQuarter:
		return t.Year()*4 + (int(t.Month())-1)/3
	}
	return t.Year()
}

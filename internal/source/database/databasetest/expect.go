package databasetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// output is a column of the answer.
type output struct {
	name   string
	column int
	fn     feedmill.Aggregate
	// period is the unit that times are grouped by.
	period feedmill.PeriodUnit
}

func outputsOf(q *feedmill.Query) (all []output) {
	for _, f := range q.Fields {
		if f.FilterOnly {
			continue
		}
		i := columnIndex(f.From, f.Name)
		for _, a := range f.Aggregates {
			all = append(all, output{cmp.Or(a.As, f.Name), i, a.Fn, ""})
		}
		if len(f.Aggregates) == 0 {
			all = append(all, output{cmp.Or(f.As, f.Name), i, f.Aggregate, f.Group})
		}
	}
	return all
}

// expect is what a query answers over the rows, each value as text.
func expect(q *feedmill.Query, rows [][]any) [][]string {
	rows = joinRows(q.Joins, rows)
	outputs := outputsOf(q)
	grouped := slices.ContainsFunc(outputs, func(o output) bool { return o.fn != "" || o.period != "" }) ||
		slices.ContainsFunc(q.Fields, func(f feedmill.Field) bool { return len(f.Having) > 0 })
	var groups [][][]any
	byKey := make(map[string]int)
	keyed := slices.ContainsFunc(outputs, func(o output) bool { return o.fn == "" })
	if grouped && !keyed {
		groups, byKey[""] = [][][]any{nil}, 0
	}
	for i, row := range rows {
		if !passes(q, row) {
			continue
		}
		key := ""
		for _, o := range outputs {
			if o.fn == "" {
				key += fmt.Sprintf("%q ", show(periodOf(q, o, row[o.column])))
			}
		}
		if !grouped {
			key = strconv.Itoa(i)
		}
		at, ok := byKey[key]
		if !ok {
			at = len(groups)
			byKey[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], row)
	}
	if grouped {
		groups = slices.DeleteFunc(groups, func(g [][]any) bool { return !selects(q, g) })
	}
	value := func(group [][]any, o output) any { return periodOf(q, o, aggregate(o.fn, group, o.column)) }
	slices.SortStableFunc(groups, func(a, b [][]any) int {
		for _, s := range q.Sort {
			o := sortedBy(outputs, s)
			if c := compareNullsLast(value(a, o), value(b, o), s.Descending); c != 0 {
				return c
			}
		}
		return 0
	})
	groups = groups[min(q.Offset, int64(len(groups))):]
	if q.Limit > 0 && int64(len(groups)) > q.Limit {
		groups = groups[:q.Limit]
	}
	var answer [][]string
	for _, g := range groups {
		var texts []string
		for _, o := range outputs {
			texts = append(texts, show(value(g, o)))
		}
		answer = append(answer, texts)
	}
	return answer
}

func sortedBy(outputs []output, s feedmill.Sort) output {
	for _, o := range outputs {
		if o.name == s.Name && s.From == "" {
			return o
		}
	}
	return output{column: columnIndex(s.From, s.Name)}
}

func compareNullsLast(a, b any, descending bool) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	c := compareValues(a, b)
	if descending {
		return -c
	}
	return c
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case float64:
		return compareFloats(a, b.(float64))
	case time.Time:
		return a.Compare(b.(time.Time))
	case bool:
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	}
	panic(a)
}

// aggregate makes one value of a column of a group.
func aggregate(fn feedmill.Aggregate, group [][]any, column int) any {
	if fn == "" {
		return group[0][column]
	}
	var there []any
	distinct := make(map[string]bool)
	for _, row := range group {
		if v := row[column]; v != nil {
			there = append(there, v)
			distinct[show(v)] = true
		}
	}
	switch {
	case fn == feedmill.AggregateCount:
		return big.NewRat(int64(len(there)), 1)
	case fn == feedmill.AggregateCountDistinct:
		return big.NewRat(int64(len(distinct)), 1)
	case len(there) == 0:
		return nil
	case fn == feedmill.AggregateMin:
		return slices.MinFunc(there, compareValues)
	case fn == feedmill.AggregateMax:
		return slices.MaxFunc(there, compareValues)
	}
	if _, ok := there[0].(float64); ok {
		sum := 0.0
		for _, v := range there {
			sum += v.(float64)
		}
		if fn == feedmill.AggregateAvg {
			sum /= float64(len(there))
		}
		return sum
	}
	sum := new(big.Rat)
	for _, v := range there {
		sum.Add(sum, v.(*big.Rat))
	}
	if fn == feedmill.AggregateAvg {
		average, _ := sum.Quo(sum, big.NewRat(int64(len(there)), 1)).Float64()
		return average
	}
	return sum
}

// show writes a value. Numbers are shown to twelve digits, for the order in which
// a database adds them up is its own. They are moved off the ties of that rounding first,
// because an average of decimals can be a tie exactly.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "<null>"
	case *big.Rat:
		return v.RatString()
	case float64:
		if moved := v * (1 + 1e-13); !math.IsInf(moved, 0) {
			v = moved
		}
		return strconv.FormatFloat(v, 'g', 12, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// showRow writes row i of a vector in the same way.
func showRow(v *columnar.Vector, i int) string {
	if v.Null(i) {
		return show(nil)
	}
	switch v.Type {
	case columnar.TypeText:
		return string(v.Text(i))
	case columnar.TypeJSON:
		return compact(string(v.Text(i)))
	case columnar.TypeNumber:
		return show(v.Floats[i])
	case columnar.TypeBoolean:
		return strconv.FormatBool(v.Ints[i] == 1)
	case columnar.TypeDate:
		return show(time.Unix(v.Ints[i]*86400, 0))
	case columnar.TypeTimestamp:
		return show(time.UnixMicro(v.Ints[i]))
	}
	number := columnar.Int128{}
	if v.Wide != nil {
		number = v.Wide[i]
	} else {
		number = columnar.Int128Of(v.Ints[i])
	}
	return show(rational(number.Decimal(v.Scale)))
}

// compact writes JSON without spaces.
func compact(text string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return text
	}
	return out.String()
}

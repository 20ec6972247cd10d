package ui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// queryFilter is a row of the form of filters.
type queryFilter struct{ Field, Op, Value string }

// periodOperators are those of dates that move with the clock: the operator, its unit, and
// a plus where the unit that lasts still is counted too.
var periodOperators = []operator{
	{"current day", "today"},
	{"current week", "this week"},
	{"current month", "this month"},
	{"current quarter", "this quarter"},
	{"current year", "this year"},
	{"toDate week", "this week so far"},
	{"toDate month", "this month so far"},
	{"toDate quarter", "this quarter so far"},
	{"toDate year", "this year so far"},
	{"last minute", "last n minutes"},
	{"last hour", "last n hours"},
	{"last day", "last n days"},
	{"last day +", "last n days + today"},
	{"last week", "last n weeks"},
	{"last week +", "last n weeks + this"},
	{"last month", "last n months"},
	{"last month +", "last n months + this"},
	{"last quarter", "last n quarters"},
	{"last year", "last n years"},
	{"next day", "next n days"},
	{"next day +", "today + next n days"},
	{"next week", "next n weeks"},
	{"next month", "next n months"},
}

// Operators are those of the form that compare.
func (queryPage) Operators() []operator { return operators }

// WrongField reports whether the row of a field has an error.
func (p queryPage) WrongField(f queryField) bool {
	if p.Faults["field."+f.Key] != "" {
		return true
	}
	return f.Chosen && slices.ContainsFunc(p.Columns(f), func(c namedColumn) bool { return p.Faults[c.Input] != "" })
}

// PeriodOperators are those of the form that move with the clock.
func (queryPage) PeriodOperators() []operator { return periodOperators }

// Several are the fields with more than one filter, of which all or any must hold.
func (p queryPage) Several() (out []queryField) {
	for _, f := range p.Fields {
		n := 0
		for _, filter := range p.Filters {
			if filter.Field == f.Key && !p.Any {
				n++
			}
		}
		if n > 1 {
			out = append(out, f)
		}
	}
	return out
}

var ranWords = map[feedmill.RanIn]string{
	feedmill.RanInSource: "in the source",
	feedmill.RanInHere:   "in Feedmill, on the returned rows",
	feedmill.RanInBoth:   "in the source and again in Feedmill",
}

// RanWords say where a filter ran.
func (queryPage) RanWords(in feedmill.RanIn) string { return ranWords[in] }

// OperatorWords are an operator's as the form has them.
func (queryPage) OperatorWords(op string, inverted bool) string {
	if op == "toDate" {
		return "so far"
	}
	return operatorWords(op, inverted)
}

// filterSpec is a filter as the API takes it.
func (p *queryPage) filterSpec(f queryFilter) map[string]any {
	op, inverted := strings.CutPrefix(f.Op, "!")
	filter := map[string]any{"op": op}
	if inverted {
		filter["inverted"] = true
	}
	text := strings.TrimSpace(f.Value)
	if period, unit, ok := strings.Cut(op, " "); ok {
		unit, included := strings.CutSuffix(unit, " +")
		value := map[string]any{"unit": unit}
		if included {
			value["includeCurrent"] = true
		}
		if text != "" && (period == "last" || period == "next") {
			value["n"] = count(text)
		}
		filter["op"], filter["values"] = period, []any{value}
		return filter
	}
	switch {
	case slices.Contains(withoutValue, op):
	case slices.Contains([]string{"gt", "gte", "lt", "lte"}, op):
		filter["values"] = []any{p.value(f.Field, text)}
	default:
		values := []any{}
		for value := range strings.SplitSeq(text, ",") {
			values = append(values, p.value(f.Field, strings.TrimSpace(value)))
		}
		filter["values"] = values
	}
	return filter
}

// count is a whole number, or what was written in its place, for the API to refuse in its
// own words.
func count(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return text
}

// value returns a number for a numeric field and a text that is a JSON number; otherwise
// the text, for the API to refuse.
func (p *queryPage) value(field, text string) any {
	isNumber := func(f queryField) bool { return f.Key == field && numeric(f.Type) }
	if slices.ContainsFunc(p.Fields, isNumber) && json.Valid([]byte(text)) && strings.ContainsRune("-0123456789", rune(text[0])) {
		return json.Number(text)
	}
	return text
}

package ui

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// operator is a condition of a filter, and how people say it.
type operator struct{ Op, Words string }

// operators are those that the forms of filters have, in the table of a feed as in a query; an
// exclamation mark inverts.
var operators = []operator{
	{"eq", "is"},
	{"!eq", "is not"},
	{"contains", "contains"},
	{"!contains", "does not contain"},
	{"startsWith", "starts with"},
	{"endsWith", "ends with"},
	{"gt", "greater than"},
	{"gte", "at least"},
	{"lt", "less than"},
	{"lte", "at most"},
	{"between", "between (two)"},
	{"isNull", "is null"},
	{"!isNull", "is not null"},
	{"isEmpty", "is empty"},
	{"!isEmpty", "is not empty"},
	{"isTrue", "is true"},
	{"isFalse", "is false"},
}

// withoutValue are the operators that say all by themselves.
var withoutValue = []string{"isNull", "isEmpty", "isTrue", "isFalse"}

// operatorWords are how people say an operator; its name where the forms do not have it.
func operatorWords(op string, inverted bool) string {
	wanted := op
	if inverted {
		wanted = "!" + op
	}
	for _, o := range operators {
		if o.Op == wanted {
			return o.Words
		}
	}
	if inverted {
		return "not " + op
	}
	return op
}

// filterChip is a filter in words; Without is the page without it.
type filterChip struct{ Column, Words, Value, Without string }

// Text is the filter in one sentence.
func (c filterChip) Text() string {
	return strings.Join(slices.DeleteFunc([]string{c.Column, c.Words, c.Value}, func(part string) bool { return part == "" }), " ")
}

// withFilter is the page with one more filter.
func withFilter(u *url.URL, column, op, value string) string {
	q := u.Query()
	for _, name := range []string{"column", "op", "value", "offset", "row"} {
		q.Del(name)
	}
	inverted := ""
	op, found := strings.CutPrefix(cmp.Or(op, "eq"), "!")
	if found {
		inverted = "!"
	}
	filter := inverted + quoteName(column) + ":" + op
	if low, high, two := strings.Cut(value, ","); two && op == "between" {
		filter += ":" + quoteName(strings.TrimSpace(low)) + "," + quoteName(strings.TrimSpace(high))
	} else if !slices.Contains(withoutValue, op) {
		filter += ":" + quoteName(value)
	}
	q.Add("filter", filter)
	return u.Path + "?" + q.Encode()
}

// quoteName is a name or value as the API's parameters take it.
func quoteName(name string) string {
	if name != "" && !strings.ContainsAny(name, ",:\"\n\r!-") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// chips are the filters in words, each with the page without it.
func chips(u *url.URL) []filterChip {
	filters := u.Query()["filter"]
	all := make([]filterChip, len(filters))
	for i, f := range filters {
		q := u.Query()
		q["filter"] = slices.Delete(slices.Clone(filters), i, i+1)
		q.Del("offset")
		q.Del("row")
		all[i] = filterWords(f)
		all[i].Without = strings.TrimSuffix(u.Path+"?"+q.Encode(), "?")
	}
	return all
}

func filterWords(filter string) filterChip {
	text, inverted := strings.CutPrefix(filter, "!")
	column, rest, ok := cutQuoted(text, ':')
	if !ok {
		return filterChip{Words: filter}
	}
	op, values, ok := strings.Cut(rest, ":")
	chip := filterChip{Column: column, Words: operatorWords(op, inverted)}
	if !ok {
		return chip
	}
	var chosen []string
	for ok {
		var value string
		value, values, ok = cutQuoted(values, ',')
		chosen = append(chosen, value)
	}
	and := " or "
	if op == "between" {
		chip.Words, and = strings.TrimSuffix(chip.Words, " (two)"), " and "
	}
	chip.Value = strings.Join(chosen, and)
	return chip
}

// cutQuoted cuts a text at the first mark that is not in quotes, and takes the quotes away from
// what is before it.
func cutQuoted(text string, mark byte) (before, after string, found bool) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == mark && !quoted:
			return unquoted(text[:i]), text[i+1:], true
		}
	}
	return unquoted(text), "", false
}

func unquoted(text string) string {
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return text
}

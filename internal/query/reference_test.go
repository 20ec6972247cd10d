package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query/compute"
	"github.com/feedmill/feedmill/internal/reference"
)

// meanings describe the operators.
var meanings = map[feedmill.FilterOp]string{
	feedmill.OpEq:         "The value equals one of the given values. `null` can be one of them.",
	feedmill.OpContains:   "The text contains one of the given texts. Case is ignored unless `caseSensitive` is true.",
	feedmill.OpStartsWith: "The text starts with one of the given texts. Case is ignored unless `caseSensitive` is true.",
	feedmill.OpEndsWith:   "The text ends with one of the given texts. Case is ignored unless `caseSensitive` is true.",
	feedmill.OpMatches:    "The text matches a regular expression (RE2).",
	feedmill.OpGt:         "The value is greater than the given one.",
	feedmill.OpGte:        "The value is greater than the given one, or equals it.",
	feedmill.OpLt:         "The value is less than the given one.",
	feedmill.OpLte:        "The value is less than the given one, or equals it.",
	feedmill.OpBetween:    "The value is in the range, including both ends. If the end is a day, all of that day is included.",
	feedmill.OpIsNull:     "The value is null.",
	feedmill.OpIsEmpty:    "The value is null, an empty text, or an empty JSON array or object.",
	feedmill.OpIsTrue:     "The value is true.",
	feedmill.OpIsFalse:    "The value is false.",
	feedmill.OpLast:       "The time is in the last *n* units, without the current one unless `includeCurrent` is true.",
	feedmill.OpNext:       "The time is in the next *n* units, without the current one unless `includeCurrent` is true.",
	feedmill.OpCurrent:    "The time is in the current unit, such as this month.",
	feedmill.OpToDate:     "The time is in the current unit, up to now.",
}

// aggregateMeanings describe the aggregates.
var aggregateMeanings = map[feedmill.Aggregate]string{
	feedmill.AggregateSum:           "The sum of the values.",
	feedmill.AggregateAvg:           "The average of the values.",
	feedmill.AggregateMin:           "The smallest value.",
	feedmill.AggregateMax:           "The greatest value.",
	feedmill.AggregateCount:         "The number of values that are not null.",
	feedmill.AggregateCountDistinct: "The number of different values, without null.",
}

// typeNames lists types, or "all" for all of them.
func typeNames(types []columnar.Type) string {
	if len(types) == len(columnar.Types) {
		return "all"
	}
	var names []string
	for _, t := range columnar.Types {
		if slices.Contains(types, t) {
			names = append(names, "`"+string(t)+"`")
		}
	}
	return strings.Join(names, ", ")
}

func TestReferenceOfOperators(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Operators and aggregates\n\nA filter has an operator (`op`) and values. [Queries](queries.md#filters) describes where filters are used and how they are combined.\n\n## Operators\n\n" +
		"| Operator | Passes if | Column types | Values |\n|---|---|---|---|\n")
	for _, op := range operators {
		if meanings[op.name] == "" {
			t.Errorf("the operator %s has no meaning", op.name)
		}
		values := "none"
		switch {
		case op.period:
			values = "a period"
		case op.most == many:
			values = fmt.Sprintf("1 to %d", feedmill.MaxFilterValues)
		case op.most > 0:
			values = fmt.Sprint(op.most)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", op.name, meanings[op.name], typeNames(op.types), values)
	}
	if len(meanings) != len(operators) {
		t.Errorf("%d operators have a meaning; there are %d", len(meanings), len(operators))
	}
	b.WriteString("\nOnly these operators pass a null: `eq` if null is one of its values")
	for _, op := range operators {
		if op.nulls == nullPasses {
			fmt.Fprintf(&b, ", `%s`", op.name)
		}
	}
	b.WriteString(". `\"inverted\": true` passes exactly the other rows, including their nulls.\n\n## Periods\n\n")
	fmt.Fprintf(&b, "A period has `n` (1 to %d) and `unit`: `{\"n\": 7, \"unit\": \"day\"}`. On the command line it is `7 days` or `month`. `current` and `toDate` use only `unit`. The units are ", feedmill.MaxPeriod)
	for i, unit := range feedmill.PeriodUnits {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "`%s`", unit)
	}
	b.WriteString(".\n\nDays start at midnight in the time zone of the query, weeks on its `weekStart`.\n\n## Aggregates\n\nFields without an aggregate group the rows.\n\n| Aggregate | Result | Column types |\n|---|---|---|\n")
	for _, a := range feedmill.Aggregates {
		if aggregateMeanings[a] == "" {
			t.Errorf("the aggregate %s has no meaning", a)
		}
		var types []columnar.Type
		for _, of := range columnar.Types {
			if slices.Contains(Aggregates(of), a) {
				types = append(types, of)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a, aggregateMeanings[a], typeNames(types))
	}
	if len(aggregateMeanings) != len(feedmill.Aggregates) {
		t.Errorf("%d aggregates have a meaning; there are %d", len(aggregateMeanings), len(feedmill.Aggregates))
	}
	b.WriteString("\n## Functions of computed fields\n\n[Computed fields](queries.md#computed-fields) describes expressions and their operators. A null argument gives null, except in `if`, `coalesce` and `concat`.\n\n| Function | Result |\n|---|---|\n")
	for _, f := range compute.Functions() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Usage, f.Meaning)
	}
	fmt.Fprintf(&b, "\n## Limits\n\n- A query can have up to %d fields.\n- A field can have up to %d filters.\n- A filter can have up to %d values.\n- `where` can have up to %d filters and %d levels.\n- A field can have up to %d filters on aggregates (`having`).\n- A query can have up to %d joins, each with up to %d pairs of fields.\n- A query can have up to %d computed fields. An expression can have up to %d bytes and %d levels, and a text that it builds up to %d bytes.\n", feedmill.MaxQueryFields, feedmill.MaxFilters, feedmill.MaxFilterValues, feedmill.MaxWhereFilters, feedmill.MaxWhereDepth, feedmill.MaxHaving, feedmill.MaxJoins, feedmill.MaxJoinPairs, feedmill.MaxComputed, feedmill.MaxComputedBytes, feedmill.MaxComputedDepth, feedmill.MaxComputedText)
	reference.Check(t, "../..", "operators.md", b.String())
}

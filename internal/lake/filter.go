package lake

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// predicate turns a filter on a column into SQL that is true for the rows that
// pass. Where the filter is not inverted it may be null for those that do not.
func (b *builder) predicate(c *column, f feedmill.Filter) (string, error) {
	sql, err := b.plainPredicate(c, f)
	if err != nil {
		return "", err
	}
	if f.Inverted {
		// Of two values: what is null is not true, and so its opposite is.
		return "((" + sql + ") IS NOT TRUE)", nil
	}
	return "(" + sql + ")", nil
}

func (b *builder) plainPredicate(c *column, f feedmill.Filter) (string, error) {
	if err := checkFilter(c.Type, f); err != nil {
		return "", err
	}
	switch f.Op {
	case feedmill.OpIsNull:
		return c.sql + " IS NULL", nil
	case feedmill.OpIsEmpty:
		return c.isEmpty(), nil
	case feedmill.OpIsTrue:
		return c.sql, nil
	case feedmill.OpIsFalse:
		return "NOT " + c.sql, nil
	case feedmill.OpEq:
		return b.equal(c, f.Values)
	case feedmill.OpContains, feedmill.OpStartsWith, feedmill.OpEndsWith:
		return b.partOf(c, f), nil
	case feedmill.OpMatches:
		if _, err := regexp.Compile(f.Values[0].Text); err != nil {
			return "", &valueError{0, "is no regular expression (RE2): " + err.Error()}
		}
		return "regexp_matches(" + c.sql + ", " + b.bind(f.Values[0].Text) + ")", nil
	case feedmill.OpBetween:
		return b.between(c, f.Values)
	case feedmill.OpLast, feedmill.OpNext, feedmill.OpCurrent, feedmill.OpToDate:
		return b.during(c, f)
	}
	return b.compare(c, f.Op, f.Values[0], 0)
}

// filterRule says for which types of columns an operator is, and how many values it has.
type filterRule struct {
	least, most int // most of zero or more; -1 is without end
	types       []columnar.Type
}

var (
	ordered = []columnar.Type{
		columnar.TypeText, columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber, columnar.TypeDate, columnar.TypeTimestamp,
	}
	equatable = append(slices.Clone(ordered), columnar.TypeBoolean)
	text      = []columnar.Type{columnar.TypeText}
	boolean   = []columnar.Type{columnar.TypeBoolean}
	temporal  = []columnar.Type{columnar.TypeDate, columnar.TypeTimestamp}
)

var filterRules = map[feedmill.FilterOp]filterRule{
	feedmill.OpEq:         {1, -1, equatable},
	feedmill.OpContains:   {1, -1, text},
	feedmill.OpStartsWith: {1, -1, text},
	feedmill.OpEndsWith:   {1, -1, text},
	feedmill.OpMatches:    {1, 1, text},
	feedmill.OpGt:         {1, 1, ordered},
	feedmill.OpGte:        {1, 1, ordered},
	feedmill.OpLt:         {1, 1, ordered},
	feedmill.OpLte:        {1, 1, ordered},
	feedmill.OpBetween:    {2, 2, ordered},
	feedmill.OpIsNull:     {0, 0, columnar.Types},
	feedmill.OpIsEmpty:    {0, 0, columnar.Types},
	feedmill.OpIsTrue:     {0, 0, boolean},
	feedmill.OpIsFalse:    {0, 0, boolean},
	feedmill.OpLast:       {1, 1, temporal},
	feedmill.OpNext:       {1, 1, temporal},
	feedmill.OpCurrent:    {1, 1, temporal},
	feedmill.OpToDate:     {1, 1, temporal},
}

// Operators lists the operators that a column of a type can be filtered with.
func Operators(t columnar.Type) []feedmill.FilterOp {
	var ops []feedmill.FilterOp
	for op, rule := range filterRules {
		if slices.Contains(rule.types, t) {
			ops = append(ops, op)
		}
	}
	slices.Sort(ops)
	return ops
}

func checkFilter(t columnar.Type, f feedmill.Filter) error {
	rule, ok := filterRules[f.Op]
	if !ok || !slices.Contains(rule.types, t) {
		return &valueError{noValue, fmt.Sprintf("a column of type %s has no operator %q; it has %s", t, f.Op, list(Operators(t)))}
	}
	switch n := len(f.Values); {
	case n < rule.least && rule.most < 0:
		return &valueError{noValue, fmt.Sprintf("%s needs a value", f.Op)}
	case n < rule.least || rule.most >= 0 && n > rule.most:
		return &valueError{noValue, fmt.Sprintf("%s has %d values, not %d", f.Op, rule.least, n)}
	}
	period := slices.Contains(temporal, t) && slices.Equal(rule.types, temporal)
	for i, v := range f.Values {
		switch {
		case v.Null && f.Op != feedmill.OpEq:
			return &valueError{i, "must not be null; use isNull"}
		case (v.Period != nil) != period:
			if period {
				return &valueError{i, `must be a period such as {"n": 7, "unit": "day"}`}
			}
			return &valueError{i, "must be one value"}
		}
	}
	return nil
}

func list(ops []feedmill.FilterOp) string {
	var names []string
	for _, op := range ops {
		names = append(names, string(op))
	}
	return strings.Join(names, ", ")
}

// noValue says of a valueError that the filter itself is at fault.
const noValue = -1

// valueError is a fault of one value of a filter.
type valueError struct {
	value  int
	detail string
}

func (e *valueError) Error() string { return e.detail }

func (c *column) isEmpty() string {
	switch c.Type {
	case columnar.TypeText:
		return c.sql + " IS NULL OR " + c.sql + " = ''"
	case columnar.TypeJSON:
		return c.sql + " IS NULL OR CAST(" + c.sql + ` AS VARCHAR) IN ('""', '[]', '{}')`
	}
	return c.sql + " IS NULL"
}

func (b *builder) equal(c *column, values []feedmill.FilterValue) (string, error) {
	var any []string
	for i, v := range values {
		if v.Null {
			any = append(any, c.sql+" IS NULL")
			continue
		}
		sql, err := b.compare(c, feedmill.OpEq, v, i)
		if err != nil {
			return "", err
		}
		any = append(any, sql)
	}
	return strings.Join(any, " OR "), nil
}

// partOf is contains, startsWith and endsWith.
func (b *builder) partOf(c *column, f feedmill.Filter) string {
	function := map[feedmill.FilterOp]string{
		feedmill.OpContains: "contains", feedmill.OpStartsWith: "starts_with", feedmill.OpEndsWith: "ends_with",
	}[f.Op]
	var any []string
	for _, v := range f.Values {
		whole, part := c.sql, b.bind(v.Text)
		if !f.CaseSensitive {
			whole, part = "lower("+whole+")", "lower("+part+")"
		}
		any = append(any, function+"("+whole+", "+part+")")
	}
	return strings.Join(any, " OR ")
}

func (b *builder) between(c *column, values []feedmill.FilterValue) (string, error) {
	from, err := b.compare(c, feedmill.OpGte, values[0], 0)
	if err != nil {
		return "", err
	}
	if c.Type == columnar.TypeTimestamp {
		if day, err := time.ParseInLocation(time.DateOnly, values[1].Text, b.zone()); err == nil {
			return from + " AND " + c.sql + " < " + b.instant(day.AddDate(0, 0, 1)), nil
		}
	}
	to, err := b.compare(c, feedmill.OpLte, values[1], 1)
	return from + " AND " + to, err
}

// compare compares a column with value i of a filter.
func (b *builder) compare(c *column, op feedmill.FilterOp, v feedmill.FilterValue, i int) (string, error) {
	switch c.Type {
	case columnar.TypeInteger, columnar.TypeDecimal:
		n, err := parseNumber(v.Text)
		if err != nil {
			return "", &valueError{i, err.Error()}
		}
		return b.compareExact(c, op, n), nil
	case columnar.TypeNumber:
		n, err := parseNumber(v.Text)
		if err != nil {
			return "", &valueError{i, err.Error()}
		}
		f, _ := n.Float64()
		return c.sql + sign[op] + "CAST(" + b.bind(strconv.FormatFloat(f, 'g', -1, 64)) + " AS DOUBLE)", nil
	case columnar.TypeBoolean:
		if v.Text != "true" && v.Text != "false" {
			return "", &valueError{i, "must be true or false"}
		}
		return c.sql + sign[op] + v.Text, nil
	case columnar.TypeDate:
		day, err := time.Parse(time.DateOnly, v.Text)
		if err != nil {
			return "", &valueError{i, "must be a date such as 2026-01-31"}
		}
		return c.sql + sign[op] + b.day(day), nil
	case columnar.TypeTimestamp:
		t, err := parseInstant(v.Text, b.zone())
		if err != nil {
			return "", &valueError{i, err.Error()}
		}
		return c.sql + sign[op] + b.instant(t), nil
	}
	return c.sql + sign[op] + b.bind(v.Text), nil
}

var sign = map[feedmill.FilterOp]string{
	feedmill.OpEq: " = ", feedmill.OpGt: " > ", feedmill.OpGte: " >= ", feedmill.OpLt: " < ", feedmill.OpLte: " <= ",
}

func (b *builder) day(t time.Time) string {
	return "CAST(" + b.bind(t.Format(time.DateOnly)) + " AS DATE)"
}

func (b *builder) instant(t time.Time) string {
	return "make_timestamptz(CAST(" + b.bind(strconv.FormatInt(t.UnixMicro(), 10)) + " AS BIGINT))"
}

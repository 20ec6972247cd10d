package query

import (
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// CanOverflow reports whether an expression is a sum or an average that can be beyond the range
// of a number.
func (e Expression) CanOverflow() bool {
	c := e.Column.Column
	switch e.Aggregate {
	case feedmill.AggregateSum:
		return c.Type == columnar.TypeNumber
	case feedmill.AggregateAvg:
		return c.Type == columnar.TypeNumber || IsOpen(c)
	}
	return false
}

// Bounded is an expression of which the SQL is given, and null where it is a sum or an average that
// is beyond the range of a number.
func (t *Tree) Bounded(e Expression, sql string) string {
	if t.Infinite || !e.CanOverflow() {
		return sql
	}
	return "CASE WHEN abs(" + sql + ") <= 1.7976931348623157e308 THEN " + sql + " END"
}

// NumberSum is a sum or an average of numbers in SQL. Where adding the values up leaves the range, they
// are added up again, divided by 2^64: the sum can be within the range nevertheless. Beyond is what a sum
// is that is not.
func NumberSum(fn feedmill.Aggregate, column, beyond string) string {
	const scaled = "sum(? * 5.421010862427522e-20)"
	part := ""
	if fn == feedmill.AggregateAvg {
		part = " / count(?)"
	}
	return strings.ReplaceAll("CASE WHEN abs(sum(?)) <= 1.7976931348623157e308 THEN sum(?)"+part+
		" WHEN abs("+scaled+") <= 9.745314011399998e288 THEN "+scaled+" * 1.8446744073709552e19"+part+
		" WHEN count(?) > 0 THEN "+beyond+" END", "?", column)
}

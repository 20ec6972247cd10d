package query

import (
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

package query

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Columns are what the result has: the names, and the types that do not depend on
// the database.
func (t *Tree) Columns() []feedmill.Column {
	columns := make([]feedmill.Column, len(t.Outputs))
	for i, o := range t.Outputs {
		columns[i] = o.Type()
		columns[i].Name, columns[i].SourceName = o.Name, o.Name
	}
	return columns
}

// Type is the column that an expression is. Sums have room for all digits, and an
// average is a number.
func (e Expression) Type() feedmill.Column {
	c := *e.Column.Column
	if e.Period != nil {
		return feedmill.Column{Type: e.Period.Type(), Nullable: true}
	}
	switch e.Aggregate {
	case "":
		return c
	case feedmill.AggregateCount, feedmill.AggregateCountDistinct:
		return feedmill.Column{Type: columnar.TypeInteger}
	case feedmill.AggregateAvg:
		return feedmill.Column{Type: columnar.TypeNumber, Nullable: true}
	case feedmill.AggregateSum:
		switch {
		case c.Type == columnar.TypeInteger:
			c.Type, c.Precision, c.Scale = columnar.TypeDecimal, columnar.WideDigits, 0
		case c.Type == columnar.TypeDecimal && !IsOpen(&c):
			c.Precision = columnar.WideDigits
		}
	}
	c.Nullable = true
	return c
}

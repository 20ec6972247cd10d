package lake

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// fields is what is shown.
func (b *builder) fields() []expression {
	var shown []expression
	for _, f := range b.query.Fields {
		c := b.column(f.Name, f.Place)
		if c == nil {
			continue
		}
		e := expression{field: f.Name, as: f.As, sql: c.sql, kind: c.sqlType()}
		if e.as == "" {
			e.as = f.Name
		}
		if slices.ContainsFunc(shown, func(other expression) bool { return other.field == e.field || other.as == e.as }) {
			b.fault(f.Place, fmt.Sprintf("the field %q is named twice", e.as))
			continue
		}
		if f.Aggregate != "" && !e.apply(f.Aggregate, c) {
			b.fault(f.Place, fmt.Sprintf("there is no %q of a column of type %s", f.Aggregate, c.Type))
			continue
		}
		shown = append(shown, e)
	}
	return shown
}

// apply makes an aggregate of a column, or reports that there is none.
func (e *expression) apply(aggregate feedmill.Aggregate, c *column) bool {
	e.aggregate = true
	numeric := slices.Contains([]columnar.Type{columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber}, c.Type)
	switch aggregate {
	case feedmill.AggregateCount:
		e.sql, e.kind = "count("+c.sql+")", "BIGINT"
		return true
	case feedmill.AggregateCountDistinct:
		e.sql, e.kind = "count(DISTINCT "+c.sql+")", "BIGINT"
		return c.Type != columnar.TypeJSON
	case feedmill.AggregateMin, feedmill.AggregateMax:
		e.sql = string(aggregate) + "(" + c.sql + ")"
		return c.Type != columnar.TypeJSON
	case feedmill.AggregateAvg:
		e.sql, e.kind = "avg("+c.sql+")", "DOUBLE"
		return numeric
	case feedmill.AggregateSum:
		e.sql = "sum(" + c.sql + ")"
		switch c.Type {
		case columnar.TypeInteger:
			e.kind = "HUGEINT"
		case columnar.TypeDecimal:
			e.kind = "DECIMAL(38," + strconv.Itoa(c.Scale) + ")"
		}
		return numeric
	}
	return false
}

// sortKeys is what is sorted by: any column, or where there are groups, a field.
func (b *builder) sortKeys(shown []expression) []expression {
	var keys []expression
	for _, s := range b.query.Sort {
		var key expression
		if i := slices.IndexFunc(shown, func(e expression) bool { return e.field == s.Name || e.as == s.Name }); i >= 0 {
			key = shown[i]
		} else if c := b.column(s.Name, s.Place); c == nil {
			continue
		} else if grouped(shown) {
			b.fault(s.Place, fmt.Sprintf("%q is no field of this query, whose rows are groups", s.Name))
			continue
		} else {
			key = expression{field: s.Name, sql: c.sql, kind: c.sqlType()}
		}
		if key.kind == "JSON" {
			b.fault(s.Place, "a column of type json has no order")
			continue
		}
		key.descending = s.Descending
		keys = append(keys, key)
	}
	return keys
}

// sqlType is what DuckDB calls the type of a column.
func (c *column) sqlType() string {
	switch c.Type {
	case columnar.TypeInteger:
		return "BIGINT"
	case columnar.TypeDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", c.Precision, c.Scale)
	case columnar.TypeNumber:
		return "DOUBLE"
	case columnar.TypeBoolean:
		return "BOOLEAN"
	case columnar.TypeDate:
		return "DATE"
	case columnar.TypeTimestamp:
		return "TIMESTAMPTZ"
	case columnar.TypeJSON:
		return "JSON"
	}
	return "VARCHAR"
}

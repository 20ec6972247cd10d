// Package duckdb is the dialect of DuckDB.
package duckdb

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Dialect is the [query.Dialect] of DuckDB.
type Dialect struct{ query.Standard }

// Placeholder is the parameter of a prepared statement.
func (Dialect) Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Compare compares values of the column's type.
func (d Dialect) Compare(p query.Compare, column string, bind func(string) string) string {
	return column + " " + string(p.Comparison) + " " + d.Value(p.Column, p.Value, bind)
}

// Value makes a value of the column's type. Timestamps are bound as numbers,
// which no setting of the database reads in another time zone.
func (Dialect) Value(of query.Column, v query.Value, bind func(string) string) string {
	switch v := v.(type) {
	case string:
		return bind(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return "CAST(" + bind(strconv.FormatFloat(v, 'g', -1, 64)) + " AS DOUBLE)"
	case *big.Rat:
		return "CAST(" + bind(v.FloatString(of.Scale)) + " AS " + ColumnType(of.Column) + ")"
	case time.Time:
		if of.Type == columnar.TypeDate {
			return "CAST(" + bind(v.Format(time.DateOnly)) + " AS DATE)"
		}
		return "make_timestamptz(CAST(" + bind(strconv.FormatInt(v.UnixMicro(), 10)) + " AS BIGINT))"
	}
	panic(fmt.Sprintf("duckdb: no value %T", v))
}

// IsEmpty is true of null, and of an empty text, list and object.
func (Dialect) IsEmpty(of query.Column, column string) string {
	switch of.Type {
	case columnar.TypeText:
		return column + " IS NULL OR " + column + " = ''"
	case columnar.TypeJSON:
		return column + " IS NULL OR CAST(" + column + ` AS VARCHAR) IN ('""', '[]', '{}')`
	}
	return column + " IS NULL"
}

// Match tests a text.
func (Dialect) Match(op feedmill.FilterOp, column, text string, caseSensitive bool) string {
	if !caseSensitive {
		column, text = "lower("+column+")", "lower("+text+")"
	}
	return matchFunctions[op] + "(" + column + ", " + text + ")"
}

var matchFunctions = map[feedmill.FilterOp]string{
	feedmill.OpContains:   "contains",
	feedmill.OpStartsWith: "starts_with",
	feedmill.OpEndsWith:   "ends_with",
	feedmill.OpMatches:    "regexp_matches",
}

// ColumnType is what DuckDB calls the type of a column.
func ColumnType(c *feedmill.Column) string {
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

// Type is what DuckDB calls the type of an expression.
func Type(e query.Expression) string {
	switch e.Aggregate {
	case feedmill.AggregateCount, feedmill.AggregateCountDistinct:
		return "BIGINT"
	case feedmill.AggregateAvg:
		return "DOUBLE"
	case feedmill.AggregateSum:
		switch e.Column.Type {
		case columnar.TypeInteger:
			return "HUGEINT"
		case columnar.TypeDecimal:
			return "DECIMAL(38," + strconv.Itoa(e.Column.Scale) + ")"
		}
	}
	return ColumnType(e.Column.Column)
}

// Package sqlite is the dialect of SQLite. What SQLite lacks are functions that the
// connector registers: their names are the constants here.
package sqlite

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// The functions that a connection must have.
const (
	// Match (op, text, want, caseSensitive) tests a text as package query does.
	Match = "feedmill_match"
	// Micros is the time that a text stands for, in microseconds since 1970, or
	// null. Real is the number that a text stands for.
	Micros = "feedmill_micros"
	Real   = "feedmill_real"
	// Sum adds up whole numbers of any size, as a text that sorts as the sums do,
	// and Average (n, scale) is the average of n divided by ten to the scale.
	Sum     = "feedmill_sum"
	Average = "feedmill_avg"
	// Period (value, calendar) is the start of the period that microseconds or a date are in,
	// and Calendar is the number of a calendar that [FormatCalendar] wrote.
	Period   = "feedmill_period"
	Calendar = "feedmill_calendar"
	// Collation compares by code points in databases that are not UTF-8.
	Collation = "feedmill"
)

// Table is a table of SQLite as statements select from it.
type Table struct {
	query.Standard
	query.Places // which have no schema
	Columns      []Column
	// UTF16 says that texts are not UTF-8 in the file.
	UTF16 bool
	// Uncast reads numbers in columns of texts as they are, as the first rules do. Else they are
	// read as the texts that filters compare.
	Uncast bool
}

// Column is what a column is in the table. Its type is that of the query's column.
type Column struct {
	// As is the alias of its table, empty where nothing is joined.
	As   string
	Name string
	// Mixed says that the values of a text column need not be texts, and Blob that
	// all are bytes, whose text is base64.
	Mixed, Blob bool
}

// CannotCompute is the reason why the database computes no formulas.
func (*Table) CannotCompute(*query.Formulas, int) string {
	return "SQLite stores decimals as floats, and its columns can have values of any type"
}

// From is the table or the statement whose rows it is, as t where nothing is joined.
func (t *Table) From() string { return from(t.Place) }

// Name is a column by its name. A quoted name without its table would be a text
// to SQLite where there is no such column.
func Name(column string) string { return "t." + query.Quote(column) }

// Column is a column as it is compared.
func (t *Table) Column(c query.Column) string {
	of := t.Columns[c.Index]
	name := of.name()
	switch c.Type {
	case columnar.TypeText, columnar.TypeJSON:
		if of.Mixed {
			name = "CAST(" + name + " AS TEXT)"
		}
		return name + t.collate()
	case columnar.TypeTimestamp:
		return Micros + "(" + name + ")"
	case columnar.TypeNumber:
		return "CAST(" + name + " AS REAL)"
	}
	return name
}

// bare is a column as it is read: as it is. The sign keeps the driver from making
// something of it by its declared type.
func (t *Table) bare(c query.Column) string { return "+" + t.Columns[c.Index].name() }

func (t *Table) collate() string {
	if t.UTF16 {
		return " COLLATE " + Collation
	}
	return " COLLATE BINARY"
}

// Fetched is a column as it is read.
func (t *Table) Fetched(c query.Column) string {
	if of := t.Columns[c.Index]; of.Mixed && c.Type == columnar.TypeText && !t.Uncast {
		return "CAST(" + of.name() + " AS TEXT)"
	}
	return t.bare(c)
}

// Key is an expression as it is grouped and sorted by.
func (t *Table) Key(e query.Expression) string {
	sql := t.Column(e.Column)
	if e.Period != nil {
		return t.Period(e.Period, e.Column, sql)
	}
	switch e.Aggregate {
	case "":
		switch e.Column.Type {
		case columnar.TypeBoolean, columnar.TypeDate, columnar.TypeInteger, columnar.TypeDecimal:
			return t.bare(e.Column)
		}
		return sql
	case feedmill.AggregateSum, feedmill.AggregateAvg:
		if e.Column.Type == columnar.TypeNumber {
			return query.NumberSum(e.Aggregate, sql, "9e999") // what is not a number is null to SQLite
		}
		scale := 0
		if e.Column.Type == columnar.TypeDecimal {
			scale = e.Column.Scale
			sql = "CAST(round(" + sql + " * 1e" + strconv.Itoa(scale) + ") AS INTEGER)"
		}
		if e.Aggregate == feedmill.AggregateSum {
			return Sum + "(" + sql + ")"
		}
		return Average + "(" + sql + ", " + strconv.Itoa(scale) + ")"
	}
	return t.Aggregate(e.Aggregate, sql)
}

// SortKey is a column as rows are sorted by, which is as it is compared: nothing of it is
// read, so that it needs no sign, with which no index would be used.
func (t *Table) SortKey(c query.Column) string { return t.Column(c) }

// KeyHidesIndex is false: rows are sorted by what they are compared by.
func (*Table) KeyHidesIndex(query.Column) bool { return false }

// Can is true of all tests but those of bytes, whose text SQLite does not know,
// and of empty JSON.
func (t *Table) Can(p query.Predicate) bool {
	switch p := p.(type) {
	case query.Compare:
		return !t.isBlob(p.Column)
	case query.Match:
		return !t.isBlob(p.Column)
	case query.IsEmpty:
		return p.Column.Type != columnar.TypeJSON
	}
	return true
}

// isBlob reports whether values are bytes.
func (t *Table) isBlob(c query.Column) bool {
	return c.Type == columnar.TypeText && t.Columns[c.Index].Blob
}

// SortsNulls is true of SQLite.
func (*Table) SortsNulls() bool { return true }

// Compare compares values of the column's type.
func (t *Table) Compare(p query.Compare, column string, bind func(string) string) string {
	if p.Column.Derived != nil && p.Column.Type == columnar.TypeText {
		column += t.collate() // an aggregate has no collation
	}
	return column + " " + string(p.Comparison) + " " + t.Value(p.Column, p.Value, bind)
}

// Placeholder is a numbered parameter.
func (*Table) Placeholder(n int) string { return "?" + strconv.Itoa(n) }

// Value makes a value of the column's type.
func (t *Table) Value(of query.Column, v query.Value, bind func(string) string) string {
	switch v := v.(type) {
	case string:
		return bind(v)
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		return Real + "(" + bind(strconv.FormatFloat(v, 'g', -1, 64)) + ")"
	case *big.Rat:
		if of.Type == columnar.TypeInteger {
			return "CAST(" + bind(v.FloatString(0)) + " AS INTEGER)"
		}
		if of.Derived != nil && of.Derived.Aggregate == feedmill.AggregateSum {
			scaled := new(big.Rat).Mul(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Scale)), nil)))
			return bind(FormatSum(scaled.Num())) // the resolver has rounded it to the digits of the sum
		}
		return Real + "(" + bind(query.DecimalText(v)) + ")"
	case time.Time:
		if of.Type == columnar.TypeDate {
			return bind(v.Format(time.DateOnly))
		}
		return "CAST(" + bind(strconv.FormatInt(v.UnixMicro(), 10)) + " AS INTEGER)"
	}
	panic(fmt.Sprintf("sqlite: no value %T", v))
}

// IsEmpty is true of null and of an empty text.
func (t *Table) IsEmpty(of query.Column, column string) string {
	if t.isBlob(of) { // no blob is equal to a text
		return column + " IS NULL OR length(" + column + ") = 0"
	}
	if of.Type == columnar.TypeText {
		return column + " IS NULL OR " + column + " = ''"
	}
	return column + " IS NULL"
}

// Match tests a text.
func (*Table) Match(op feedmill.FilterOp, column, text string, caseSensitive bool) string {
	sensitive := "0"
	if caseSensitive {
		sensitive = "1"
	}
	return Match + "('" + string(op) + "', " + column + ", " + text + ", " + sensitive + ")"
}

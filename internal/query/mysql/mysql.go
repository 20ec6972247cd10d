// Package mysql is the dialect of MySQL and MariaDB.
package mysql

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Table is a table of MySQL as statements select from it.
type Table struct {
	query.Standard
	query.Places
	Columns []Column
}

// Column is what a column is in the table.
type Column struct {
	// As is the alias of its table, empty where nothing is joined.
	As   string
	Name string
	Kind Kind
	// Indexed says that an index begins with it.
	Indexed bool
	// Charset and Collation are those of a Text, empty for other kinds.
	Charset, Collation string
	// SQL is the expression of a computed field.
	SQL string
}

// Kind is how a type is compared and read.
type Kind int

// The kinds of types.
const (
	// Text is text in any character set. Cast is a type that is read as text, Bytes
	// is one whose text is base64, and Geometry one whose text is WKT.
	Text Kind = iota
	Cast
	Bytes
	Geometry
	Integer
	Boolean // any number, of which 0 is false
	Bits    // a number as bytes
	Float
	Real // a float of 4 bytes, by its shortest decimal; see [query.Single]
	Decimal
	// LongDecimal is one of more digits than a column has.
	LongDecimal
	Date
	Datetime
	JSON
)

// Quote quotes a name.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// From is the table with its schema, or the statement whose rows it is.
func (t *Table) From() string { return from(t.Place) }

// Column is a column as it is compared: texts as their bytes in UTF-8, whose order
// is that of the code points and in which spaces at the end count.
func (t *Table) Column(c query.Column) string {
	if sql := t.Columns[c.Index].SQL; sql != "" {
		return sql
	}
	name := t.Columns[c.Index].name()
	switch t.Columns[c.Index].Kind {
	case Text, JSON:
		return "CAST(CONVERT(" + name + " USING utf8mb4) AS BINARY)"
	case Cast:
		return "CAST(CONVERT(CAST(" + name + " AS CHAR) USING utf8mb4) AS BINARY)"
	case Bytes:
		return "CAST(REPLACE(TO_BASE64(" + name + "), CHAR(10), '') AS BINARY)"
	case Geometry:
		return "CAST(ST_AsText(" + name + ") AS BINARY)"
	case Boolean:
		return "(" + name + " <> 0)"
	case Bits:
		return "(" + name + " + 0)"
	case Float, Real:
		return "(" + name + " + 0e0)"
	}
	return name
}

// Fetched is a column as it is read.
func (t *Table) Fetched(c query.Column) string {
	switch t.Columns[c.Index].Kind {
	case Cast, Geometry, Bits:
		return t.Column(c)
	}
	if sql := t.Columns[c.Index].SQL; sql != "" {
		return sql
	}
	return t.Columns[c.Index].name()
}

// Key is an expression as it is grouped and sorted by.
func (t *Table) Key(e query.Expression) string {
	sql := t.Column(e.Column)
	if e.Period != nil {
		return t.Period(e.Period, e.Column, sql)
	}
	switch t.Columns[e.Column.Index].Kind {
	case Date, Datetime:
		sql = "CASE WHEN " + valid(sql) + " THEN " + sql + " END"
	}
	switch {
	case e.Aggregate == "":
		return sql
	case e.CanOverflow() && e.Column.Type == columnar.TypeNumber:
		return query.NumberSum(e.Aggregate, sql, "sum("+sql+")")
	}
	return t.Aggregate(e.Aggregate, sql)
}

// column returns what a column is. A least or greatest value is of the kind of its column, but
// no index serves it.
func (t *Table) column(c query.Column) Column {
	of := t.Columns[c.Index]
	if c.Derived == nil {
		return of
	}
	switch c.Derived.Aggregate {
	case feedmill.AggregateMin, feedmill.AggregateMax:
		return Column{Kind: of.Kind}
	case feedmill.AggregateAvg:
		return Column{Kind: Float}
	case feedmill.AggregateSum:
		switch {
		case c.Type == columnar.TypeNumber:
			return Column{Kind: Float}
		case of.Kind == LongDecimal:
			return Column{Kind: LongDecimal}
		}
		return Column{Kind: Decimal}
	}
	return Column{Kind: Integer}
}

// isTime reports whether a column can have days that no calendar has. Derived values are valid.
func (t *Table) isTime(c query.Column) bool {
	kind := t.Columns[c.Index].Kind
	return c.Derived == nil && (kind == Date || kind == Datetime)
}

// valid is true of the days that a calendar has: there can be others, such as
// 2024-00-00.
func valid(column string) string {
	return column + " >= '0001-01-01' AND DAYOFMONTH(" + column + ") BETWEEN 1 AND DAYOFMONTH(LAST_DAY(" + column + "))"
}

// Can is true of all tests but patterns, which are not RE2's, those of empty JSON,
// and of numbers that MySQL would cut.
func (t *Table) Can(p query.Predicate) bool {
	switch p := p.(type) {
	case query.Match:
		return p.Op != feedmill.OpMatches && (p.CaseSensitive || t.Columns[p.Column.Index].Kind != Bytes)
	case query.IsEmpty:
		return p.Column.Type != columnar.TypeJSON
	case query.Compare:
		return t.column(p.Column).Kind != LongDecimal
	}
	return true
}

// Placeholder is the parameter of a prepared statement.
func (*Table) Placeholder(int) string { return "?" }

// Value makes a value of the column's type.
func (t *Table) Value(of query.Column, v query.Value, bind func(string) string) string {
	switch v := v.(type) {
	case string:
		return "CAST(" + bind(v) + " AS BINARY)"
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case float64:
		return "CAST(" + bind(strconv.FormatFloat(v, 'g', -1, 64)) + " AS DOUBLE)"
	case *big.Rat:
		if of.Type == columnar.TypeInteger {
			return "CAST(" + bind(v.FloatString(0)) + " AS SIGNED)"
		}
		return "CAST(" + bind(v.FloatString(of.Scale)) + " AS DECIMAL(65," + strconv.Itoa(of.Scale) + "))"
	case time.Time:
		if of.Type == columnar.TypeDate {
			return "CAST(" + bind(v.Format(time.DateOnly)) + " AS DATE)"
		}
		return "CAST(" + bind(v.UTC().Format("2006-01-02 15:04:05.000000")) + " AS DATETIME(6))"
	}
	panic(fmt.Sprintf("mysql: no value %T", v))
}

// Compare does not let days pass that are null once they are read. A test for equal
// texts also has the condition of the column itself, which is true of more rows and
// which an index serves.
func (t *Table) Compare(p query.Compare, column string, bind func(string) string) string {
	of := t.column(p.Column)
	if of.Kind == Real {
		var possible bool
		if p, possible = p.OfSingles(); !possible {
			return "FALSE"
		}
	}
	if n, ok := p.Value.(float64); ok && math.IsInf(n, 0) {
		return beyond(p.Comparison, n > 0, column)
	}
	sql := column + " " + string(p.Comparison) + " " + t.Value(p.Column, p.Value, bind)
	switch {
	case t.isTime(p.Column):
		sql += " AND " + valid(column)
	case p.Comparison == query.Equal && of.convertible():
		sql += " AND " + of.name() + " = CONVERT(" + bind(p.Value.(string)) + " USING " + of.Charset + ") COLLATE " + of.Collation
	}
	return sql
}

// beyond compares with a number that is above or below all that MySQL has: it knows no infinite one.
func beyond(c query.Comparison, above bool, column string) string {
	less := c == query.Less || c == query.LessOrEqual
	if c != query.Equal && less == above {
		return column + " IS NOT NULL"
	}
	return "FALSE"
}

// convertible reports whether each text of the column comes back as it was when it is
// converted to utf8mb4 and back. In other character sets one character can have two codes.
func (c *Column) convertible() bool {
	switch c.Charset {
	case "ascii", "latin1", "utf8", "utf8mb3", "utf8mb4":
		return collationName.MatchString(c.Collation)
	}
	return false
}

// collationName is what a collation is called.
var collationName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// KeyHidesIndex is true of indexed days and times, as there can be invalid ones.
func (t *Table) KeyHidesIndex(c query.Column) bool {
	of := &t.Columns[c.Index]
	return of.Indexed && (of.Kind == Date || of.Kind == Datetime)
}

// IsNull is true of what is null once it is read.
func (t *Table) IsNull(of query.Column, column string) string {
	if t.isTime(of) {
		return "(" + valid(column) + ") IS NOT TRUE"
	}
	return column + " IS NULL"
}

// NotNull is true of what is not null once it is read.
func (t *Table) NotNull(of query.Column, column string) string {
	if t.isTime(of) {
		return valid(column)
	}
	return column + " IS NOT NULL"
}

// IsEmpty is true of null and of an empty text.
func (t *Table) IsEmpty(of query.Column, column string) string {
	if of.Type == columnar.TypeText {
		return column + " IS NULL OR " + column + " = ''"
	}
	return t.IsNull(of, column)
}

// MatchText is a pattern: of LIKE, or, where case does not matter, a regular
// expression that names every form of a letter. It has no repetitions, so that
// neither of the two libraries can give up on it.
func (*Table) MatchText(m query.Match) string {
	if m.CaseSensitive {
		text := strings.NewReplacer("|", "||", "%", "|%", "_", "|_").Replace(m.Text)
		switch m.Op {
		case feedmill.OpStartsWith:
			return text + "%"
		case feedmill.OpEndsWith:
			return "%" + text
		}
		return "%" + text + "%"
	}
	var pattern strings.Builder
	if m.Op == feedmill.OpStartsWith || m.Text == "" {
		pattern.WriteString(`\A`)
	}
	for _, forms := range query.Folded(m.Text) {
		pattern.WriteByte('[')
		for _, r := range forms {
			fmt.Fprintf(&pattern, `\x{%x}`, r)
		}
		pattern.WriteByte(']')
	}
	if m.Op == feedmill.OpEndsWith && m.Text != "" {
		pattern.WriteString(`\z`)
	}
	return pattern.String()
}

// Match tests a text.
func (*Table) Match(_ feedmill.FilterOp, column, text string, caseSensitive bool) string {
	if caseSensitive {
		return column + " LIKE CAST(" + text + " AS BINARY) ESCAPE '|'"
	}
	return "CONVERT(" + column + " USING utf8mb4) COLLATE utf8mb4_bin REGEXP " + text
}

// Aggregate calls the function of an aggregate. An average is a number.
func (*Table) Aggregate(fn feedmill.Aggregate, column string) string {
	switch fn {
	case feedmill.AggregateCountDistinct:
		return "COUNT(DISTINCT " + column + ")"
	case feedmill.AggregateAvg:
		return "CAST(SUM(" + column + ") AS DOUBLE) / COUNT(" + column + ")"
	}
	return string(fn) + "(" + column + ")"
}

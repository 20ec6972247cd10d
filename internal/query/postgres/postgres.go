// Package postgres is the dialect of PostgreSQL.
package postgres

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Table is a table of PostgreSQL as statements select from it.
type Table struct {
	query.Standard
	query.Places
	// Columns are what the columns of the query are in the table.
	Columns []Column
	// Infinity says that the server knows infinite numerics.
	Infinity bool
	// UTF8 says that the database holds Unicode, so that patterns can name any
	// character.
	UTF8 bool
	// bound are the values of the first parameters, which computed fields need.
	bound []string
}

// Column is what a column is in the table.
type Column struct {
	// As is the alias of its table, empty where nothing is joined.
	As   string
	Name string
	Kind Kind
	// Loose says that texts which differ can be equal by its collation.
	Loose bool
	// Collation is the object id of its collation, 0 for none, and OID says that it is an
	// object id itself.
	Collation uint32
	OID       bool
	// Indexed says that an index begins with it.
	Indexed bool
	// Equal is how an index finds the values of a Cast that are equal to a text.
	Equal Equality
	// Labels are the values of an enum.
	Labels []string
	// SQL is the expression of a computed field.
	SQL string
}

// Equality is how a type that is read as text tests for equal values.
type Equality int

// The equalities.
const (
	// EqualText tests the text only.
	EqualText Equality = iota
	// EqualUUID and EqualEnum test the value, which has one text.
	EqualUUID
	EqualEnum
	// EqualPadded and EqualAnyCase are true of more values than the text is: those
	// with other spaces at the end, and those with another case.
	EqualPadded
	EqualAnyCase
)

// Kind is how a type is compared and read.
type Kind int

// The kinds of types.
const (
	// Text is text of every length. Cast is a type that is read as text, Bytes is
	// one whose text is base64.
	Text Kind = iota
	Cast
	Bytes
	Boolean
	Integer
	Float
	Real // a float of 4 bytes, by its shortest decimal; see [query.Single]
	Numeric
	Date
	Timestamp   // without a time zone, taken for UTC
	TimestampTZ // a point in time
	// JSON is text that is JSON, and ToJSON is a type that is made JSON of.
	JSON
	ToJSON
)

// From is the table with its schema, or the statement whose rows it is.
func (t *Table) From() string { return from(t.Place) }

// Column is a column as it is compared.
func (t *Table) Column(c query.Column) string {
	of := t.Columns[c.Index]
	if of.SQL != "" {
		return of.SQL
	}
	name := of.name()
	switch of.Kind {
	case Cast, JSON:
		return "CAST(" + name + " AS text)"
	case Bytes:
		return "translate(encode(" + name + ", 'base64'), chr(10), '')"
	case ToJSON:
		return "CAST(to_json(" + name + ") AS text)"
	}
	return name
}

// Fetched is a column as it is read.
func (t *Table) Fetched(c query.Column) string {
	if t.Columns[c.Index].Kind == Float {
		return "CAST(" + t.Column(c) + " AS float8)"
	}
	return t.Column(c)
}

// Key is an expression as it is grouped and sorted by.
func (t *Table) Key(e query.Expression) string {
	sql := t.Column(e.Column)
	if e.Period != nil {
		return t.Period(e.Period, e.Column, sql)
	}
	switch kind := t.Columns[e.Column.Index].Kind; kind {
	case Text, Cast, Bytes, JSON, ToJSON:
		sql += ` COLLATE "C"`
	case Float:
		sql = "CAST(" + sql + " AS float8)"
	case Real:
		if e.CanOverflow() {
			sql = "CAST(CAST(" + sql + " AS text) AS float8)"
		}
	case Numeric, Date, Timestamp, TimestampTZ:
		sql = t.bounds(kind).Key(sql)
	case Boolean:
		switch e.Aggregate {
		case feedmill.AggregateMin:
			return "bool_and(" + sql + ")"
		case feedmill.AggregateMax:
			return "bool_or(" + sql + ")"
		}
	}
	switch {
	case e.Aggregate == "":
		return sql
	case e.CanOverflow():
		return overflowing(e, sql)
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
		if c.Type == columnar.TypeNumber {
			return Column{Kind: Float}
		}
		return Column{Kind: Numeric}
	}
	return Column{Kind: Integer}
}

// Can is true of everything but patterns, which are not RE2's, and of letters
// that the database has no names for.
func (t *Table) Can(p query.Predicate) bool {
	switch p := p.(type) {
	case query.Match:
		return p.Op != feedmill.OpMatches && (t.UTF8 || p.CaseSensitive && isASCII(p.Text))
	case query.Compare:
		// A parameter that the database's encoding has no characters for is an error.
		text, ok := p.Value.(string)
		return !ok || t.UTF8 || isASCII(text)
	}
	return true
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// NoNUL is true of the texts of PostgreSQL.
func (*Table) NoNUL() bool { return true }

// SortsNulls is true of PostgreSQL.
func (*Table) SortsNulls() bool { return true }

// Placeholder is the parameter of a prepared statement.
func (*Table) Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// micros is how a time is written.
const micros = "2006-01-02 15:04:05.000000"

// Value makes a value of the column's type.
func (t *Table) Value(of query.Column, v query.Value, bind func(string) string) string {
	switch v := v.(type) {
	case string:
		return "CAST(" + bind(v) + " AS text)"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return "CAST(" + bind(strconv.FormatFloat(v, 'g', -1, 64)) + " AS float8)"
	case *big.Rat:
		if of.Type == columnar.TypeInteger {
			return "CAST(" + bind(v.FloatString(0)) + " AS int8)"
		}
		return "CAST(" + bind(query.DecimalText(v)) + " AS numeric)"
	case time.Time:
		switch t.column(of).Kind {
		case Date:
			return "CAST(" + bind(v.Format(time.DateOnly)) + " AS date)"
		case Timestamp:
			return "CAST(" + bind(v.UTC().Format(micros)) + " AS timestamp)"
		}
		return "CAST(" + bind(v.UTC().Format(micros+"Z")) + " AS timestamptz)"
	}
	panic(fmt.Sprintf("postgres: no value %T", v))
}

// bounds are those of the values that a column can hold.
func (t *Table) bounds(k Kind) query.Bounds {
	switch k {
	case Numeric:
		if !t.Infinity {
			return query.Bounds{High: "< CAST('NaN' AS numeric)"}
		}
		return query.Bounds{Low: "> CAST('-Infinity' AS numeric)", High: "< CAST('Infinity' AS numeric)"}
	case Date:
		return query.Bounds{Low: ">= DATE '0001-01-01'", High: "< DATE '10000-01-01'"}
	case Timestamp:
		return query.Bounds{Low: ">= TIMESTAMP '0001-01-01 00:00:00'", High: "< TIMESTAMP '10000-01-01 00:00:00'"}
	case TimestampTZ:
		return query.Bounds{Low: ">= TIMESTAMPTZ '0001-01-01 00:00:00Z'", High: "< TIMESTAMPTZ '10000-01-01 00:00:00Z'"}
	}
	return query.Bounds{}
}

// boundsOf returns the bounds of a column. Derived values are within them.
func (t *Table) boundsOf(c query.Column) query.Bounds {
	if c.Derived != nil {
		return query.Bounds{}
	}
	return t.bounds(t.Columns[c.Index].Kind)
}

// complements are comparisons with which exactly the other values pass.
var complements = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// outside is what bounds do not let pass.
func (t *Table) outside(c query.Column) (all []string) {
	b := t.boundsOf(c)
	for _, bound := range []string{b.Low, b.High} {
		if comparison, value, ok := strings.Cut(bound, " "); ok {
			all = append(all, complements[comparison]+" "+value)
		}
	}
	return all
}

// Compare compares in the order of code points, and does not let values pass that
// are null once they are read.
func (t *Table) Compare(p query.Compare, column string, bind func(string) string) string {
	c := t.column(p.Column)
	switch c.Kind {
	case Real:
		var possible bool
		if p, possible = p.OfSingles(); !possible {
			return "FALSE"
		}
	case Text, Cast, Bytes:
		if p.Comparison == query.Equal {
			return c.equal(column, p.Value.(string), bind)
		}
		return column + " " + string(p.Comparison) + " " + t.Value(p.Column, p.Value, bind) + ` COLLATE "C"`
	}
	sql := column + " " + string(p.Comparison) + " " + t.Value(p.Column, p.Value, bind)
	return t.boundsOf(p.Column).Keep(p.Comparison, column, sql)
}

// IsNull is true of what is null once it is read, in words that an index serves.
func (t *Table) IsNull(of query.Column, column string) string {
	sql := column + " IS NULL"
	for _, bound := range t.outside(of) {
		sql += " OR " + column + " " + bound
	}
	return sql
}

// NotNull is true of what is not null once it is read.
func (t *Table) NotNull(of query.Column, column string) string {
	return t.boundsOf(of).Inside(column)
}

// KeyHidesIndex is true of indexed columns whose types have infinite values.
func (t *Table) KeyHidesIndex(c query.Column) bool {
	of := &t.Columns[c.Index]
	return of.Indexed && t.bounds(of.Kind).High != ""
}

// IsEmpty is true of null, and of an empty text, list and object.
func (t *Table) IsEmpty(of query.Column, column string) string {
	switch of.Type {
	case columnar.TypeText:
		return column + " IS NULL OR " + column + ` = '' COLLATE "C"`
	case columnar.TypeJSON:
		return column + " IS NULL OR " + column + ` ~ '^\s*(""|\[\s*\]|\{\s*\})\s*$'`
	}
	return t.IsNull(of, column)
}

// MatchText is a pattern that names every form of a letter, where case does not
// matter; what lower() makes of a text depends on the database.
func (*Table) MatchText(m query.Match) string {
	if m.CaseSensitive {
		return m.Text
	}
	var pattern strings.Builder
	if m.Op == feedmill.OpStartsWith {
		pattern.WriteByte('^')
	}
	for _, forms := range query.Folded(m.Text) {
		pattern.WriteByte('[')
		for _, r := range forms {
			fmt.Fprintf(&pattern, `\U%08X`, r)
		}
		pattern.WriteByte(']')
	}
	if m.Op == feedmill.OpEndsWith {
		pattern.WriteByte('$')
	}
	return pattern.String()
}

// Match tests a text.
func (*Table) Match(op feedmill.FilterOp, column, text string, caseSensitive bool) string {
	column += ` COLLATE "C"`
	text = "CAST(" + text + " AS text)"
	switch {
	case !caseSensitive:
		return column + " ~ " + text
	case op == feedmill.OpContains:
		return "strpos(" + column + ", " + text + ") > 0"
	case op == feedmill.OpStartsWith:
		return "left(" + column + ", char_length(" + text + ")) = " + text
	}
	return "right(" + column + ", char_length(" + text + ")) = " + text
}

// Aggregate calls the function of an aggregate. An average is a number, and
// every sum has all its digits.
func (t *Table) Aggregate(fn feedmill.Aggregate, column string) string {
	if fn == feedmill.AggregateAvg {
		return "CAST(sum(" + column + ") AS float8) / count(" + column + ")"
	}
	return t.Standard.Aggregate(fn, column)
}

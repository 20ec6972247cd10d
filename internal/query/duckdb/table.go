package duckdb

import (
	"math/big"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Table is a table or view of a file as statements select from it.
type Table struct {
	Dialect
	query.Places
	// bound are the values of the first parameters, which computed fields need.
	bound []string
	// Columns are what the columns of the query are in the table.
	Columns []Column
}

// Column is what a column is in the table.
type Column struct {
	// As is the alias of its table, empty where nothing is joined.
	As   string
	Name string
	Kind Kind
	// SQL is the expression of a computed field.
	SQL string
}

// Kind is how a type is compared and read.
type Kind int

// The kinds of types.
const (
	// Text is text of every length. Cast is a type that is read as text, and Bytes is
	// one whose text is base64.
	Text Kind = iota
	Cast
	Bytes
	Boolean
	Integer
	Huge // whole numbers of 128 bits
	// UnsignedHuge are whole numbers of 128 bits without a sign, which are read as text.
	UnsignedHuge
	Unsigned // whole numbers without a sign that are read as decimals
	Decimal
	Float
	Real // a float of 4 bytes, by its shortest decimal; see [query.Single]
	Date
	Timestamp   // of microseconds and without a time zone, taken for UTC
	OtherTime   // of other units
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
	case Text:
		return name + ` COLLATE "C"` // whatever the column is declared with
	case Cast, JSON:
		return "CAST(" + name + " AS VARCHAR)"
	case Bytes:
		return "to_base64(" + name + ")"
	case ToJSON:
		return "CAST(to_json(" + name + ") AS VARCHAR)"
	case Unsigned, OtherTime:
		return "CAST(" + name + " AS " + t.typeOf(c) + ")"
	}
	return name
}

// typeOf is the type that a column is read as.
func (t *Table) typeOf(c query.Column) string {
	switch t.Columns[c.Index].Kind {
	case Timestamp, OtherTime:
		return "TIMESTAMP"
	case JSON, ToJSON:
		return "VARCHAR"
	}
	return ColumnType(c.Column)
}

// Fetched is a column as it is read.
func (t *Table) Fetched(c query.Column) string {
	if sql := t.Columns[c.Index].SQL; sql != "" {
		return sql
	}
	switch t.Columns[c.Index].Kind {
	case UnsignedHuge:
		return "CAST(" + t.Columns[c.Index].name() + " AS VARCHAR)"
	case Integer, Float, Real:
		return "CAST(" + t.Columns[c.Index].name() + " AS " + t.typeOf(c) + ")"
	}
	return t.Column(c)
}

// Key is an expression as it is grouped and sorted by.
func (t *Table) Key(e query.Expression) string {
	sql := t.Fetched(e.Column)
	if e.Period != nil {
		return t.Period(e.Period, e.Column, t.Column(e.Column))
	}
	switch {
	case t.IsHugeSum(e):
		return hugeSum(t.Column(e.Column))
	case t.isHuge(e) && e.Aggregate == feedmill.AggregateAvg:
		sql = "CAST(" + t.Column(e.Column) + " AS DOUBLE)"
	case t.Columns[e.Column.Index].Kind == UnsignedHuge:
		sql = unsignedHugeKey(t.Column(e.Column))
	}
	sql = bounds[t.Columns[e.Column.Index].Kind].Key(sql)
	switch {
	case e.Aggregate == "":
		return sql
	case e.CanOverflow() && e.Column.Type == columnar.TypeNumber:
		return query.NumberSum(e.Aggregate, sql, "sum("+sql+")")
	}
	return Checked(e, t.Aggregate(e.Aggregate, sql))
}

// Period is the start of a period.
func (t *Table) Period(c *query.Calendar, of query.Column, column string) string {
	function := "make_timestamptz"
	if kind := t.Columns[of.Index].Kind; kind == Timestamp || kind == OtherTime {
		function = "make_timestamp"
	}
	return t.period(c, of, column, function)
}

// unsignedHugeKey is what is grouped and sorted by: the digits, with zeros before them, which are in the
// order of the numbers.
func unsignedHugeKey(column string) string {
	return "lpad(CAST(" + column + " AS VARCHAR), 39, '0')"
}

// KeyHidesIndex is false: DuckDB has no indexes that serve an order.
func (*Table) KeyHidesIndex(query.Column) bool { return false }

// SortsNulls is true of DuckDB.
func (*Table) SortsNulls() bool { return true }

// kind returns how a column is compared. A least or greatest value is of the kind of its column.
func (t *Table) kind(c query.Column) Kind {
	of := t.Columns[c.Index].Kind
	if c.Derived == nil {
		return of
	}
	switch c.Derived.Aggregate {
	case feedmill.AggregateMin, feedmill.AggregateMax:
		return of
	case feedmill.AggregateAvg:
		return Float
	case feedmill.AggregateSum:
		if c.Type == columnar.TypeNumber {
			return Float
		}
		return Decimal
	}
	return Integer
}

// boundsOf returns the bounds of a column. Derived values are within them.
func (t *Table) boundsOf(c query.Column) (b query.Bounds, ok bool) {
	if c.Derived == nil {
		b, ok = bounds[t.Columns[c.Index].Kind]
	}
	return b, ok
}

// Can is true of everything but aggregates that are sent as texts.
func (t *Table) Can(p query.Predicate) bool {
	if c, ok := p.(query.Compare); ok && c.Column.Derived != nil {
		return t.kind(c.Column) != UnsignedHuge && !t.IsHugeSum(*c.Column.Derived)
	}
	return true
}

// Value makes a value of the column's type. A time is bound as a number, which no
// setting of the database reads in another time zone.
func (t *Table) Value(of query.Column, v query.Value, bind func(string) string) string {
	switch v := v.(type) {
	case time.Time:
		switch t.kind(of) {
		case Timestamp, OtherTime:
			return "make_timestamp(CAST(" + bind(strconv.FormatInt(v.UnixMicro(), 10)) + " AS BIGINT))"
		}
	case *big.Rat:
		switch t.kind(of) {
		case Unsigned:
			return "CAST(" + bind(v.FloatString(0)) + " AS DECIMAL(38,0))"
		case Huge:
			return "CAST(" + bind(v.FloatString(0)) + " AS HUGEINT)"
		case UnsignedHuge:
			return "CAST(" + bind(v.FloatString(0)) + " AS UHUGEINT)"
		}
	}
	return t.Dialect.Value(of, v, bind)
}

var timestampBounds = query.Bounds{Low: ">= TIMESTAMP '0001-01-01 00:00:00'", High: "< TIMESTAMP '10000-01-01 00:00:00'"}

// bounds are those of the values that a column of a kind can hold.
var bounds = map[Kind]query.Bounds{
	Date:        {Low: ">= DATE '0001-01-01'", High: "< DATE '10000-01-01'"},
	Timestamp:   timestampBounds,
	OtherTime:   timestampBounds,
	TimestampTZ: {Low: ">= make_timestamptz(-62135596800000000)", High: "< make_timestamptz(253402300800000000)"},
}

// Compare does not let values pass that are null once they are read.
func (t *Table) Compare(p query.Compare, column string, bind func(string) string) string {
	if r, ok := hugeRanges[t.kind(p.Column)]; ok {
		if sql, ok := r.beyond(p, column); ok {
			return sql
		}
	}
	if t.kind(p.Column) == Real {
		var possible bool
		if p, possible = p.OfSingles(); !possible {
			return "FALSE"
		}
	}
	sql := column + " " + string(p.Comparison) + " " + t.Value(p.Column, p.Value, bind)
	b, _ := t.boundsOf(p.Column)
	return b.Keep(p.Comparison, column, sql)
}

// hugeRange is the least and the greatest value of a type.
type hugeRange struct{ least, most *big.Rat }

var hugeRanges = map[Kind]hugeRange{
	Huge:         {new(big.Rat).Neg(powerOfTwo(127, 0)), powerOfTwo(127, 1)},
	UnsignedHuge: {new(big.Rat), powerOfTwo(128, 1)},
}

// powerOfTwo is two to the power of n, less something.
func powerOfTwo(n uint, less int64) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), n)
	return new(big.Rat).SetInt(power.Sub(power, big.NewInt(less)))
}

// beyond compares with a number that is out of the range.
func (r hugeRange) beyond(p query.Compare, column string) (sql string, ok bool) {
	n, ok := p.Value.(*big.Rat)
	if !ok || n.Cmp(r.least) >= 0 && n.Cmp(r.most) <= 0 {
		return "", false
	}
	above := n.Cmp(r.most) > 0
	switch p.Comparison {
	case query.Less, query.LessOrEqual:
		ok = above
	case query.Greater, query.GreaterOrEqual:
		ok = !above
	default:
		ok = false
	}
	if ok {
		return column + " IS NOT NULL", true
	}
	return column + " IS NULL AND FALSE", true
}

// IsNull is true of what is null once it is read.
func (t *Table) IsNull(of query.Column, column string) string {
	b, ok := t.boundsOf(of)
	if !ok {
		return column + " IS NULL"
	}
	return "(" + b.Inside(column) + ") IS NOT TRUE"
}

// NotNull is true of what is not null once it is read.
func (t *Table) NotNull(of query.Column, column string) string {
	b, _ := t.boundsOf(of)
	return b.Inside(column)
}

// IsEmpty is true of null, and of an empty text, list and object.
func (t *Table) IsEmpty(of query.Column, column string) string {
	switch of.Type {
	case columnar.TypeText:
		return column + " IS NULL OR " + column + " = ''"
	case columnar.TypeJSON:
		return column + " IS NULL OR regexp_full_match(" + column + `, '\s*(""|\[\s*\]|\{\s*\})\s*')`
	}
	return t.IsNull(of, column)
}

package query

import (
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Tree is a query that fits the columns of a table.
type Tree struct {
	// Joins are the joined views.
	Joins []Join
	// Formulas are the computed fields. Columns can be theirs.
	Formulas Formulas
	Outputs  []Output
	// Where has what must hold for a row, all of it.
	Where All
	// Having is what must hold for a group. Its columns are derived.
	Having All
	Sort   []Key
	// Limit is how many rows are wanted at most; zero means all. Offset is how many rows
	// are skipped first.
	Limit, Offset int64
	// Filters are those that Where and Having were built from, in their order.
	Filters []Placed
	// Bounds are the times that relative dates and days came to.
	Bounds []Bound
	// Latest is the column whose greatest value is to be told, nil for none.
	Latest *Column
	// Ahead is the time after which a value of Latest is not taken for the greatest,
	// zero where Latest is not a time.
	Ahead time.Time
	// Since is the least value of Latest that is asked for, nil where all are.
	Since *Compare
	// MostNulls is how many rows without a value of Latest are wanted; zero means all,
	// and a negative number none.
	MostNulls int64
	// Open says what becomes of decimals whose digits nothing bounds.
	Open OpenDecimals
	// Infinite keeps sums and averages that are beyond the range of a number as infinite
	// numbers, as the first rules do. Else they are null.
	Infinite bool
}

// OpenDecimals says what the outputs are whose values can have more digits than a decimal:
// decimals while they fit, else numbers where every value survives the conversion, and
// else text with all digits.
type OpenDecimals struct {
	// Lossy makes numbers of values that do not survive, as the first rules do.
	Lossy bool
	// Exact are the places in the table of columns that must not become numbers.
	Exact []int
	// Stored are the types that outputs have in the feed that the rows are for, by
	// their names.
	Stored map[string]columnar.Type
}

// IsOpen reports whether a column is a decimal whose digits nothing bounds, or not to those
// that a decimal has.
func IsOpen(c *feedmill.Column) bool {
	return c.Type == columnar.TypeDecimal && (c.Precision == 0 || c.Precision > columnar.WideDigits)
}

// Placed is a filter and the place in Where of the test that it is a part of. The column of
// a filter of Having is derived.
type Placed struct {
	Column   Column
	Op       feedmill.FilterOp
	Inverted bool
	Test     int
}

// Grouped reports whether a row of the result stands for a group of rows: those
// that are equal in the outputs without an aggregate.
func (t *Tree) Grouped() bool {
	return len(t.Having) > 0 || slices.ContainsFunc(t.Outputs, func(o Output) bool { return o.Aggregate != "" || o.Period != nil })
}

// Tested returns the expressions that Having tests, each once.
func (t *Tree) Tested() (all []Expression) {
	for _, c := range columnsOf(t.Having) {
		all = append(all, *c.Derived)
	}
	return all
}

// Column is a column of the table, or an expression of it.
type Column struct {
	*feedmill.Column
	// Index is its place in the table. The columns of joined views follow those of the first.
	Index int
	// From is the alias of its view, empty for the first view.
	From string
	// Derived is the expression that the values are, nil for the column itself.
	Derived *Expression
}

// Of returns the expression that the values of a column are.
func (c Column) Of() Expression {
	if c.Derived != nil {
		return *c.Derived
	}
	return Expression{Column: c}
}

// Derive returns the values of an expression as a column.
func Derive(e Expression) Column {
	typed := e.Type()
	typed.Name = e.Column.Name
	return Column{Column: &typed, Index: e.Column.Index, From: e.Column.From, Derived: &e}
}

// Expression is a column, an aggregate of it, or the start of the period that its value is in.
type Expression struct {
	Column Column
	// Aggregate is empty where it is the column itself.
	Aggregate feedmill.Aggregate
	// Period is nil where it is not a period.
	Period *Calendar
}

// Same reports whether two expressions have the same values.
func (e Expression) Same(other Expression) bool {
	return e.Column.Index == other.Column.Index && e.Aggregate == other.Aggregate && (e.Period == nil) == (other.Period == nil)
}

// Output is a column of the result.
type Output struct {
	Expression
	// Name is what it is called in the result.
	Name string
}

// Key is something to sort by. Nulls come last either way.
type Key struct {
	Expression
	Descending bool
}

// Predicate is a test of a row: [All], [Any], [Not], [IsNull], [IsEmpty],
// [Compare], [Range] or [Match]. As in SQL its outcome can be unknown, where a
// value is null; only the rows for which it is true pass.
type Predicate interface{ predicate() }

type (
	// All is true where all of its parts are.
	All []Predicate

	// Any is true where one of its parts is, and so an empty one never is.
	Any []Predicate

	// Not is the exact complement: true where the predicate is false or
	// unknown, and false where it is true.
	Not struct{ Predicate Predicate }

	// IsNull is true where there is no value.
	IsNull struct{ Column Column }

	// IsEmpty is true where there is no value, and for a text, list or object
	// with nothing in it.
	IsEmpty struct{ Column Column }

	// Compare compares a column with a value.
	Compare struct {
		Column     Column
		Comparison Comparison
		Value      Value
	}

	// Range is true for times in [From, To). The column is one of dates or of
	// timestamps.
	Range struct {
		Column   Column
		From, To time.Time
	}

	// Match tests a text.
	Match struct {
		Column Column
		// Op is contains, startsWith, endsWith or matches.
		Op            feedmill.FilterOp
		Text          string
		CaseSensitive bool
	}
)

func (All) predicate()     {}
func (Any) predicate()     {}
func (Not) predicate()     {}
func (IsNull) predicate()  {}
func (IsEmpty) predicate() {}
func (Compare) predicate() {}
func (Range) predicate()   {}
func (Match) predicate()   {}

// Comparison is how a column is compared, as all dialects write it.
type Comparison string

// The comparisons.
const (
	Equal          Comparison = "="
	Greater        Comparison = ">"
	GreaterOrEqual Comparison = ">="
	Less           Comparison = "<"
	LessOrEqual    Comparison = "<="
)

// Value is a value that the column it is compared with can hold: a string for
// text, a *big.Rat for an integer or decimal, a float64 for a number, a bool,
// and a time.Time for a date or a timestamp. The day of a date is that of the
// time in its own location.
type Value any

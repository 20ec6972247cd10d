package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Dialect is what the SQL of one database has of its own. Arguments that are
// called column and text are SQL.
type Dialect interface {
	// Placeholder stands for the bound value n, counted from 1.
	Placeholder(n int) string
	// Compare compares a column with a value. Bind takes the value as text and returns its
	// placeholder.
	Compare(p Compare, column string, bind func(text string) string) string
	// IsNull and NotNull test for what is null once it is read.
	IsNull(of Column, column string) string
	NotNull(of Column, column string) string
	// IsEmpty is the test of [IsEmpty].
	IsEmpty(of Column, column string) string
	// Match is a test of a text by an operator of [Match].
	Match(op feedmill.FilterOp, column, text string, caseSensitive bool) string
	// MatchText is the text that Match is given, such as a pattern.
	MatchText(m Match) string
	// NoNUL reports whether texts never have the character NUL, and parameters may not have it
	// either.
	NoNUL() bool
	// Aggregate makes one value of a group.
	Aggregate(fn feedmill.Aggregate, column string) string
	// Period is the start of the period that a value of a column is in.
	Period(c *Calendar, of Column, column string) string
}

// Standard is embedded by dialects for what they do as most databases do.
type Standard struct {
	// Readable leaves out of statements what people do not read: the offsets of time zones.
	Readable bool
}

// Show makes statements for people, which are not run.
func (s *Standard) Show() { s.Readable = true }

// IsNull tests for NULL.
func (Standard) IsNull(_ Column, column string) string { return column + " IS NULL" }

// NotNull is its inverse.
func (Standard) NotNull(_ Column, column string) string {
	return "(" + column + " IS NULL) IS NOT TRUE"
}

// MatchText is the text of the predicate.
func (Standard) MatchText(m Match) string { return m.Text }

// NoNUL is false.
func (Standard) NoNUL() bool { return false }

// Compute adds no formulas to the columns.
func (Standard) Compute(*Formulas, []int) {}

// Bound has no values.
func (Standard) Bound() []string { return nil }

// SortsNulls is false.
func (Standard) SortsNulls() bool { return false }

// SortKey is empty.
func (Standard) SortKey(Column) string { return "" }

// Aggregate calls the function of an aggregate.
func (Standard) Aggregate(fn feedmill.Aggregate, column string) string {
	if fn == feedmill.AggregateCountDistinct {
		return "count(DISTINCT " + column + ")"
	}
	return string(fn) + "(" + column + ")"
}

// Quote quotes a name as the standard does.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Place is where a table is. The schema is empty in databases that have none, and the alias
// where nothing is joined. With Select, the table is the rows of that statement.
type Place struct{ Schema, Name, As, Select string }

// Rows is the statement as a FROM has it. It can end with a comment.
func (p Place) Rows() string { return "(\n" + p.Select + "\n)" }

// At returns the schema and the name.
func (p Place) At() (schema, name string) { return p.Schema, p.Name }

// Bounds are the least value that a column can hold and the first beyond, as SQL with the
// comparison. Either can be empty. Values outside are null once they are read.
type Bounds struct{ Low, High string }

// Inside is true of the values between the bounds.
func (b Bounds) Inside(column string) string {
	switch {
	case b.High == "":
		return column + " IS NOT NULL"
	case b.Low == "":
		return column + " " + b.High
	}
	return column + " " + b.Low + " AND " + column + " " + b.High
}

// Key is the column where its values are between the bounds, and else null.
func (b Bounds) Key(column string) string {
	if b.High == "" {
		return column
	}
	return "CASE WHEN " + b.Inside(column) + " THEN " + column + " END"
}

// Keep adds to the SQL of a comparison that no value outside passes.
func (b Bounds) Keep(c Comparison, column, sql string) string {
	bound := ""
	switch c {
	case Greater, GreaterOrEqual:
		bound = b.High
	case Less, LessOrEqual:
		bound = b.Low
	}
	if bound != "" {
		sql += " AND " + column + " " + bound
	}
	return sql
}

// Writer writes parts of a tree as SQL. What all dialects have in common is here,
// and so are the rules for nulls.
type Writer struct {
	dialect Dialect
	column  func(Column) string
	args    []string
}

// NewWriter makes a writer of a statement, in which a column is called what the
// function returns.
func NewWriter(d Dialect, column func(Column) string) *Writer {
	return &Writer{dialect: d, column: column}
}

// Bind binds a value to the statement and returns its placeholder.
func (w *Writer) Bind(text string) string {
	w.args = append(w.args, text)
	return w.dialect.Placeholder(len(w.args))
}

// Args are the values that are bound, in order.
func (w *Writer) Args() []string { return w.args }

// Expression writes a column or an aggregate of it.
func (w *Writer) Expression(e Expression) string {
	if e.Period != nil {
		return w.dialect.Period(e.Period, e.Column, w.column(e.Column))
	}
	if e.Aggregate == "" {
		return w.column(e.Column)
	}
	if e.CanOverflow() && e.Column.Type == columnar.TypeNumber {
		return NumberSum(e.Aggregate, w.column(e.Column), "sum("+w.column(e.Column)+")")
	}
	return w.dialect.Aggregate(e.Aggregate, w.column(e.Column))
}

// Predicate writes a test of a row.
func (w *Writer) Predicate(p Predicate) string {
	if w.dialect.NoNUL() {
		p = withoutNUL(p)
	}
	switch p := p.(type) {
	case All:
		return w.join(p, " AND ", "TRUE")
	case Any:
		return w.join(p, " OR ", "FALSE")
	case Not:
		if null, ok := p.Predicate.(IsNull); ok {
			return w.dialect.NotNull(null.Column, w.column(null.Column))
		}
		return "(" + w.Predicate(p.Predicate) + ") IS NOT TRUE"
	case IsNull:
		return w.dialect.IsNull(p.Column, w.column(p.Column))
	case IsEmpty:
		return w.dialect.IsEmpty(p.Column, w.column(p.Column))
	case Compare:
		return w.compare(p.Column, p.Comparison, p.Value)
	case Range:
		return "(" + w.compare(p.Column, GreaterOrEqual, p.From) + ") AND (" + w.compare(p.Column, Less, p.To) + ")"
	case Match:
		return w.dialect.Match(p.Op, w.column(p.Column), w.Bind(w.dialect.MatchText(p)), p.CaseSensitive)
	}
	panic(fmt.Sprintf("query: no SQL for %T", p))
}

func (w *Writer) compare(c Column, comparison Comparison, v Value) string {
	if t, ok := v.(time.Time); ok {
		if c.Type != columnar.TypeDate {
			t = t.UTC()
		}
		// A column has the years 1 to 9999, and a database need not have others.
		after := comparison == Greater || comparison == GreaterOrEqual
		switch year := t.Year(); {
		case year < 1 && after, year > 9999 && !after && comparison != Equal:
			return w.Predicate(Not{IsNull{c}})
		case year < 1, year > 9999:
			return w.Predicate(Any{})
		}
	}
	return w.dialect.Compare(Compare{c, comparison, v}, w.column(c), w.Bind)
}

// join writes predicates with a word between them; without any it writes what
// they come to.
func (w *Writer) join(parts []Predicate, word, none string) string {
	switch len(parts) {
	case 0:
		return none
	case 1:
		return w.Predicate(parts[0])
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = "(" + w.Predicate(p) + ")"
	}
	return strings.Join(texts, word)
}

// withoutNUL says the same of texts that do not have the character NUL.
func withoutNUL(p Predicate) Predicate {
	switch p := p.(type) {
	case Compare:
		text, _ := p.Value.(string)
		before, _, found := strings.Cut(text, "\x00")
		switch {
		case !found:
			return p
		case p.Comparison == Equal:
			return Any{}
		case p.Comparison == Greater || p.Comparison == GreaterOrEqual:
			// What goes on where the other has NUL is after it.
			return Compare{p.Column, Greater, before}
		}
		return Compare{p.Column, LessOrEqual, before}
	case Match:
		if strings.Contains(p.Text, "\x00") {
			return Any{}
		}
	}
	return p
}

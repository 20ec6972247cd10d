package query

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
)

// Dialect is what the SQL of one database has of its own. Arguments that are
// called column and text are SQL.
type Dialect interface {
	// Placeholder stands for the bound value n, counted from 1.
	Placeholder(n int) string
	// Value is a value to compare a column with. Bind takes it as text and
	// returns its placeholder.
	Value(of Column, v Value, bind func(text string) string) string
	// IsEmpty is the test of [IsEmpty].
	IsEmpty(of Column, column string) string
	// Match is a test of a text by an operator of [Match].
	Match(op feedmill.FilterOp, column, text string, caseSensitive bool) string
	// Aggregate makes one value of a group.
	Aggregate(fn feedmill.Aggregate, column string) string
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
	if e.Aggregate == "" {
		return w.column(e.Column)
	}
	return w.dialect.Aggregate(e.Aggregate, w.column(e.Column))
}

// Predicate writes a test of a row.
func (w *Writer) Predicate(p Predicate) string {
	switch p := p.(type) {
	case All:
		return w.join(p, " AND ", "TRUE")
	case Any:
		return w.join(p, " OR ", "FALSE")
	case Not:
		return "(" + w.Predicate(p.Predicate) + ") IS NOT TRUE"
	case IsNull:
		return w.column(p.Column) + " IS NULL"
	case IsEmpty:
		return w.dialect.IsEmpty(p.Column, w.column(p.Column))
	case Compare:
		return w.compare(p.Column, p.Comparison, p.Value)
	case Range:
		return w.compare(p.Column, GreaterOrEqual, p.From) + " AND " + w.compare(p.Column, Less, p.To)
	case Match:
		return w.dialect.Match(p.Op, w.column(p.Column), w.Bind(p.Text), p.CaseSensitive)
	}
	panic(fmt.Sprintf("query: no SQL for %T", p))
}

func (w *Writer) compare(c Column, comparison Comparison, v Value) string {
	return w.column(c) + " " + string(comparison) + " " + w.dialect.Value(c, v, w.Bind)
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

package database

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// Described is a view as a connector described it. The tables of all connectors embed it. T is
// the table of the dialect.
type Described[T any, D dialectOf[T]] struct {
	View  string
	Rules feedmill.Rules
	SQL   T
	// Found are the columns, in their order.
	Found []Field
	// Warnings are about single columns.
	Warnings []columnWarning
	// OfSQL is the SQL view that this is, empty for any other.
	OfSQL feedmill.ID
}

// columnWarning is a warning about the column of an index.
type columnWarning struct {
	index int
	feedmill.Warning
}

// Warn adds a warning about a column.
func (d *Described[T, D]) Warn(index int, w feedmill.Warning) {
	d.Warnings = append(d.Warnings, columnWarning{index, w})
}

// dialectOf is a table of a dialect.
type dialectOf[T any] interface {
	*T
	query.Database
	At() (schema, name string)
	Show()
	JoinTable(first, as string, other *T) *T
}

// At returns the schema and the name.
func (d *Described[T, D]) At() (schema, name string) { return D(&d.SQL).At() }

// SQLView returns the id of the SQL view that this is, empty for any other.
func (d *Described[T, D]) SQLView() feedmill.ID { return d.OfSQL }

// Fields returns the columns.
func (d *Described[T, D]) Fields() []Field { return d.Found }

// JoinWith returns the view with another joined to it.
func (d *Described[T, D]) JoinWith(first, as string, other *Described[T, D]) Described[T, D] {
	joined := *d
	joined.SQL = *D(&d.SQL).JoinTable(first, as, &other.SQL)
	joined.Found = slices.Clone(d.Found)
	for _, f := range other.Found {
		f.From = as
		joined.Found = append(joined.Found, f)
	}
	joined.Warnings = slices.Clip(d.Warnings)
	for _, w := range other.Warnings {
		w.index += len(d.Found)
		joined.Warnings = append(joined.Warnings, w)
	}
	return joined
}

// CanJoin returns the error of columns that cannot be compared.
func (d *Described[T, D]) CanJoin(joins []query.Join) (join, pair int, err error) {
	return query.CheckJoins(D(&d.SQL), joins)
}

// Plan divides a query between the database and this process.
func (d *Described[T, D]) Plan(tree *query.Tree) *query.Plan {
	table := d.SQL
	D(&table).Compute(&tree.Formulas, tree.Used())
	return query.NewPlan(tree, D(&table))
}

// CannotCompute is the reason why the database does not compute a field.
func (d *Described[T, D]) CannotCompute(f *query.Formulas, formula int) string {
	return D(&d.SQL).CannotCompute(f, formula)
}

// Explain returns the statement.
func (d *Described[T, D]) Explain(tree *query.Tree) Explanation {
	shown := d.SQL
	D(&shown).Show()
	D(&shown).Compute(&tree.Formulas, tree.Used())
	return Explain(query.NewPlan(tree, D(&shown)))
}

// SetPushdown notes of each column which operators the database tests.
func (d *Described[T, D]) SetPushdown() {
	for i := range d.Found {
		d.Found[i].Pushdown = Pushdown(D(&d.SQL), query.Column{Column: &d.Found[i].Column, Index: i})
	}
}

// WarningsOf returns the warnings about columns that a plan fetches, on request also where only
// an aggregate of the column is fetched.
func (d *Described[T, D]) WarningsOf(plan *query.Plan, aggregates bool) (all []feedmill.Warning) {
	for _, w := range d.Warnings {
		if slices.ContainsFunc(plan.Fetched, func(e query.Expression) bool {
			return e.Column.Index == w.index && (aggregates || e.Aggregate == "")
		}) {
			all = append(all, w.Warning)
		}
	}
	return all
}

// NotFound returns the refusal of a view that a database does not have.
func NotFound(ctx context.Context, d Database, view string) error {
	views, err := d.Views(ctx)
	if err != nil {
		return err
	}
	return NoView(view, views)
}

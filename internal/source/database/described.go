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
	Warnings []feedmill.Warning
}

// dialectOf is a table of a dialect.
type dialectOf[T any] interface {
	*T
	query.Database
	At() (schema, name string)
	Show()
}

// At returns the schema and the name.
func (d *Described[T, D]) At() (schema, name string) { return D(&d.SQL).At() }

// Fields returns the columns.
func (d *Described[T, D]) Fields() []Field { return d.Found }

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
			return e.Column.Name == w.Column && (aggregates || e.Aggregate == "")
		}) {
			all = append(all, w)
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

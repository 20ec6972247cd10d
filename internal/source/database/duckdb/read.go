package duckdb

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Read runs the statement of a tree.
func (t *table) Read(ctx context.Context, tree *query.Tree, out database.Rows) (database.Done, error) {
	plan := query.NewPlan(tree, &t.sql)
	columns := plan.Columns()
	finish := database.NewFinish(plan, out)
	if err := finish.Columns(ctx, columns); err != nil {
		return database.Done{}, err
	}
	batch := database.NewBatch(columns)
	statement := dialect.Statement{SQL: plan.SQL, Args: plan.Args, Guard: t.guard(), GuardText: t.guardText}
	err := t.each(ctx, t.view, statement, columns, func(run []columnar.Vector) error {
		for i := range run {
			run[i] = batch.Columns[i].Whole(run[i])
		}
		return finish.Rows(ctx, run)
	})
	if err != nil && !errors.Is(err, database.ErrEnough) {
		return database.Done{}, t.changed(ctx, err)
	}
	done, err := finish.End(ctx)
	done.Warnings = append(t.warningsOf(plan), batch.Warnings()...)
	return done, err
}

// warningsOf are those about columns that are fetched.
func (t *table) warningsOf(plan *query.Plan) (all []feedmill.Warning) {
	for _, w := range t.warnings {
		for _, e := range plan.Fetched {
			if e.Column.Name == w.Column && e.Aggregate == "" {
				all = append(all, w)
				break
			}
		}
	}
	return all
}

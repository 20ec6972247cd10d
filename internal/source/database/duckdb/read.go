package duckdb

import (
	"context"
	"errors"
	"slices"

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
	finish := database.NewFinish(plan, out, t.temp)
	defer finish.Close()
	if err := finish.Columns(ctx, columns); err != nil {
		return database.Done{}, err
	}
	batch := database.NewBatch(plan, columns)
	statement := dialect.Statement{SQL: plan.SQL, Args: plan.Args, Guard: t.guard(), GuardText: t.guardText}
	err := t.each(ctx, t.view, statement, asSent(columns), func(run []columnar.Vector) error {
		for i := range run {
			if query.IsOpen(&columns[i]) {
				run[i] = batch.Columns[i].OpenWhole(run[i])
				continue
			}
			run[i] = batch.Columns[i].Whole(run[i])
		}
		return finish.Rows(ctx, run)
	})
	if err != nil && !errors.Is(err, database.ErrEnough) {
		return database.Done{}, t.changed(ctx, err)
	}
	done, err := finish.End(ctx)
	done.Warnings = slices.Concat(t.warningsOf(plan), done.Warnings, batch.Warnings())
	return done, err
}

// asSent are columns as the engine sends them: all whole numbers of 128 bits as decimals, which
// can have a digit more than others.
func asSent(columns []feedmill.Column) []feedmill.Column {
	sent := slices.Clone(columns)
	for i := range sent {
		if query.IsOpen(&sent[i]) {
			sent[i].Precision = columnar.WideDigits
		}
	}
	return sent
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

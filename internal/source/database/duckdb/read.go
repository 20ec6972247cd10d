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
	plan := t.Plan(tree)
	columns := plan.Columns()
	finish := database.NewFinish(plan, out, t.temp)
	defer finish.Close()
	if err := finish.Columns(ctx, columns); err != nil {
		return database.Done{}, err
	}
	batch := database.NewBatch(plan, columns)
	statement := dialect.Statement{SQL: plan.SQL, Args: plan.Args, Inside: t.SQL.HasSelect()}
	statement.Guard, statement.GuardText = t.guard()
	err := t.each(ctx, t.View, statement, t.asSent(plan, columns), func(run []columnar.Vector) error {
		for i := range run {
			e := plan.Fetched[i]
			if t.SQL.KindOf(e.Column) == dialect.Real && columns[i].Type == columnar.TypeNumber && !e.CanOverflow() {
				showSingles(run[i].Floats)
			}
			if t.SQL.IsHugeSum(e) && !plan.GroupHere {
				run[i] = openSums(batch.Columns[i], &run[i])
				continue
			}
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
	done.Warnings = slices.Concat(t.WarningsOf(plan, false), done.Warnings, batch.Warnings())
	return done, err
}

// showSingles makes the numbers of floats of 4 bytes those that they are shown as.
func showSingles(floats []float64) {
	for i, f := range floats {
		floats[i] = query.Single(float32(f))
	}
}

// openSums are sums of whole numbers of 128 bits as they are read.
func openSums(b *database.Builder, sums *columnar.Vector) columnar.Vector {
	for i := range sums.Len {
		if sums.Null(i) {
			b.Null()
		} else {
			b.OpenDecimal(dialect.ParseHugeSum(sums.Text(i)))
		}
	}
	return b.Take()
}

// asSent are columns as the engine sends them: whole numbers of 128 bits as decimals, which can have a
// digit more than others, and as text where they have no sign and where they are sums.
func (t *table) asSent(plan *query.Plan, columns []feedmill.Column) []feedmill.Column {
	sent := slices.Clone(columns)
	for i, e := range plan.Fetched {
		switch {
		case !query.IsOpen(&sent[i]):
		case t.SQL.KindOf(e.Column) == dialect.UnsignedHuge, t.SQL.IsHugeSum(e):
			sent[i] = feedmill.Column{Type: columnar.TypeText}
		default:
			sent[i].Precision = columnar.WideDigits
		}
	}
	return sent
}

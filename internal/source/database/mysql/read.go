package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/mysql"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Read runs the statement of a tree, and does the rest.
func (t *table) Read(ctx context.Context, tree *query.Tree, out database.Rows) (done database.Done, err error) {
	plan := t.Plan(tree)
	var enough *database.Done
	err = t.session(ctx, func(ctx context.Context, c *session) error {
		done, enough, err = t.run(ctx, c, plan, out)
		return err
	})
	if enough != nil {
		return *enough, nil
	}
	return done, err
}

// run runs the plan. Where not all rows were wanted the connection is given up,
// and what was read is in enough.
func (t *table) run(ctx context.Context, c *session, plan *query.Plan, out database.Rows) (done database.Done, enough *database.Done, err error) {
	columns := plan.Columns()
	finish := database.NewFinish(plan, out, t.temp)
	defer finish.Close()
	if err := finish.Columns(ctx, columns); err != nil {
		return done, nil, handed{err}
	}
	batch := database.NewBatch(plan, columns)
	readers := make([]reader, len(columns))
	for i, e := range plan.Fetched {
		readers[i] = t.newReader(e, columns[i], plan)
	}
	take := func(row []driver.Value) error {
		for i, value := range row {
			if value == nil {
				batch.Columns[i].Null()
			} else if !readers[i](batch.Columns[i], value) {
				if plan.Fetched[i].Aggregate == feedmill.AggregateSum {
					return database.TooManyDigits(columns[i].Name)
				}
				return database.Fail(database.ProblemField, fmt.Sprintf("The type of column %q of %q changed after the view was described. Retry.", columns[i].Name, t.View), nil)
			}
		}
		if err := batch.Hand(ctx, finish); err != nil {
			return handed{err}
		}
		return nil
	}
	for sql := finish.Next(); sql != "" && err == nil; sql = finish.Next() {
		err = c.each(ctx, sql, plan.Args, take)
		if err != nil && !errors.Is(err, database.ErrEnough) {
			return done, nil, err
		}
		if err == nil {
			if err := batch.End(ctx, finish); err != nil {
				return done, nil, handed{err}
			}
		}
	}
	done, failed := finish.End(ctx)
	done.Warnings = append(done.Warnings, batch.Warnings()...)
	if failed != nil {
		return done, nil, handed{failed}
	}
	if err != nil {
		return done, &done, err
	}
	return done, nil, nil
}

// newReader finds the reader of the values of an expression.
func (t *table) newReader(e query.Expression, c feedmill.Column, plan *query.Plan) reader {
	grouped := plan.Tree.Grouped() && !plan.GroupHere
	switch c.Type {
	case columnar.TypeText:
		if !grouped && t.SQL.KindOf(e.Column) == dialect.Bytes {
			return readBytes
		}
		return readText
	case columnar.TypeJSON:
		return readJSON
	case columnar.TypeBoolean:
		return readBoolean
	case columnar.TypeInteger:
		return readInteger
	case columnar.TypeDecimal:
		if query.IsOpen(&c) {
			return readOpenDecimal
		}
		return readDecimal
	case columnar.TypeNumber:
		if t.SQL.KindOf(e.Column) == dialect.Real && !e.CanOverflow() {
			return readReal
		}
		return readNumber
	case columnar.TypeDate:
		return readDate
	}
	return readTimestamp
}

package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/mysql"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Read runs the statement of a tree, and does the rest.
func (t *table) Read(ctx context.Context, tree *query.Tree, out database.Rows) (done database.Done, err error) {
	plan := query.NewPlan(tree, &t.sql)
	var enough *database.Done
	err = t.read(ctx, t.view, func(c *session) error {
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
	warnings, err := t.measure(ctx, c, plan, columns)
	if err != nil {
		return done, nil, err
	}
	finish := database.NewFinish(plan, out)
	if err := finish.Columns(ctx, columns); err != nil {
		return done, nil, handed{err}
	}
	batch := database.NewBatch(columns)
	readers := make([]reader, len(columns))
	for i, e := range plan.Fetched {
		readers[i] = t.newReader(e, columns[i], plan)
	}
	take := func(row []driver.Value) error {
		for i, value := range row {
			if value == nil {
				batch.Columns[i].Null()
			} else if !readers[i](batch.Columns[i], value) {
				return database.Fail(database.ProblemField, fmt.Sprintf("The column %q of %q has another type than when the view was described.", columns[i].Name, t.view), nil)
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
	done.Warnings = append(warnings, batch.Warnings()...)
	if failed != nil {
		return done, nil, handed{failed}
	}
	if err != nil {
		return done, &done, err
	}
	return done, nil, nil
}

// measure finds whether decimals of very many digits fit into a column, over the
// rows that will be fetched. It is of the same transaction, so that they are the
// same rows.
func (t *table) measure(ctx context.Context, c *session, plan *query.Plan, columns []feedmill.Column) ([]feedmill.Warning, error) {
	var asked []string
	var open []int
	for i := range columns {
		if columns[i].Type == columnar.TypeDecimal && columns[i].Precision == 0 {
			asked = append(asked, "COALESCE(MAX(CHAR_LENGTH(TRUNCATE(ABS(f"+strconv.Itoa(i)+"), 0))), 1)")
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	var warnings []feedmill.Warning
	statement := "SELECT " + strings.Join(asked, ", ") + " FROM (" + plan.SQL + ") AS q"
	err := c.each(ctx, statement, plan.Args, func(row []driver.Value) error {
		for k, i := range open {
			whole, _ := integer(row[k])
			column := &columns[i]
			if int(whole)+column.Scale <= columnar.WideDigits {
				column.Precision = columnar.WideDigits
				continue
			}
			column.Type = columnar.TypeNumber
			warnings = append(warnings, feedmill.Warning{
				Code: feedmill.WarnDigits, Column: column.Name, Count: 1,
				Detail: fmt.Sprintf("numbers of up to %d digits before the point and %d after it are more than the 38 that a decimal has, so the column is of numbers, which have about 16", whole, column.Scale),
			})
		}
		return nil
	})
	return warnings, err
}

// newReader finds the reader of the values of an expression.
func (t *table) newReader(e query.Expression, c feedmill.Column, plan *query.Plan) reader {
	grouped := plan.Tree.Grouped() && !plan.GroupHere
	switch c.Type {
	case columnar.TypeText:
		if !grouped && t.sql.Columns[e.Column.Index].Kind == dialect.Bytes {
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
		return readDecimal
	case columnar.TypeNumber:
		return readNumber
	case columnar.TypeDate:
		return readDate
	}
	return readTimestamp
}

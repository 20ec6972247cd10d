package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Read runs the statement of a tree, and does the rest.
func (t *table) Read(ctx context.Context, tree *query.Tree, out database.Rows) (database.Done, error) {
	plan := t.Plan(tree)
	var done database.Done
	err := t.session(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		done, err = t.run(ctx, conn, plan, out)
		return err
	})
	return done, err
}

func (t *table) run(ctx context.Context, conn *pgx.Conn, plan *query.Plan, out database.Rows) (database.Done, error) {
	columns := plan.Columns()
	finish := database.NewFinish(plan, out, t.temp)
	defer finish.Close()
	if err := finish.Columns(ctx, columns); err != nil {
		return database.Done{}, err
	}
	batch := database.NewBatch(plan, columns)
	for sql := finish.Next(); sql != ""; sql = finish.Next() {
		if err := t.fetch(ctx, conn, sql, plan.Args, columns, batch, finish); err != nil {
			return database.Done{}, err
		}
	}
	done, err := finish.End(ctx)
	done.Warnings = append(done.Warnings, batch.Warnings()...)
	return done, err
}

// fetch runs a statement and hands on its rows.
func (t *table) fetch(ctx context.Context, conn *pgx.Conn, sql string, args []string, columns []feedmill.Column, batch *database.Batch, to *database.Finish) error {
	gate, ctx := database.NewRowGate(ctx)
	defer gate.Close()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	meterOf(conn).restart(gate)
	defer meterOf(conn).restart(nil)
	result := conn.PgConn().ExecParams(running, sql, parameters(args), nil, nil, binaryFormat)
	readers, stopped := t.readers(columns, result.FieldDescriptions())
	for stopped == nil && result.NextRow() {
		for i, value := range result.Values() {
			if value == nil {
				batch.Columns[i].Null()
			} else if err := readers[i](batch.Columns[i], value); err != nil {
				stopped = fmt.Errorf("column %q: %w", columns[i].Name, err)
				break
			}
		}
		if stopped == nil {
			stopped = batch.Hand(ctx, to)
		}
		clear(result.Values()) // else the row is held while the next one waits
		gate.Next()
	}
	if stopped != nil {
		cancel() // the server is not to send the rest
	}
	_, err := result.Close()
	switch {
	case errors.Is(stopped, database.ErrEnough):
		return nil
	case stopped != nil:
		return stopped
	case err != nil:
		return t.failure(ctx, err, t.View)
	}
	return batch.End(ctx, to)
}

// readers are those of the types that the server says the columns have.
func (t *table) readers(columns []feedmill.Column, described []pgconn.FieldDescription) ([]reader, error) {
	readers := make([]reader, len(described))
	for i, d := range described {
		read, ok := newReader(&columns[i], d.DataTypeOID)
		if !ok {
			return nil, database.Fail(database.ProblemField, fmt.Sprintf("The type of column %q of %q changed after the view was described. Retry.", columns[i].Name, t.View), nil)
		}
		readers[i] = read
	}
	return readers, nil
}

var binaryFormat = []int16{1}

// parameters are the values as the protocol takes them, in the format of texts.
func parameters(args []string) [][]byte {
	values := make([][]byte, len(args))
	for i, text := range args {
		values[i] = []byte(text)
	}
	return values
}

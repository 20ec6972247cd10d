package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// write runs do in a transaction and returns once it is durable.
func (db *DB) write(ctx context.Context, do func(tx) error) error {
	err := pgx.BeginFunc(ctx, db.pool, func(t pgx.Tx) error { return do(tx{t}) })
	if err == nil {
		afterCommit()
	}
	return translate(err)
}

// tx is an open transaction.
type tx struct{ pgx.Tx }

// exec runs a statement and returns how many rows it changed.
func (t tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.Exec(ctx, query, args...)
	return tag.RowsAffected(), translate(err)
}

func (db *DB) rows(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	rows, err := db.pool.Query(ctx, query, args...)
	return rows, translate(err)
}

// all reads every row with scan and closes the rows.
func all[T any](rows pgx.Rows, err error, scan func(record.Row) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
	return out, translate(err)
}

// send does steps as a pipeline does, inside the transaction.
func (t tx) send(ctx context.Context, steps ...func(*pgx.Batch) error) error {
	for _, step := range steps {
		var b pgx.Batch
		if err := step(&b); err != nil {
			return translate(err)
		}
		if b.Len() == 0 {
			continue
		}
		if err := t.SendBatch(ctx, &b).Close(); err != nil {
			return translate(err)
		}
	}
	return nil
}

// each calls do for every row of a queued query.
func each(q *pgx.QueuedQuery, do func(record.Row) error) {
	q.Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := do(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// deadlockTries is how often a transaction is tried that PostgreSQL ends to resolve a deadlock: a new
// version locks the sources of feeds that are built from its feed, and they those of theirs.
const deadlockTries = 5

// writeWithEvents is write for a do that returns events, which are then accepted
// in the same transaction. It offers the deliveries of theirs that are due.
func (db *DB) writeWithEvents(ctx context.Context, do func(tx) ([]feedmill.Event, error)) error {
	call := new(acceptCall)
	try := func() error {
		call = db.newAcceptCall(nil, nil)
		return db.write(ctx, func(tx tx) (err error) {
			if call.events, err = do(tx); err != nil || len(call.events) == 0 {
				return err
			}
			return tx.accept(ctx, call)
		})
	}
	err := db.withPartitions(ctx, partitionIDs(nil), try)
	for n := 1; n < deadlockTries && hasCode(err, deadlockDetected); n++ {
		err = try()
	}
	if hasCode(err, checkViolation) {
		// Some events are of a day that had no partition.
		err = db.withPartitions(ctx, partitionIDs(call.events), try)
	}
	if err == nil {
		db.options.Offer(call.due)
	}
	return err
}

package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// idle is the status of a connection that has no transaction open.
const idle = 'I'

// rollbackPatience bounds the wait for a rollback; past it the connection is
// given up, which undoes the transaction as well.
const rollbackPatience = 5 * time.Second

// pipeline runs a transaction in as few trips to the server as it has steps
// and returns once it is durable. A step queues statements that are sent
// together; the next one may use what they returned, and one that queues
// nothing costs nothing. The first trip begins the transaction and the last
// commits it, so nothing of the last step may find out by its results that the
// transaction must not be.
func (db *DB) pipeline(ctx context.Context, steps ...func(*pgx.Batch) error) error {
	return translate(db.steady.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		err := trips(ctx, conn, steps)
		if err != nil && conn.Conn().IsClosed() && ctx.Err() == nil {
			// The others are likely to be of a server that has gone, too.
			db.reset()
		}
		if err != nil && !conn.Conn().IsClosed() && conn.Conn().PgConn().TxStatus() != idle {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackPatience)
			defer cancel()
			// A connection on which this fails is not used again.
			conn.Exec(ctx, `ROLLBACK`)
		}
		return err
	}))
}

func trips(ctx context.Context, conn *pgxpool.Conn, steps []func(*pgx.Batch) error) error {
	for i, step := range steps {
		var b pgx.Batch
		if i == 0 {
			b.Queue(`BEGIN`)
		}
		if err := step(&b); err != nil {
			return err
		}
		if i == len(steps)-1 {
			b.Queue(`COMMIT`)
		}
		if b.Len() == 0 {
			continue
		}
		if err := conn.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
	}
	afterCommit()
	return nil
}

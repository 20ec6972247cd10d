// Package postgres keeps the records of the service in a PostgreSQL database
// that any number of replicas share.
//
// It uses plain SQL that PostgreSQL-compatible distributed databases run too:
// no advisory locks, no extensions, nothing that works only with LISTEN. The
// package stores what it is told and decides nothing; its contract is the
// suite in internal/store/storetest.
//
// What grows without end is kept in one partition a day, by ids that begin with
// the time, and is dropped a day at a time (see [DB.Prune]). A delivery with
// attempts to come is in a table of its own, open_deliveries, and moves to the
// partitions when it ends: so that the work that is left is quick to find
// however much has been done. The calls that make up nearly all of the load,
// [DB.Accept] and [DB.Settle], share transactions (see group).
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DB is an open store. Its methods may be called from any goroutine.
type DB struct {
	pool  *pgxpool.Pool
	days  days
	sweep sweep

	successes successes

	accepts *group[*publication]
	settles *group[[]feedmill.Outcome]
}

// Open connects to the database and brings its schema up to date.
func Open(ctx context.Context, url string) (*DB, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The driver's text can quote the URL, and the URL holds a password.
		return nil, errors.New("postgres: the database URL cannot be read; write it as postgres://user:password@host:5432/database")
	}
	config.MaxConns = max(config.MaxConns, 16)
	config.AfterConnect = planAnew
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if err := migrateUp(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db := &DB{pool: pool}
	db.accepts = newGroup(db.acceptTogether, (*publication).weight, maxSharedBytes)
	db.settles = newGroup(db.settleTogether, func(o []feedmill.Outcome) int { return len(o) }, maxSharedOutcomes)
	if err := db.prepareDays(ctx, time.Now(), time.Time{}, daysAheadAtOpen); err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return db, nil
}

// planAnew has every statement planned for the values it is called with, which
// say what partitions to read, and for the tables as they are: a plan made
// while a table was small would be kept when it is not any more. To compile a
// plan takes longer than any of them runs.
func planAnew(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SET plan_cache_mode = force_custom_plan; SET jit = off`)
	return err
}

// migrateUp applies the pending migrations in one transaction under a lock on
// the version's row: of replicas that start together one migrates, and the
// others wait for it and find nothing left to do.
func migrateUp(ctx context.Context, pool *pgxpool.Pool) error {
	all, err := migrate.Load(migrations)
	if err != nil {
		return err
	}
	if err := ensureVersionRow(ctx, pool); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var version int
		if err := tx.QueryRow(ctx, `SELECT version FROM schema_version FOR UPDATE`).Scan(&version); err != nil {
			return err
		}
		pending, err := migrate.Pending(all, version)
		if err != nil || len(pending) == 0 {
			return err
		}
		for _, m := range pending {
			if _, err := tx.Exec(ctx, m.SQL); err != nil {
				return fmt.Errorf("migration %d (%s): %w", m.Number, m.Name, err)
			}
		}
		_, err = tx.Exec(ctx, `UPDATE schema_version SET version = $1`, len(all))
		return err
	})
}

// ensureVersionRow makes the table that migrations lock. Two sessions that
// make it at the same moment can both fail on the catalogue's own indexes even
// with IF NOT EXISTS, so the one that loses looks again.
func ensureVersionRow(ctx context.Context, pool *pgxpool.Pool) error {
	const query = `CREATE TABLE IF NOT EXISTS schema_version (only_row integer PRIMARY KEY CHECK (only_row = 1), version integer NOT NULL);
		INSERT INTO schema_version VALUES (1, 0) ON CONFLICT DO NOTHING`
	var err error
	for range 10 {
		_, err = pool.Exec(ctx, query)
		var e *pgconn.PgError
		if !errors.As(err, &e) || (e.Code != uniqueViolation && e.Code != duplicateTable && e.Code != duplicateObject) {
			return err
		}
	}
	return err
}

// Close waits for the connections in use and closes them.
func (db *DB) Close() error {
	db.pool.Close()
	return nil
}

// Ping reports whether the store answers.
func (db *DB) Ping(ctx context.Context) error {
	err := db.pool.Ping(ctx)
	if err != nil && ctx.Err() == nil {
		// The connections at hand may be of a server that has been started
		// again since: what a new one says counts.
		db.pool.Reset()
		err = db.pool.Ping(ctx)
	}
	return translate(err)
}

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

// exec runs a statement and answers how many rows it changed.
func (t tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.Exec(ctx, query, args...)
	return tag.RowsAffected(), translate(err)
}

func (db *DB) rows(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	rows, err := db.pool.Query(ctx, query, args...)
	return rows, translate(err)
}

// all reads every row with scan and closes the rows.
func all[T any](rows pgx.Rows, err error, scan func(pgx.Row) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
	return out, translate(err)
}

// The zero time is NULL.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

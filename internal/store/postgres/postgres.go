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
	// pool plans every statement anew, steady once.
	pool, steady *pgxpool.Pool

	days  days
	sweep sweep

	successes successes
	fanouts   fanouts
	recent    recent

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
	config.MaxConns, config.MinConns = max(config.MaxConns, 16)/2, config.MinConns/2
	db := &DB{}
	if db.pool, err = newPool(ctx, config, planAnew); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if db.steady, err = newPool(ctx, config, planOnce); err != nil {
		db.pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if err := migrateUp(ctx, db.pool); err != nil {
		db.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db.accepts = newGroup(db.acceptTogether, db.weight, maxSharedBytes, acceptsInFlight, acceptsWorthIt)
	db.settles = newGroup(db.settleTogether, func(o []feedmill.Outcome) int { return len(o) }, maxSharedOutcomes, settlesInFlight, settlesWorthIt)
	if err := db.prepareDays(ctx, time.Now(), time.Time{}, daysAheadAtOpen); err != nil {
		db.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return db, nil
}

// planAnew has every statement planned for the values it is called with, which
// say what partitions to read, and for the tables as they are: a plan made
// while a table was small would be kept when it is not any more.
const planAnew = `SET plan_cache_mode = force_custom_plan`

// planOnce has a statement planned once for ever, by index and row by row. It is
// for those that are called all the time, with values for which no other plan is
// ever better, and that read no more of the tables that are divided by days than
// they must: to plan them costs more than to run them.
const planOnce = `SET plan_cache_mode = force_generic_plan;
	SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`

// newPool makes a pool of connections on which settings have been made. To
// compile a plan would take longer than any of them runs.
func newPool(ctx context.Context, config *pgxpool.Config, settings string) (*pgxpool.Pool, error) {
	config = config.Copy()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, settings+`; SET jit = off`)
		return err
	}
	return pgxpool.NewWithConfig(ctx, config)
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
	db.steady.Close()
	return nil
}

// Ping reports whether the store answers.
func (db *DB) Ping(ctx context.Context) error {
	err := db.pool.Ping(ctx)
	if err != nil && ctx.Err() == nil {
		// The connections at hand may be of a server that has been started
		// again since: what a new one says counts.
		db.reset()
		err = db.pool.Ping(ctx)
	}
	return translate(err)
}

// reset gives up the connections at hand.
func (db *DB) reset() {
	db.pool.Reset()
	db.steady.Reset()
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

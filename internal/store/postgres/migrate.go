package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

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
		// To migrate, or to wait for whoever does, takes what it takes.
		if _, err := tx.Exec(ctx, noLimitsInside); err != nil {
			return err
		}
		var schema migrate.Schema
		if err := tx.QueryRow(ctx, `SELECT version FROM schema_version FOR UPDATE`).Scan(&schema.Version); err != nil {
			return err
		}
		if schema.Version > len(all) {
			if err := tx.QueryRow(ctx, `SELECT oldest FROM schema_support`).Scan(&schema.Oldest); err != nil {
				return err
			}
		}
		pending, err := migrate.Pending(all, schema)
		if err != nil || len(pending) == 0 {
			return err
		}
		for _, m := range pending {
			if _, err := tx.Exec(ctx, m.SQL); err != nil {
				return fmt.Errorf("migration %d (%s): %w", m.Number, m.Name, err)
			}
		}
		if _, err := tx.Exec(ctx, `UPDATE schema_support SET oldest = $1`, migrate.PreviousRelease); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE schema_version SET version = $1`, len(all))
		return err
	})
}

// versionRow creates the table with the version of the schema.
const versionRow = `CREATE TABLE IF NOT EXISTS schema_version (only_row integer PRIMARY KEY CHECK (only_row = 1), version integer NOT NULL);
	INSERT INTO schema_version VALUES (1, 0) ON CONFLICT DO NOTHING`

// ensureVersionRow makes the table that migrations lock. Two sessions that
// make it at the same moment can both fail on the catalogue's own indexes even
// with IF NOT EXISTS, so the one that loses looks again.
func ensureVersionRow(ctx context.Context, pool *pgxpool.Pool) error {
	var err error
	for range 10 {
		_, err = pool.Exec(ctx, versionRow)
		var e *pgconn.PgError
		if !errors.As(err, &e) || (e.Code != uniqueViolation && e.Code != duplicateTable && e.Code != duplicateObject) {
			return err
		}
	}
	return err
}

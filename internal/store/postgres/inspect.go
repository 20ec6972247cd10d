package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/store/migrate"
)

// Inspection is what [Inspect] finds in a database.
type Inspection struct {
	// Pending is how many migrations the next start applies.
	Pending int
	// Ahead is how far the clock of the database is ahead of this machine's.
	Ahead time.Duration
}

// Inspect reads the schema of a database without changing it, and compares its clock.
func Inspect(ctx context.Context, url string) (found Inspection, err error) {
	all, err := migrate.Load(migrations)
	if err != nil {
		return found, err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return found, errURL
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return found, fmt.Errorf("postgres: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var now time.Time
	begun := time.Now()
	var table *string
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp(), to_regclass('schema_version')::text`).Scan(&now, &table); err != nil {
		return found, fmt.Errorf("postgres: %w", err)
	}
	found.Ahead = now.Sub(begun.Add(time.Since(begun) / 2))
	var schema migrate.Schema
	if table != nil {
		if err := conn.QueryRow(ctx, `SELECT version FROM schema_version`).Scan(&schema.Version); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return found, fmt.Errorf("postgres: %w", err)
		}
	}
	if schema.Version > len(all) {
		if err := conn.QueryRow(ctx, `SELECT oldest FROM schema_support`).Scan(&schema.Oldest); err != nil {
			return found, fmt.Errorf("postgres: %w", err)
		}
	}
	left, err := migrate.Pending(all, schema)
	if err != nil {
		return found, fmt.Errorf("postgres: %w", err)
	}
	found.Pending = len(left)
	return found, nil
}

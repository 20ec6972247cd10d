package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/feedmill/feedmill/internal/store/migrate"
)

// Inspect reads the schema of a file without changing it, also while a server uses it. It
// returns how many migrations the next start applies.
func Inspect(ctx context.Context, file string) (pending int, err error) {
	all, err := migrate.Load(migrations)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite3", dsn(file, "mode", "ro", "_query_only", "1", "_journal_mode", ""))
	if err != nil {
		return 0, fmt.Errorf("sqlite: %w", err)
	}
	defer db.Close()
	var schema migrate.Schema
	if err := db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&schema.Version); err != nil {
		return 0, fmt.Errorf("sqlite: %s: %w", file, translate(err))
	}
	if schema.Version > len(all) {
		if err := db.QueryRowContext(ctx, `SELECT oldest FROM schema_support`).Scan(&schema.Oldest); err != nil {
			return 0, fmt.Errorf("sqlite: %s: %w", file, translate(err))
		}
	}
	left, err := migrate.Pending(all, schema)
	if err != nil {
		return 0, fmt.Errorf("sqlite: %s: %w", file, err)
	}
	return len(left), nil
}

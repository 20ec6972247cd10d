package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/feedmill/feedmill/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

func migrateUp(ctx context.Context, db *sql.DB) error {
	all, err := migrate.Load(migrations)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return translate(err)
	}
	defer tx.Rollback()
	var schema migrate.Schema
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&schema.Version); err != nil {
		return translate(err)
	}
	if schema.Version > len(all) {
		if err := tx.QueryRowContext(ctx, `SELECT oldest FROM schema_support`).Scan(&schema.Oldest); err != nil {
			return translate(err)
		}
	}
	pending, err := migrate.Pending(all, schema)
	if err != nil || len(pending) == 0 {
		return err
	}
	for _, m := range pending {
		if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
			return fmt.Errorf("migration %d (%s): %w", m.Number, m.Name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE schema_support SET oldest = ?`, migrate.PreviousRelease); err != nil {
		return translate(err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(all))); err != nil {
		return translate(err)
	}
	return translate(tx.Commit())
}

package postgres

import "context"

// Origin identifies the database. A copy of the database has another origin, and a standby
// that takes over has the same.
func (db *DB) Origin(ctx context.Context) (origin string, err error) {
	err = db.pool.QueryRow(ctx, `SELECT 'postgres:' || (SELECT system_identifier FROM pg_control_system()) || '/' || oid FROM pg_database WHERE datname = current_database()`).Scan(&origin)
	return origin, translate(err)
}

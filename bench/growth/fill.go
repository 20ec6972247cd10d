package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // drivers of the two stores
	_ "github.com/mattn/go-sqlite3"
)

// store writes to the store of a Feedmill that does not run.
type store struct {
	*sql.DB
	// series is a table of the numbers from 1 to one that is filled in, as i; hex is
	// 16 hexadecimal digits of i.
	series, hex string
	columns     string
	// settled are statements that the store would otherwise run during the measurement.
	settled []string
}

var (
	sqliteStore = store{
		series:  "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) SELECT i FROM n)",
		hex:     "printf('%016x', i)",
		columns: "SELECT name FROM pragma_table_info($1)",
		settled: []string{"ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"},
	}
	postgresStore = store{
		series:  "generate_series(1, %d) AS n(i)",
		hex:     "lpad(to_hex(i), 16, '0')",
		columns: "SELECT column_name FROM information_schema.columns WHERE table_name = $1 AND table_schema = current_schema() AND is_generated = 'NEVER'",
		settled: []string{"VACUUM (ANALYZE)", "CHECKPOINT"},
	}
)

// openStore opens the store of a sample whose server has stopped.
func openStore(s *sample) (db store, err error) {
	db, driver, at := sqliteStore, "sqlite3", "file:"+filepath.Join(s.mill.Folder, "feedmill.db")+"?_synchronous=off&_foreign_keys=off"
	if s.mill.Database != "" {
		db, driver, at = postgresStore, "pgx", s.mill.Database
	}
	if db.DB, err = sql.Open(driver, at); err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// fill multiplies the rows of a sample. Copies of subscriptions are older than those of
// the first page: what is sealed in them cannot be read, because it is sealed for an id.
func (db store) fill(ctx context.Context, s *sample, o options) error {
	feed := map[string]string{"id": db.id("id")}
	quiet := map[string]string{"id": db.id("id")}
	topic := map[string]string{"subscription_id": db.id("subscription_id")}
	steps := []func() error{
		func() error { return db.multiply(ctx, "feeds", "id = $1", s.feed, o.feeds, feed) },
		func() error {
			return db.multiply(ctx, "feed_versions", "feed_id = $1", s.feed, o.feeds, map[string]string{"feed_id": db.id("feed_id")})
		},
		func() error { return db.multiply(ctx, "subscriptions", "id = $1", s.quiet, o.subscriptions, quiet) },
		func() error {
			return db.multiply(ctx, "subscription_topics", "subscription_id = $1", s.quiet, o.subscriptions, topic)
		},
		func() error { return db.deliveries(ctx, s, o) },
		func() error { return db.versions(ctx, s, o) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// settle does what the store would otherwise do during the measurement.
func (db store) settle(ctx context.Context) error {
	for _, statement := range db.settled {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// id is another id of the same time, with the number i.
func (db store) id(column string) string {
	return fmt.Sprintf("substr(%[1]s, 1, length(%[1]s) - 16) || %[2]s", column, db.hex)
}

// multiply inserts copies of a row, with other values in some columns.
func (db store) multiply(ctx context.Context, table, where, id string, n int, other map[string]string) error {
	columns, err := db.columnsOf(ctx, table)
	if err != nil {
		return err
	}
	values := slices.Clone(columns)
	for i, column := range columns {
		if value, ok := other[column]; ok {
			values[i] = value
		}
	}
	for column := range maps.Keys(other) {
		if !slices.Contains(columns, column) {
			return fmt.Errorf("%s has no column %s", table, column)
		}
	}
	done, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM (SELECT * FROM %s WHERE %s LIMIT 1) t, %s",
		table, strings.Join(columns, ", "), strings.Join(values, ", "), table, where, fmt.Sprintf(db.series, n)), id)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	if rows, err := done.RowsAffected(); err != nil || rows != int64(n) {
		return fmt.Errorf("%s: %d rows of %d, %v", table, rows, n, err)
	}
	return nil
}

func (db store) columnsOf(ctx context.Context, table string) (names []string, err error) {
	rows, err := db.QueryContext(ctx, db.columns, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// deliveries fills the log of a subscription, all of one event. SQLite has all deliveries in one
// table, PostgreSQL those that have ended in another.
func (db store) deliveries(ctx context.Context, s *sample, o options) error {
	table, where := "deliveries", "subscription_id = $1 AND state = 3"
	if s.mill.Database != "" {
		table, where = "ended_deliveries", "subscription_id = $1 AND state = 'delivered'"
	}
	var last int64
	if err := db.QueryRowContext(ctx, "SELECT max(seq) FROM "+table).Scan(&last); err != nil {
		return err
	}
	other := map[string]string{"id": db.id("id"), "seq": fmt.Sprintf("%d + i", last)}
	if err := db.multiply(ctx, table, where, s.delivered, o.deliveries, other); err != nil || s.mill.Database == "" {
		return err
	}
	_, err := db.ExecContext(ctx, "SELECT setval('delivery_seq', $1)", last+int64(o.deliveries)+1)
	return err
}

// versions gives a feed more versions, which are older than the current one.
func (db store) versions(ctx context.Context, s *sample, o options) error {
	var last int
	if err := db.QueryRowContext(ctx, "SELECT version FROM feeds WHERE id = $1", s.versioned).Scan(&last); err != nil {
		return err
	}
	more := o.versions - last
	if more <= 0 {
		return nil
	}
	other := map[string]string{"number": fmt.Sprintf("%d + i", last)}
	if err := db.multiply(ctx, "feed_versions", fmt.Sprintf("feed_id = $1 AND number = %d", last), s.versioned, more, other); err != nil {
		return err
	}
	if err := db.multiply(ctx, "version_files", fmt.Sprintf("feed_id = $1 AND number = %d", last), s.versioned, more, other); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "UPDATE feeds SET version = $1 WHERE id = $2", o.versions, s.versioned)
	return err
}

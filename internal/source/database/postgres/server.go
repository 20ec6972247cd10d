package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// server is a database with its connections.
type server struct {
	database.Server
	temp string
	pool *pgxpool.Pool
}

// Close ends the connections.
func (s *server) Close() error {
	s.pool.Close()
	return nil
}

// Ping asks for nothing.
func (s *server) Ping(ctx context.Context) error {
	return s.read(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT 1")
		return err
	})
}

// read calls a function with a connection in a transaction that may only read and
// sees one state of the database.
func (s *server) read(ctx context.Context, fn func(*pgx.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return s.failure(ctx, err, "")
	}
	defer conn.Release()
	meterOf(conn.Conn()).restart(nil)
	begin := []string{
		"SET default_transaction_read_only = on",
		"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		"SET LOCAL statement_timeout = " + strconv.FormatInt(s.Timeout.Milliseconds(), 10),
		// A role or a database can have others, and they change the texts of values.
		"SET LOCAL timezone = 'UTC'",
		"SET LOCAL datestyle = 'ISO, YMD'",
		"SET LOCAL intervalstyle = 'iso_8601'",
		"SET LOCAL extra_float_digits = 1",
		"SET LOCAL standard_conforming_strings = on", // as the check of SQL of users expects
	}
	if err := exec(ctx, conn.Conn(), begin); err != nil {
		return s.failure(ctx, err, "")
	}
	err = fn(conn.Conn())
	// A connection that is still good is given back without its transaction, unless it holds
	// much memory; the pool closes the others.
	if !conn.Conn().IsClosed() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if failure := exec(end, conn.Conn(), []string{"ROLLBACK"}); failure != nil || meterOf(conn.Conn()).isSwollen() {
			_ = conn.Conn().Close(end)
		}
	}
	return err
}

// exec runs statements that have no parameters, in one round.
func exec(ctx context.Context, conn *pgx.Conn, statements []string) error {
	_, err := execAll(ctx, conn, statements)
	return err
}

// execAll is exec, and returns the results.
func execAll(ctx context.Context, conn *pgx.Conn, statements []string) ([]*pgconn.Result, error) {
	return conn.PgConn().Exec(ctx, strings.Join(statements, "; ")).ReadAll()
}

const selectViews = `
SELECT n.nspname, c.relname, n.nspname IS NOT DISTINCT FROM current_schema(), coalesce(obj_description(c.oid, 'pg_class'), ''), c.relkind::text, c.reltuples::int8,
       CASE WHEN c.relkind NOT IN ('r', 'm', 'p') OR c.reltuples > 0 OR (c.reltuples = 0 AND c.relpages > 0) THEN -1
            WHEN c.relkind = 'p' THEN (WITH RECURSIVE parts AS (SELECT inhrelid AS oid FROM pg_catalog.pg_inherits WHERE inhparent = c.oid UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN parts ON i.inhparent = parts.oid)
                                       SELECT coalesce(sum(pg_relation_size(oid)), 0)::int8 FROM parts)
            ELSE coalesce(pg_relation_size(c.oid), 0) END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
      AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname <> current_schema(), n.nspname COLLATE "C", c.relname COLLATE "C"`

var kinds = map[string]database.ViewKind{
	"r": database.KindTable, "p": database.KindTable, "v": database.KindView,
	"m": database.KindMaterializedView, "f": database.KindForeignTable,
}

// Views lists the tables and views of all schemas. Partitions are part of their table.
func (s *server) Views(ctx context.Context) ([]database.View, error) {
	var views []database.View
	var tables []unknown
	err := s.read(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, selectViews)
		if err != nil {
			return s.failure(ctx, err, "")
		}
		nr := 0
		views, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v database.View, err error) {
			var schema, name, kind string
			var isDefault bool
			bytes := int64(-1)
			err = row.Scan(&schema, &name, &isDefault, &v.Description, &kind, &v.RowEstimate, &bytes)
			if bytes >= 0 {
				tables = append(tables, unknown{schema, name, nr, bytes})
			}
			v.Name, v.Description = database.ViewName(schema, name, isDefault), s.Said(v.Description)
			v.Kind, v.Label = kinds[kind], database.FirstLine(v.Description)
			if kind == "v" {
				v.RowEstimate = -1 // nobody counts them
			}
			nr++
			return v, err
		})
		if err != nil {
			return s.failure(ctx, err, "")
		}
		return s.estimate(ctx, conn, views, tables)
	})
	return views, err
}

// Table describes a view.
func (s *server) Table(ctx context.Context, view string, rules feedmill.Rules) (database.Table, error) {
	t := &table{server: s}
	t.View, t.Rules = view, rules
	if !strings.Contains(view, "\x00") { // no name has that, and no parameter may
		err := s.read(ctx, func(conn *pgx.Conn) error { return t.describe(ctx, conn) })
		if err != nil {
			return nil, err
		}
	}
	if len(t.Found) > 0 {
		return t, nil
	}
	return nil, database.NotFound(ctx, s, view)
}

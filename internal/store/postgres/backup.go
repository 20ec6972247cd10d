package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/migrate"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Attach connects to the database of a store beside its servers. It does not change the schema,
// which must be that of this program.
func Attach(ctx context.Context, url string) (*DB, error) {
	db, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	all, err := migrate.Load(migrations)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	var version int
	err = translate(db.pool.QueryRow(ctx, `SELECT version FROM schema_version`).Scan(&version))
	if hasCode(err, undefinedTable) {
		err = errors.New("the database contains no store; check the URL, or run 'feedmill serve' once to create one")
	}
	if err == nil {
		err = migrate.Same(all, version)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), db.Close())
	}
	return db, nil
}

// sameTexts makes the texts of values independent of the settings of the role and the server.
const sameTexts = `SET LOCAL DateStyle = ISO; SET LOCAL IntervalStyle = postgres; SET LOCAL extra_float_digits = 3; SET LOCAL TimeZone = UTC; SET LOCAL search_path = `

// unsaved are tables whose rows a restored store creates itself: those of the schema, of running
// processes, of backups, and the counts that triggers maintain.
var unsaved = []string{"schema_version", "schema_support", "replicas", "slots", "processes", "process_points", "previews", "stage_parts", "permits", "rate_limits", "send_windows", "pins", "paused", "feed_counts"}

// withoutLog are the conditions for rows of the log of deliveries that are saved without that log.
var withoutLog = map[string]string{
	"ended_deliveries": `false`,
	"attempts":         `EXISTS (SELECT 1 FROM open_deliveries o WHERE o.id = delivery_id)`,
	"attempt_bodies":   `EXISTS (SELECT 1 FROM open_deliveries o WHERE o.id = delivery_id)`,
}

// savedTables are the tables of the schema with their columns. A table comes after those that it
// refers to.
const savedTables = `WITH RECURSIVE tables AS (
		SELECT c.oid, c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> ALL ($1)
	), depths AS (
		SELECT oid, 0 AS depth FROM tables
		UNION SELECT f.conrelid, d.depth + 1 FROM depths d JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = d.oid AND f.conrelid <> f.confrelid
	)
	SELECT t.relname::text, (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
		WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')
	FROM tables t JOIN depths d ON d.oid = t.oid GROUP BY t.oid, t.relname ORDER BY max(d.depth), t.relname`

// sequences returns the last values of the sequences of the schema. The columns of tables that are
// not saved can have others. Sequences are not part of a snapshot: their values are those of its
// records or later ones.
func sequences(ctx context.Context, t pgx.Tx) (map[string]int64, error) {
	rows, err := t.Query(ctx, `SELECT c.relname::text, COALESCE(pg_sequence_last_value(c.oid), 1) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'S'
		AND NOT EXISTS (SELECT 1 FROM pg_depend d JOIN pg_class r ON r.oid = d.refobjid WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i') AND r.relname = ANY ($1))`, unsaved)
	found := make(map[string]int64)
	_, err = all(rows, err, func(row record.Row) (name string, err error) {
		var last int64
		err = row.Scan(&name, &last)
		found[name] = last
		return name, err
	})
	return found, err
}

// Snapshot writes the records as they are at one moment, complete and consistent, while servers
// change them. Finished deliveries are included with log.
func (db *DB) Snapshot(ctx context.Context, _ string, log bool, to io.Writer) (s feedmill.Snapshot, err error) {
	err = pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(t pgx.Tx) error {
		s, err = snapshot(ctx, t, log, newRecordWriter(to))
		return err
	})
	return s, translate(err)
}

func snapshot(ctx context.Context, t pgx.Tx, log bool, to *recordWriter) (s feedmill.Snapshot, err error) {
	var schema string
	if err := t.QueryRow(ctx, `SELECT quote_ident(current_schema())`).Scan(&schema); err != nil {
		return s, err
	}
	if _, err := t.Exec(ctx, noLimitsInside+`; `+sameTexts+schema); err != nil {
		return s, err
	}
	s.Engine = feedmill.EnginePostgres
	head := savedHead{}
	if err := t.QueryRow(ctx, `SELECT version FROM schema_version`).Scan(&s.Schema); err != nil {
		return s, err
	}
	rows, err := t.Query(ctx, savedTables, unsaved)
	tables, err := all(rows, err, func(row record.Row) (v savedTable, err error) { return v, row.Scan(&v.Table, &v.Columns) })
	if err != nil {
		return s, err
	}
	names := make([]string, len(tables))
	for i, table := range tables {
		names[i] = pgx.Identifier{table.Table}.Sanitize()
	}
	// Pruning cannot drop the partitions of a day before they are written.
	if _, err := t.Exec(ctx, `LOCK TABLE `+strings.Join(names, ", ")+` IN ACCESS SHARE MODE`); err != nil {
		return s, err
	}
	if head.Sequences, err = sequences(ctx, t); err != nil {
		return s, err
	}
	rows, err = t.Query(ctx, `SELECT day FROM partition_days ORDER BY day`)
	if head.Days, err = all(rows, err, scanDay); err != nil {
		return s, err
	}
	if err := to.head(head); err != nil {
		return s, err
	}
	for _, table := range tables {
		query := `SELECT ` + table.columns() + ` FROM ` + pgx.Identifier{table.Table}.Sanitize()
		if only := withoutLog[table.Table]; only != "" && !log {
			query += ` WHERE ` + only
		}
		if err := to.begin(table); err != nil {
			return s, err
		}
		if _, err := t.Conn().PgConn().CopyTo(ctx, to, `COPY (`+query+`) TO STDOUT`); err != nil {
			return s, err
		}
		if err := to.end(); err != nil {
			return s, err
		}
	}
	store := record.NewStore(engine{reader{t}, nil}, dialect)
	if s.Keyset, err = store.VaultKeyset(ctx); err != nil {
		return s, err
	}
	s.Files, err = store.AllKeptFiles(ctx)
	return s, errors.Join(err, to.close())
}

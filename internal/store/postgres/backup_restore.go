package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/store/migrate"
)

// Restoring is an empty database that gets the records of a backup.
type Restoring struct{ db *DB }

// OpenEmpty connects to a database for a restore. A database that has tables is refused.
func OpenEmpty(ctx context.Context, url string) (*Restoring, error) {
	db, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	var tables int
	err = db.pool.QueryRow(ctx, `SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')`).Scan(&tables)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", translate(err)), db.Close())
	}
	if tables > 0 {
		return nil, errors.Join(fmt.Errorf("postgres: the database is not empty: its schema has %d tables or other relations; restore into an empty database", tables), db.Close())
	}
	return &Restoring{db}, nil
}

// Origin identifies the database.
func (r *Restoring) Origin(ctx context.Context) (string, error) { return r.db.Origin(ctx) }

// Close ends the connections.
func (r *Restoring) Close() error { return r.db.Close() }

// Restore writes the records of a backup and makes a store with a new id of them, all in one
// transaction. read passes the records to a function; its error undoes everything.
func (r *Restoring) Restore(ctx context.Context, schema int, read func(load func(io.Reader) error) error, id, backup string) error {
	all, err := migrate.Load(migrations)
	if err != nil {
		return err
	}
	if schema > len(all) {
		return fmt.Errorf("%w: the backup has schema version %d, but this program has version %d; restore it with the program that created it", migrate.ErrNewer, schema, len(all))
	}
	err = pgx.BeginFunc(ctx, r.db.pool, func(t pgx.Tx) error {
		var own string
		if err := t.QueryRow(ctx, `SELECT quote_ident(current_schema())`).Scan(&own); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, noLimitsInside+`; `+sameTexts+own+`; `+versionRow); err != nil {
			return err
		}
		if err := migrateTo(ctx, t, all, 0, schema); err != nil {
			return err
		}
		if err := read(func(from io.Reader) error { return load(ctx, t, newRecordReader(from)) }); err != nil {
			return err
		}
		if err := migrateTo(ctx, t, all, schema, len(all)); err != nil {
			return err
		}
		return r.db.Restored(ctx, recordTx{reader{t}, tx{t}}, id, backup)
	})
	if err != nil {
		return fmt.Errorf("postgres: %w", translate(err))
	}
	return nil
}

// migrateTo applies the migrations after a version up to another.
func migrateTo(ctx context.Context, t pgx.Tx, all []migrate.Migration, from, to int) error {
	pending, err := migrate.Pending(all[:to], migrate.Schema{Version: from})
	if err != nil {
		return err
	}
	for _, m := range pending {
		if _, err := t.Exec(ctx, m.SQL); err != nil {
			return fmt.Errorf("migration %d (%s): %w", m.Number, m.Name, err)
		}
	}
	_, err = t.Exec(ctx, `UPDATE schema_version SET version = $1`, to)
	if err == nil && to == len(all) {
		_, err = t.Exec(ctx, `UPDATE schema_support SET oldest = $1`, migrate.PreviousRelease)
	}
	return err
}

// load writes rows into the tables of a schema that was just created.
func load(ctx context.Context, t pgx.Tx, from *recordReader) error {
	var head savedHead
	if err := from.line(&head); err != nil {
		return err
	}
	if len(head.Days) > 0 {
		var statements strings.Builder
		for _, day := range head.Days {
			writePartitions(&statements, day)
		}
		if _, err := t.Exec(ctx, statements.String()); err != nil {
			return err
		}
	}
	if err := continueSequences(ctx, t, head.Sequences); err != nil {
		return err
	}
	for {
		table, err := from.begin()
		if err != nil {
			return err
		}
		if table.Table == "" {
			return nil
		}
		into := pgx.Identifier{table.Table}.Sanitize() + ` (` + table.columns() + `)`
		if _, err := t.Conn().PgConn().CopyFrom(ctx, from, `COPY `+into+` FROM STDIN`); err != nil {
			return fmt.Errorf("table %s: %w", table.Table, err)
		}
	}
}

// continueSequences sets the sequences of the schema to their saved values. All of them are needed:
// one that began again would number new records before those of the backup.
func continueSequences(ctx context.Context, t pgx.Tx, saved map[string]int64) error {
	own, err := sequences(ctx, t)
	if err != nil {
		return err
	}
	for name := range own {
		last, ok := saved[name]
		if !ok {
			return fmt.Errorf("read the records: sequence %s has no value; create another backup", name)
		}
		if _, err := t.Exec(ctx, `SELECT setval($1::regclass, $2)`, pgx.Identifier{name}.Sanitize(), last); err != nil {
			return err
		}
	}
	return nil
}

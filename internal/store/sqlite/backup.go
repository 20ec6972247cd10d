package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/migrate"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Attach opens the file of a store that another process may use. It does not change the schema,
// which must be that of this program, and takes over no leases.
func Attach(ctx context.Context, file string) (*DB, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	writes, err := sql.Open("sqlite3", dsn(file, "_txlock", "immediate"))
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	reads, err := sql.Open("sqlite3", dsn(file, "_query_only", "1"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %w", err), writes.Close())
	}
	db := &DB{
		options: feedmill.StoreOptions{}.WithDefaults(), file: file, reads: reads, writes: writes, dueReaders: make(chan *direct),
		queue: make(chan *change, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	db.Store = record.NewStore(engine{db}, dialect)
	err = checkSchema(ctx, reads)
	var writer, checkpoints *direct
	if err == nil {
		writer, err = newDirect(ctx, writes)
	}
	if err == nil {
		if checkpoints, err = newDirect(ctx, writes); err != nil {
			writer.close()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %s: %w", file, err), db.closeConnections())
	}
	writer.watchWAL()
	go db.runWriter(writer, newCheckpointer(checkpoints, file))
	return db, nil
}

// checkSchema holds that a file has the schema of this program.
func checkSchema(ctx context.Context, db *sql.DB) error {
	all, err := migrate.Load(migrations)
	if err != nil {
		return err
	}
	var version int
	if err := db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return translate(err)
	}
	return migrate.Same(all, version)
}

// Snapshot writes a copy of the records as they are at one moment, complete and consistent, while
// another process changes them. It needs a folder for the copy. The log of deliveries is always
// included.
func (db *DB) Snapshot(ctx context.Context, folder string, _ bool, to io.Writer) (s feedmill.Snapshot, err error) {
	file := filepath.Join(folder, "records.db")
	from, err := sql.Open("sqlite3", dsn(db.file))
	if err != nil {
		return s, fmt.Errorf("sqlite: %w", err)
	}
	_, err = from.ExecContext(ctx, `VACUUM INTO ?`, file)
	if err = errors.Join(translate(err), from.Close()); err != nil {
		return s, fmt.Errorf("sqlite: copy the records: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	if s, err = describe(ctx, file); err != nil {
		return s, err
	}
	copied, err := os.Open(file)
	if err != nil {
		return s, fmt.Errorf("sqlite: %w", err)
	}
	defer copied.Close()
	_, err = io.Copy(to, copied)
	return s, err
}

// describe describes the records in a file that nobody changes.
func describe(ctx context.Context, file string) (s feedmill.Snapshot, err error) {
	copied := &DB{file: file}
	if copied.reads, err = sql.Open("sqlite3", "file:"+file+"?mode=ro&immutable=1"); err != nil {
		return s, fmt.Errorf("sqlite: %w", err)
	}
	defer func() { err = errors.Join(err, copied.reads.Close()) }()
	store := record.NewStore(engine{copied}, dialect)
	s.Engine = feedmill.EngineSQLite
	if err := copied.reads.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&s.Schema); err != nil {
		return s, translate(err)
	}
	if s.Keyset, err = store.VaultKeyset(ctx); err != nil {
		return s, err
	}
	s.Files, err = store.AllKeptFiles(ctx)
	return s, err
}

// Restore writes the records of a backup to a file and makes a store with a new id of them. The
// file is complete when Restore returns.
func Restore(ctx context.Context, file string, from io.Reader, id, backup string) (err error) {
	// A journal that an interrupted restore has left would be applied to the new file.
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("sqlite: %w", err)
		}
	}
	written, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	_, err = io.Copy(written, from)
	if err = errors.Join(err, written.Sync(), written.Close()); err != nil {
		return fmt.Errorf("sqlite: write the records: %w", err)
	}
	db, err := Open(ctx, file, feedmill.StoreOptions{})
	if err != nil {
		return err
	}
	err = db.write(ctx, func(tx *tx) error { return db.Restored(ctx, recordTx{tx}, id, backup) })
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	// Closing has moved the WAL to the file.
	if _, err := os.Stat(file + "-wal"); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("sqlite: the log of %s was not written to the file: %w", file, err)
	}
	return nil
}

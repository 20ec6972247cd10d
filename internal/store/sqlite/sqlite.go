// Package sqlite keeps the records of the service in one SQLite file.
//
// The file is opened twice: by one writing connection, behind which all
// changes queue up and share commits (see [DB.write]), and by a pool of
// read-only connections that never wait for it, because the file is in WAL
// mode. A commit is on disk when it returns (synchronous=FULL). The package
// stores what it is told and decides nothing; its contract is the suite in
// internal/store/storetest.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dueReaderCount is how many reads of due deliveries are under way at once.
const dueReaderCount = 2

// DB is an open store. Its methods may be called from any goroutine.
type DB struct {
	record.Store
	reads      *sql.DB
	writes     *sql.DB
	dueReaders chan *direct // connections of Due's own

	queue   chan *change
	stop    chan struct{} // closed to end the writer
	stopped chan struct{} // closed when it has ended

	pruning pruning

	options feedmill.StoreOptions

	file  string
	stmts sync.Map // SQL text → *sql.Stmt of reads
}

// Open opens the file, makes it if need be, and brings its schema up to date.
func Open(ctx context.Context, file string, o feedmill.StoreOptions) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	// The file is made here so that only its owner can read it.
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	f.Close()

	writes, err := sql.Open("sqlite3", dsn(file, "_txlock", "immediate", "_cache_size", "-8000"))
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	writes.SetMaxOpenConns(2) // the writer, and its checkpointer
	if err := migrateUp(ctx, writes); err != nil {
		writes.Close()
		return nil, fmt.Errorf("sqlite: %s: %w", file, err)
	}
	reads, err := sql.Open("sqlite3", dsn(file, "_query_only", "1", "_cache_size", "-2000"))
	if err != nil {
		writes.Close()
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	shared := max(4, 2*runtime.GOMAXPROCS(0))
	reads.SetMaxOpenConns(shared + dueReaderCount)
	reads.SetMaxIdleConns(shared + dueReaderCount)

	db := &DB{
		options: o.WithDefaults(), file: file, reads: reads, writes: writes, dueReaders: make(chan *direct, dueReaderCount),
		queue: make(chan *change, 1024), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	db.Store = record.NewStore(engine{db}, dialect)
	writer, checkpoints, err := db.openConnections(ctx)
	if err != nil {
		db.closeConnections()
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	go db.runWriter(writer, checkpoints)
	return db, nil
}

// openConnections makes the file and its connections ready and returns those
// that write.
func (db *DB) openConnections(ctx context.Context) (writer *direct, checkpoints *checkpointer, err error) {
	for range dueReaderCount {
		reader, err := newDirect(ctx, db.reads)
		if err != nil {
			return nil, nil, err
		}
		db.dueReaders <- reader
	}
	if err := db.continueIDs(ctx); err != nil {
		return nil, nil, err
	}
	if writer, err = newDirect(ctx, db.writes); err != nil {
		return nil, nil, err
	}
	writer.watchWAL()
	// A WAL that has grown long is cut when it begins anew.
	if _, err := writer.exec(fmt.Sprintf(`PRAGMA journal_size_limit = %d`, maxKeptWAL)); err != nil {
		writer.close()
		return nil, nil, err
	}
	// A file has one process: who had a lease when it was opened is gone.
	if _, err := writer.exec(`UPDATE sources SET leased_until = NULL WHERE leased_until IS NOT NULL`); err != nil {
		writer.close()
		return nil, nil, err
	}
	connection, err := newDirect(ctx, db.writes)
	if err != nil {
		writer.close()
		return nil, nil, err
	}
	return writer, newCheckpointer(connection, db.file), nil
}

// closeConnections closes what nobody uses any more.
func (db *DB) closeConnections() error {
	for len(db.dueReaders) > 0 {
		(<-db.dueReaders).close()
	}
	return errors.Join(db.reads.Close(), db.writes.Close())
}

// continueIDs makes new ids sort behind those that the file has, also where the
// clock was set back since: deliveries are listed by them, and promises are compared
// with the topics of subscriptions.
func (db *DB) continueIDs(ctx context.Context) error {
	for _, newest := range []string{
		`SELECT id FROM deliveries ORDER BY seq DESC LIMIT 1`,
		`SELECT id FROM events ORDER BY seq DESC LIMIT 1`,
		`SELECT id FROM subscriptions ORDER BY id DESC LIMIT 1`,
		`SELECT id FROM newest_moment WHERE one = 1`,
	} {
		var id feedmill.ID
		err := translate(db.row(ctx, newest).Scan(&id))
		if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return err
		}
		feedmill.ContinueIDs(id)
	}
	return nil
}

// dsn names the file, with settings of the connection's own. A reading one has
// little use for a large cache: every commit of the writing one empties it.
func dsn(file string, own ...string) string {
	q := url.Values{
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_busy_timeout": {"5000"},
		"_foreign_keys": {"1"},
		"_mutex":        {"no"}, // database/sql sees to it that a connection has one user
	}
	for setting := range slices.Chunk(own, 2) {
		q.Set(setting[0], setting[1])
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// Close waits for the changes under way and closes the file.
func (db *DB) Close() error {
	close(db.stop)
	<-db.stopped
	return db.closeConnections()
}

// Place says what keeps the records, and where.
func (db *DB) Place(context.Context) (feedmill.StorePlace, error) {
	version, _, _ := sqlite3.Version()
	return feedmill.StorePlace{Engine: "SQLite " + version, Where: db.file}, nil
}

// Ping reports whether the store answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return translate(db.row(ctx, `SELECT 1`).Scan(&one))
}

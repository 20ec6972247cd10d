package lake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query/sqlite"
)

// SQLite reads SQLite files of users, as [Databases] does those of
// DuckDB.
type SQLite struct{ pool *Pool }

// NewSQLite makes readers of files whose processes are a pool's.
func NewSQLite(p *Pool) SQLite { return SQLite{p} }

// Select runs a statement on a file and calls a function for every row. The cells are
// gone when it returns. An error of SQLite is a [*sqlite.Error].
func (d SQLite) Select(ctx context.Context, path string, s sqlite.Statement, row func([]sqlite.Cell) error) error {
	request := wire.Request{SQL: s.SQL, Args: s.Args, Declared: s.Declared, Describe: s.Describe, Format: wire.FormatCells}
	out := &cellWriter{row: row}
	_, err := d.pool.run(ctx, d.pool.databases, sqliteFile(path), request, out)
	if failure, ok := errors.AsType[*wire.Failure](err); ok {
		return &sqlite.Error{Code: failure.Code, Message: failure.Message, Large: failure.Large}
	}
	if err == nil && len(out.pending) > 0 {
		return fmt.Errorf("the rows end with %d bytes of another one", len(out.pending))
	}
	return err
}

// sqliteFile is a file of SQLite.
func sqliteFile(path string) *databaseFile {
	log, index := path+"-wal", path+"-shm"
	if usesLog(path) {
		// Every connection to such a database needs both files. A worker can create none.
		for _, name := range []string{log, index} {
			createBeside(path, name)
		}
	}
	return newDatabaseFile(wire.EngineSQLite, path, map[string]string{cageDatabaseLog: log, cageDatabaseIndex: index, cageDatabaseJournal: path + "-journal"})
}

// usesLog reports whether a database is in the WAL mode.
func usesLog(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // opening it will say so
	}
	defer file.Close()
	var head [20]byte
	_, err = file.ReadAt(head[:], 0)
	return err == nil && bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")) && head[18] == 2
}

// createBeside creates an empty file with the owner and the rights of a database, as
// SQLite does. Where it cannot, opening the database will say so.
func createBeside(database, name string) {
	info, err := os.Stat(database)
	if err != nil {
		return
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return
	}
	defer file.Close()
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// cellWriter takes rows as [wire.FormatCells] has them.
type cellWriter struct {
	row func([]sqlite.Cell) error
	// begun says that the number of columns is known.
	begun   bool
	cells   []sqlite.Cell
	pending []byte // of a row that is not complete
}

const (
	countBytes = 8
	// maxColumns is how many columns a result of SQLite can have.
	maxColumns = 32_767
	// keepPending is how much memory is kept for the next row that arrives in parts.
	keepPending = 1 << 20
)

// Write takes the next bytes.
func (w *cellWriter) Write(data []byte) (int, error) {
	from := data
	if len(w.pending) > 0 {
		w.pending = append(w.pending, data...)
		from = w.pending
	}
	rest, atLeast, err := w.rows(from)
	if err != nil {
		return 0, err
	}
	if cap(w.pending) > keepPending && len(rest) < keepPending {
		w.pending = nil
	}
	w.pending = append(w.pending[:0], rest...)
	w.pending = slices.Grow(w.pending, max(atLeast-len(w.pending), 0))
	return len(data), nil
}

// rows calls the function for all complete rows. It returns what is behind them, and how
// long that must become at least.
func (w *cellWriter) rows(from []byte) (rest []byte, atLeast int, err error) {
	if !w.begun {
		if len(from) < countBytes {
			return from, countBytes, nil
		}
		count := binary.NativeEndian.Uint64(from)
		if count > maxColumns {
			return nil, 0, fmt.Errorf("a result of %d columns", count)
		}
		w.begun, w.cells, from = true, make([]sqlite.Cell, count), from[countBytes:]
	}
	for len(from) > 0 {
		read, atLeast, err := sqlite.ReadRow(from, w.cells)
		if err != nil || read == 0 {
			return from, atLeast, err
		}
		if err := w.row(w.cells); err != nil {
			return nil, 0, err
		}
		from = from[read:]
	}
	return nil, 0, nil
}

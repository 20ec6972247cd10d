// Package sqlite reads a file of SQLite inside a worker process.
//
// The file is opened to be read only, for one statement at a time, and no statement
// can attach another one. The memory of the library is limited, and what is sorted or
// grouped goes to the folder that SQLITE_TMPDIR names.
package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"sync"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/lake/wire"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
)

// goMemory is what the collector of the worker aims to stay below: the values that
// functions of the dialect are called with pass through it.
const goMemory = 32 << 20

// File is a file of SQLite.
type File struct{ address string }

// Open makes ready to read the file at a path. The library may hold so many bytes of
// memory.
func Open(path string, memory int64) *File {
	learnHandles()
	limitHeap(memory)
	debug.SetMemoryLimit(goMemory)
	return &File{address: "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_query_only=true&_busy_timeout=5000"}
}

// Select runs a statement and passes its rows to send, in the form that
// [dialect.ReadRow] reads, after the number of columns in eight bytes. An error of
// SQLite is a [*wire.Failure].
func (f *File) Select(request wire.Request, send func([]byte) error) (rows int64, err error) {
	opened, err := (&sqlite3.SQLiteDriver{ConnectHook: prepare}).Open(f.address)
	if err != nil {
		return 0, failure(err)
	}
	conn := opened.(*sqlite3.SQLiteConn)
	defer conn.Close()
	if request.Describe {
		return describe(conn, request, send)
	}
	if len(request.Declared) > 0 {
		return 1, countDoubts(conn, request, send)
	}
	return many(conn, request, send)
}

// prepare makes a connection ready: nothing else can be opened by it, what a
// schema brings along is not trusted, the functions of the dialect are there, and no
// statement is compiled that does anything but read.
func prepare(conn *sqlite3.SQLiteConn) error {
	conn.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	conn.SetLimit(sqlite3.SQLITE_LIMIT_LENGTH, dialect.MaxRow)
	if _, err := conn.Exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = FILE", nil); err != nil {
		return err
	}
	if err := Register(conn); err != nil {
		return err
	}
	conn.RegisterAuthorizer(func(op int, first, _, _ string) int { return MayOnlyRead(op, first) })
	return nil
}

// recursive is the code of a common table expression that refers to itself, as views
// have them.
const recursive = 33

// MayOnlyRead is the authorizer of SQLite: it lets statements select, and ask what
// there is.
func MayOnlyRead(op int, first string) int {
	switch op {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, recursive:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_PRAGMA:
		switch first {
		case "table_list", "table_info", "table_xinfo", "foreign_key_list", "encoding", "data_version":
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_DENY
}

// failure is an error of the driver as it is sent.
func failure(err error) error {
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return err
	}
	return &wire.Failure{Message: e.Error(), Code: int(e.Code), Memory: e.Code == sqlite3.ErrNomem}
}

// handleOf is the handle of a connection, as a number.
func handleOf(conn *sqlite3.SQLiteConn) (int64, error) {
	rows, err := conn.Query("SELECT rows_handle()", nil)
	if err != nil {
		return 0, failure(err)
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return 0, failure(err)
	}
	handle, ok := row[0].(int64)
	if !ok {
		return 0, fmt.Errorf("the handle of a connection is %T", row[0])
	}
	return handle, nil
}

// learnHandles has connections know their handles, from the first file on: what is set
// for the whole library has to be set before.
var learnHandles = sync.OnceFunc(initHandles)

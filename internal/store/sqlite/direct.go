package sqlite

/*
#cgo noescape direct_run
#cgo noescape direct_bind
#cgo noescape direct_rows
#cgo noescape direct_reset
#include <stdlib.h>
#include "direct.h"
*/
import "C"

import (
	"context"
	"database/sql"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/mattn/go-sqlite3"
)

// init sets what can only be set before the library is first used: that it need
// not count its memory, which takes a lock for every allocation.
func init() { C.direct_init() }

// direct runs statements on a connection of the driver's without the driver and
// database/sql, both of which cross over into C for every single value: that
// costs more than what SQLite itself does for an event and its delivery. Here
// the values of a statement, or of many runs of it, cross over at once.
//
// It has the connection to itself, and so is for one goroutine at a time.
type direct struct {
	conn   *sql.Conn
	db     *C.sqlite3 // of conn
	stmts  map[string]*C.sqlite3_stmt
	result C.direct_result
	// walFrames is C's, NULL where nobody counts them.
	walFrames *C.int
	one       values // of exec and insert
	rows      []byte // of each
}

// newDirect takes a connection for itself.
func newDirect(ctx context.Context, pool *sql.DB) (*direct, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, translate(err)
	}
	var handle int64
	if err := conn.QueryRowContext(ctx, `SELECT direct_handle()`).Scan(&handle); err != nil {
		conn.Close()
		return nil, translate(err)
	}
	return &direct{conn: conn, db: pointer(handle), stmts: make(map[string]*C.sqlite3_stmt)}, nil
}

// pointer is the handle that SQL has for a number. It points to what C has.
func pointer(handle int64) *C.sqlite3 { return *(**C.sqlite3)(unsafe.Pointer(&handle)) }

func (d *direct) close() {
	for _, s := range d.stmts {
		C.direct_finish(s)
	}
	if d.walFrames != nil {
		C.direct_watch_wal(d.db, nil)
		C.free(unsafe.Pointer(d.walFrames))
	}
	d.conn.Close()
}

// watchWAL makes frames count. From then on nothing writes the WAL to the file
// but who is asked to.
func (d *direct) watchWAL() {
	d.walFrames = (*C.int)(C.calloc(1, C.sizeof_int))
	C.direct_watch_wal(d.db, d.walFrames)
}

// frames is how long the WAL was after the last commit.
func (d *direct) frames() int { return int(*d.walFrames) }

// inTransaction reports whether a transaction is open.
func (d *direct) inTransaction() bool { return C.direct_autocommit(d.db) == 0 }

func (d *direct) prepared(query string) (*C.sqlite3_stmt, error) {
	if s, ok := d.stmts[query]; ok {
		return s, nil
	}
	var s *C.sqlite3_stmt
	text := []byte(query)
	if C.direct_prepare(d.db, (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), C.int(len(text)), &s) != 0 {
		return nil, translate(fmt.Errorf("prepare: %w", d.err()))
	}
	d.stmts[query] = s
	return s, nil
}

// run runs a statement so many times with the values that come next. changed,
// where it is not nil, has room for whether each time changed a row.
func (d *direct) run(query string, v *values, times int, changed []bool) error {
	s, err := d.prepared(query)
	if err != nil {
		return err
	}
	code := C.direct_run(d.db, s, v.rest(), C.int(times), (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(changed))), &d.result)
	if code != 0 {
		return translate(d.err())
	}
	v.at += int(d.result.used)
	return nil
}

// exec runs a statement and returns how many rows it changed. It takes no
// context: a statement on the writing connection is never interrupted, since
// other changes share its transaction.
func (d *direct) exec(query string, args ...any) (int64, error) {
	if err := d.one.set(args); err != nil {
		return 0, err
	}
	err := d.run(query, &d.one, 1, nil)
	return int64(d.result.changes), err
}

// insert inserts one row and returns the number that it got.
func (d *direct) insert(query string, args ...any) (int64, error) {
	if err := d.one.set(args); err != nil {
		return 0, err
	}
	err := d.run(query, &d.one, 1, nil)
	return int64(d.result.last), err
}

// firstRoom is the room for rows to begin with.
const firstRowsRoom = 64 << 10

// each gives every row of a query to scan, in the order of its columns.
func (d *direct) each(query string, args []any, scan func(*row)) error {
	return d.eachUntil(query, args, func(r *row) bool {
		scan(r)
		return false
	})
}

// eachUntil does the same until scan has had enough.
func (d *direct) eachUntil(query string, args []any, scan func(*row) bool) error {
	s, err := d.prepared(query)
	if err != nil {
		return err
	}
	if err := d.one.set(args); err != nil {
		return err
	}
	if C.direct_bind(s, d.one.rest()) != 0 {
		return translate(d.err())
	}
	if d.rows == nil {
		d.rows = make([]byte, firstRowsRoom)
	}
	for again := C.int(0); ; again = 1 {
		code := C.direct_rows(s, again, (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(d.rows))), C.size_t(len(d.rows)), &d.result)
		if code != C.DIRECT_MORE && code != C.DIRECT_END {
			return translate(d.err())
		}
		used := int(d.result.used)
		for r := (row{d.rows[:used]}); len(r.rest) > 0; {
			if scan(&r) {
				C.direct_reset(s) // else what it reads stays open
				return nil
			}
		}
		if code == C.DIRECT_END {
			return nil
		}
		if used == 0 {
			d.rows = make([]byte, 2*len(d.rows))
		}
	}
}

// err is what went wrong last, as the driver would say it.
func (d *direct) err() error {
	var code, extended, errnum C.int
	message := C.GoString(C.direct_error(d.db, &code, &extended, &errnum))
	e := sqlite3.Error{Code: sqlite3.ErrNo(code & 0xff), ExtendedCode: sqlite3.ErrNoExtended(extended)}
	if e.Code == sqlite3.ErrCantOpen || e.Code == sqlite3.ErrIoErr {
		e.SystemErrno = syscall.Errno(errnum)
	}
	return fmt.Errorf("%s: %w", message, e)
}

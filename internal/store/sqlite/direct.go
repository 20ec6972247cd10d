package sqlite

/*
#cgo noescape direct_run
#cgo noescape direct_bind
#cgo noescape direct_rows
#include <stdlib.h>
#include "direct.h"
*/
import "C"

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
)

// init sets what can only be set before the library is first used. It need not
// count its memory, which takes a lock for every allocation. And the C library
// need not give memory back to the system that is wanted again a moment later:
// a reading connection lets go of its pages with every commit of the writing
// one, and the page faults cost more than the reads.
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

// exec runs a statement and answers how many rows it changed. It takes no
// context: a statement on the writing connection is never interrupted, since
// other changes share its transaction.
func (d *direct) exec(query string, args ...any) (int64, error) {
	if err := d.one.set(args); err != nil {
		return 0, err
	}
	err := d.run(query, &d.one, 1, nil)
	return int64(d.result.changes), err
}

// insert inserts one row and answers the number that it got.
func (d *direct) insert(query string, args ...any) (int64, error) {
	if err := d.one.set(args); err != nil {
		return 0, err
	}
	err := d.run(query, &d.one, 1, nil)
	return int64(d.result.last), err
}

// firstRoom is the room for rows to begin with.
const firstRoom = 64 << 10

// each gives every row of a query to scan, in the order of its columns.
func (d *direct) each(query string, args []any, scan func(*row)) error {
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
		d.rows = make([]byte, firstRoom)
	}
	for again := C.int(0); ; again = 1 {
		code := C.direct_rows(s, again, (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(d.rows))), C.size_t(len(d.rows)), &d.result)
		if code != C.DIRECT_MORE && code != C.DIRECT_END {
			return translate(d.err())
		}
		used := int(d.result.used)
		for r := (row{d.rows[:used]}); len(r.rest) > 0; {
			scan(&r)
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

// values are the values of parameters, as direct.h has them.
type values struct {
	packed []byte
	at     int // how far they are used
}

func (v *values) reset() { v.packed, v.at = v.packed[:0], 0 }

func (v *values) rest() *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(v.packed[v.at:])))
}

func (v *values) null() { v.packed = append(v.packed, C.VALUE_NULL) }

func (v *values) int(n int64) {
	v.packed = binary.NativeEndian.AppendUint64(append(v.packed, C.VALUE_INT), uint64(n))
}

func (v *values) text(s string) {
	v.packed = binary.NativeEndian.AppendUint32(append(v.packed, C.VALUE_TEXT), uint32(len(s)))
	v.packed = append(v.packed, s...)
}

// blob adds bytes; none at all are NULL.
func (v *values) blob(b []byte) {
	if b == nil {
		v.null()
		return
	}
	v.packed = binary.NativeEndian.AppendUint32(append(v.packed, C.VALUE_BLOB), uint32(len(b)))
	v.packed = append(v.packed, b...)
}

func (v *values) bool(b bool) {
	if b {
		v.int(1)
	} else {
		v.int(0)
	}
}

// nullInt adds a number that there may not be.
func (v *values) nullInt(n sql.NullInt64) {
	if n.Valid {
		v.int(n.Int64)
	} else {
		v.null()
	}
}

// set makes them the arguments of one run.
func (v *values) set(args []any) error {
	v.reset()
	for _, a := range args {
		if err := v.add(a); err != nil {
			return err
		}
	}
	return nil
}

func (v *values) add(a any) error {
	switch a := a.(type) {
	case nil:
		v.null()
	case string:
		v.text(a)
	case feedmill.ID:
		v.text(string(a))
	case []byte:
		v.blob(a)
	case int:
		v.int(int64(a))
	case int64:
		v.int(a)
	case bool:
		v.bool(a)
	case sql.NullInt64:
		v.nullInt(a)
	default:
		plain, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return err
		}
		switch plain.(type) {
		case nil, string, []byte, int64, bool:
			return v.add(plain)
		}
		return fmt.Errorf("a value of the type %T has no place in the store", a)
	}
	return nil
}

// row reads the columns of a row, each by the kind that it has.
type row struct{ rest []byte }

// int reads a number, zero where it is NULL.
func (r *row) int() int64 {
	switch r.kind() {
	case C.VALUE_NULL:
		return 0
	case C.VALUE_INT:
	default:
		panic("a column that is no number") // all tables are strict
	}
	n := binary.NativeEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return int64(n)
}

// text reads text, none where it is NULL. Where it is the same as like it is
// that, without memory of its own.
func (r *row) text(like string) string {
	b := r.bytes()
	if string(b) == like {
		return like
	}
	return string(b)
}

// blob reads bytes into memory of their own, none where they are NULL.
func (r *row) blob() []byte { return bytes.Clone(r.bytes()) }

// bytes are those of text or of a blob, until the next row.
func (r *row) bytes() []byte {
	if r.kind() == C.VALUE_NULL {
		return nil
	}
	n := 4 + binary.NativeEndian.Uint32(r.rest)
	b := r.rest[4:n]
	r.rest = r.rest[n:]
	return b
}

func (r *row) kind() byte {
	kind := r.rest[0]
	r.rest = r.rest[1:]
	return kind
}

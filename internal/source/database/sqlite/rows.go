package sqlite

/*
#cgo LDFLAGS: -lm
#include <stdlib.h>
#include "rows.h"
*/
import "C"

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
)

// learnHandles has connections know their handles, from the first file on: what is set
// for the whole library has to be set before.
var learnHandles = sync.OnceFunc(func() { C.rows_init() })

// The classes of values, as SQLite has them.
const (
	classInteger = 1 + iota
	classFloat
	classText
	classBlob
	classNull
)

// cell is a value of a row. Its text is gone with the next rows.
type cell struct {
	class byte
	n     int64
	f     float64
	text  []byte
}

// value is a cell as the driver has it.
func (c *cell) value() driver.Value {
	switch c.class {
	case classInteger:
		return c.n
	case classFloat:
		return c.f
	case classText:
		return string(c.text)
	case classBlob:
		return append([]byte{}, c.text...)
	}
	return nil
}

const (
	// rowsRoom is how many bytes of rows cross over from C at once, and maxRow how many
	// one row may have.
	rowsRoom = 256 << 10
	maxRow   = 64 << 20
)

const (
	stepRow  = 100
	stepDone = 101
)

// many runs a statement and calls a function for every row, as each does, with many
// rows a crossing into C: the driver crosses over several times for every value, which
// takes longer than what SQLite does for it. Cells are gone with the next call.
func many(ctx context.Context, conn *sqlite3.SQLiteConn, statement string, args []string, fn func([]cell) error) error {
	given := false
	return compiled(ctx, conn, statement, args, func(stmt *C.sqlite3_stmt) (int, bool, error) {
		r := rowsOf{stmt: stmt, buffer: make([]byte, rowsRoom), cells: make([]cell, int(C.rows_columns(stmt)))}
		for {
			rc := r.next()
			if err := r.each(fn, &given); err != nil {
				return rc, given, err
			}
			if rc != stepRow || ctx.Err() != nil {
				return rc, given, nil
			}
			if r.result.pending != 0 && r.result.need > maxRow {
				return rc, given, database.Fail(database.ProblemStatement, fmt.Sprintf("A row has more than %d MiB, which is the most. Leave the field out that is so large.", maxRow>>20), nil)
			}
		}
	})
}

// doubts counts the values of some columns that may not be what the columns are declared
// as, in one pass and without a crossing for each.
func doubts(ctx context.Context, conn *sqlite3.SQLiteConn, statement string, columns []*candidate) ([]int64, error) {
	kinds := map[columnar.Type]C.int{
		columnar.TypeInteger: C.KIND_INTEGER, columnar.TypeNumber: C.KIND_NUMBER, columnar.TypeBoolean: C.KIND_BOOLEAN,
		columnar.TypeDecimal: C.KIND_DECIMAL, columnar.TypeDate: C.KIND_DATE, columnar.TypeTimestamp: C.KIND_TIMESTAMP,
	}
	asked := make([]C.rows_column, len(columns))
	for i, c := range columns {
		asked[i] = C.rows_column{kind: kinds[c.kind], by: C.double(math.Pow10(c.scale)), most: C.double(math.Pow10(c.precision))}
	}
	err := compiled(ctx, conn, statement, nil, func(stmt *C.sqlite3_stmt) (int, bool, error) {
		return int(C.rows_doubts(stmt, &asked[0], C.int(len(asked)))), false, nil
	})
	counts := make([]int64, len(asked))
	for i := range asked {
		counts[i] = int64(asked[i].doubts)
	}
	return counts, err
}

// compiled compiles a statement and has it run. The function returns the last code of
// SQLite, and whether somebody has been given rows.
func compiled(ctx context.Context, conn *sqlite3.SQLiteConn, statement string, args []string, run func(*C.sqlite3_stmt) (code int, given bool, err error)) error {
	var db *C.sqlite3
	err := each(ctx, conn, "SELECT rows_handle()", nil, func(row []driver.Value) error {
		handle, _ := row[0].(int64)
		db = *(**C.sqlite3)(unsafe.Pointer(&handle))
		return nil
	})
	if err != nil {
		return err
	}
	stmt, rc := prepareRows(db, statement, args)
	defer C.rows_end(stmt)
	if rc != 0 {
		return said(ctx, conn, statement, args, int(rc))
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		C.rows_interrupt(db)
	})
	defer func() {
		if !stop() {
			<-interrupted // or it would be that of whoever uses the connection next
		}
	}()
	code, given, err := run(stmt)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case code == stepDone:
		return nil
	case given:
		return sqlite3.Error{Code: sqlite3.ErrNo(code & 0xff), ExtendedCode: sqlite3.ErrNoExtended(code)}
	}
	return said(ctx, conn, statement, args, code)
}

// said is the error of a statement in the words of SQLite, which the driver knows.
func said(ctx context.Context, conn *sqlite3.SQLiteConn, statement string, args []string, code int) error {
	err := each(ctx, conn, statement, args, func([]driver.Value) error { return errTimeout })
	if err == nil || errors.Is(err, errTimeout) { // it can be run now
		err = sqlite3.Error{Code: sqlite3.ErrNo(code & 0xff), ExtendedCode: sqlite3.ErrNoExtended(code)}
	}
	return err
}

func prepareRows(db *C.sqlite3, statement string, args []string) (stmt *C.sqlite3_stmt, rc C.int) {
	text := C.CString(statement)
	defer C.free(unsafe.Pointer(text))
	rc = C.rows_prepare(db, text, C.int(len(statement)), &stmt)
	for i, arg := range args {
		if rc == 0 {
			rc = C.rows_bind(stmt, C.int(i+1), (*C.char)(unsafe.Pointer(unsafe.StringData(arg))), C.int(len(arg)))
		}
	}
	return stmt, rc
}

// rowsOf are rows as they come from C.
type rowsOf struct {
	stmt   *C.sqlite3_stmt
	buffer []byte
	result C.rows_result
	cells  []cell
}

// next fetches rows. One that did not fit gets the room that it wants.
func (r *rowsOf) next() int {
	if r.result.pending != 0 && int(r.result.need) > len(r.buffer) && r.result.need <= maxRow {
		r.buffer = make([]byte, int(r.result.need)+rowsRoom)
	}
	return int(C.rows_next(r.stmt, (*C.uint8_t)(unsafe.Pointer(&r.buffer[0])), C.size_t(len(r.buffer)), &r.result))
}

// each goes through the rows that have come.
func (r *rowsOf) each(fn func([]cell) error, given *bool) error {
	at := r.buffer[:r.result.used]
	for range int(r.result.rows) {
		for i := range r.cells {
			at = r.cells[i].read(at)
		}
		*given = true
		if err := fn(r.cells); err != nil {
			return err
		}
	}
	return nil
}

// read reads a cell, and returns what is behind it.
func (c *cell) read(from []byte) []byte {
	c.class = from[0]
	from = from[1:]
	switch c.class {
	case classInteger:
		c.n = int64(binary.NativeEndian.Uint64(from))
		return from[8:]
	case classFloat:
		c.f = math.Float64frombits(binary.NativeEndian.Uint64(from))
		return from[8:]
	case classText, classBlob:
		n := binary.NativeEndian.Uint32(from)
		c.text = from[4 : 4+n]
		return from[4+n:]
	}
	return from
}

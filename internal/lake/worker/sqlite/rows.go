package sqlite

/*
#cgo LDFLAGS: -lm
#include <stdlib.h>
#include "rows.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
)

func initHandles() { C.rows_init() }

func limitHeap(bytes int64) { C.rows_limit_heap(C.int64_t(bytes)) }

// rowsRoom is how many bytes of rows cross over from C at once.
const rowsRoom = 256 << 10

const (
	stepRow  = 100
	stepDone = 101
)

// many runs a statement and sends its rows, with many rows a crossing into C: the
// driver crosses over several times for every value, which takes longer than what
// SQLite does for it.
func many(conn *sqlite3.SQLiteConn, request wire.Request, send func([]byte) error) (rows int64, err error) {
	return rows, compiled(conn, request, func(stmt *C.sqlite3_stmt) (code C.int, err error) {
		columns := int(C.rows_columns(stmt))
		if err := send(binary.NativeEndian.AppendUint64(nil, uint64(columns))); err != nil {
			return 0, err
		}
		buffer := make([]byte, rowsRoom)
		var result C.rows_result
		for {
			code := C.rows_next(stmt, (*C.uint8_t)(unsafe.Pointer(&buffer[0])), rowsRoom, &result)
			if result.used > 0 {
				if err := send(buffer[:result.used]); err != nil {
					return 0, err
				}
			}
			rows += int64(result.rows)
			if code != stepRow {
				return code, nil
			}
			// A row that alone is larger than the buffer comes to its beginning, and is
			// sent from the memory of the library.
			if result.pending != 0 && result.rows == 0 {
				if code, err := sendLarge(stmt, columns, rows+1, buffer[:0], send); code != 0 || err != nil {
					return code, err
				}
				result.pending = 0
				rows++
			}
		}
	})
}

// sendLarge sends the row that a statement stands at.
func sendLarge(stmt *C.sqlite3_stmt, columns int, row int64, buffer []byte, send func([]byte) error) (C.int, error) {
	size := 0
	for i := range columns {
		var v C.rows_value
		if code := C.rows_cell(stmt, C.int(i), &v); code != 0 {
			return code, nil
		}
		buffer = append(buffer, byte(v._type))
		switch v._type {
		case dialect.ClassInteger, dialect.ClassFloat:
			buffer = binary.NativeEndian.AppendUint64(buffer, uint64(v.bits))
		case dialect.ClassText, dialect.ClassBlob:
			if size += int(v.length); v.length > dialect.MaxCell {
				return 0, tooLarge(dialect.Large{Row: row, Column: i, Bytes: int(v.length)})
			}
			if size > dialect.MaxRow {
				return 0, tooLarge(dialect.Large{Row: row, Column: -1, Bytes: size})
			}
			buffer = binary.NativeEndian.AppendUint32(buffer, uint32(v.length))
			if len(buffer)+int(v.length) <= rowsRoom {
				buffer = append(buffer, unsafe.Slice((*byte)(v.data), v.length)...)
				break
			}
			if err := send(buffer); err != nil {
				return 0, err
			}
			buffer = buffer[:0]
			if err := send(unsafe.Slice((*byte)(v.data), v.length)); err != nil {
				return 0, err
			}
		}
		if len(buffer) > rowsRoom-16 {
			if err := send(buffer); err != nil {
				return 0, err
			}
			buffer = buffer[:0]
		}
	}
	return 0, send(buffer)
}

// tooLarge is the failure of a row or a value beyond the limits.
func tooLarge(l dialect.Large) error {
	return &wire.Failure{Message: "string or blob too big", Code: dialect.CodeTooBig, Large: &l}
}

var kinds = map[columnar.Type]C.int{
	columnar.TypeInteger: C.KIND_INTEGER, columnar.TypeNumber: C.KIND_NUMBER, columnar.TypeBoolean: C.KIND_BOOLEAN,
	columnar.TypeDecimal: C.KIND_DECIMAL, columnar.TypeDate: C.KIND_DATE, columnar.TypeTimestamp: C.KIND_TIMESTAMP,
}

// countDoubts counts the values of some columns that may not be what the columns are
// declared as, in one pass and without a crossing for each.
func countDoubts(conn *sqlite3.SQLiteConn, request wire.Request, send func([]byte) error) error {
	asked := make([]C.rows_column, len(request.Declared))
	for i, d := range request.Declared {
		asked[i] = C.rows_column{kind: kinds[d.Type], by: C.double(math.Pow10(d.Scale)), most: C.double(math.Pow10(d.Precision))}
	}
	err := compiled(conn, request, func(stmt *C.sqlite3_stmt) (C.int, error) {
		if n := int(C.rows_columns(stmt)); n != len(asked) {
			return 0, fmt.Errorf("%d declarations for %d columns", len(asked), n)
		}
		return C.rows_doubts(stmt, &asked[0], C.int(len(asked))), nil
	})
	if err != nil {
		return err
	}
	row := binary.NativeEndian.AppendUint64(nil, uint64(len(asked)))
	for i := range asked {
		row = binary.NativeEndian.AppendUint64(append(row, dialect.ClassInteger), uint64(asked[i].doubts))
	}
	return send(row)
}

// compiled compiles a statement and has it run. The function returns the last code of
// SQLite.
func compiled(conn *sqlite3.SQLiteConn, request wire.Request, run func(*C.sqlite3_stmt) (C.int, error)) error {
	handle, err := handleOf(conn)
	if err != nil {
		return err
	}
	db := *(**C.sqlite3)(unsafe.Pointer(&handle))
	stmt, code := prepareRows(db, request.SQL, request.Args)
	defer C.rows_end(stmt)
	if code == 0 {
		if code, err = run(stmt); err != nil {
			return err
		}
	}
	if code == stepDone {
		return nil
	}
	primary := sqlite3.ErrNo(code & 0xff)
	message := C.GoString(C.rows_message(db))
	if request.Describe {
		message += position(request.SQL, int(C.rows_offset(db)))
	}
	return &wire.Failure{Message: message, Code: int(primary), Memory: primary == sqlite3.ErrNomem}
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

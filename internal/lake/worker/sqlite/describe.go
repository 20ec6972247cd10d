package sqlite

/*
#include <stdlib.h>
#include "rows.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/lake/wire"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
)

// describe compiles a statement and sends its columns, a row for each: the name and the declared type.
func describe(conn *sqlite3.SQLiteConn, request wire.Request, send func([]byte) error) (rows int64, err error) {
	text := C.CString(request.SQL)
	defer C.free(unsafe.Pointer(text))
	err = compiled(conn, request, func(stmt *C.sqlite3_stmt) (C.int, error) {
		if stmt == nil || C.rows_only(C.rows_database(stmt), text) == 0 {
			return 0, &wire.Failure{Message: "it is not one statement", Code: dialect.CodeError}
		}
		columns := int(C.rows_columns(stmt))
		out := binary.NativeEndian.AppendUint64(nil, 2)
		for i := range columns {
			out = appendText(out, C.rows_name(stmt, C.int(i)))
			out = appendText(out, C.rows_declared(stmt, C.int(i)))
		}
		rows = int64(columns)
		return stepDone, send(out)
	})
	return rows, err
}

// position names the place of a byte of a statement, empty for none.
func position(statement string, at int) string {
	if at < 0 || at > len(statement) {
		return ""
	}
	before := statement[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return fmt.Sprintf(" (line %d, column %d)", strings.Count(before, "\n")+1, utf8.RuneCountInString(line)+1)
}

// appendText appends the cell of a text, or of a null.
func appendText(out []byte, text *C.char) []byte {
	if text == nil {
		return append(out, dialect.ClassNull)
	}
	content := C.GoString(text)
	out = binary.NativeEndian.AppendUint32(append(out, dialect.ClassText), uint32(len(content)))
	return append(out, content...)
}

package sqlite

// #include "direct.h"
import "C"

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/feedmill/feedmill"
)

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
		return fmt.Errorf("the store does not support values of the type %T", a)
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
		panic("the column is not a number") // all tables are strict
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

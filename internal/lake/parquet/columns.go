package parquet

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/feedmill/feedmill"
)

// HasColumns reports whether a file of a number of bytes that a [Writer] made has
// these columns, by their names and types and in this order. The metadata of such a file begins with its
// columns, so it is enough to compare that beginning with what would be written now;
// what another release wrote in other words has not these columns.
func HasColumns(file io.ReaderAt, size int64, columns []feedmill.Column) (bool, error) {
	t := &thrift{}
	writeSchema(t, columns)
	var end [tailSize]byte
	if size < tailSize {
		return false, nil
	}
	if _, err := file.ReadAt(end[:], size-tailSize); err != nil {
		return false, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || length > size-tailSize || length < int64(len(t.buf)) {
		return false, nil
	}
	begin := make([]byte, len(t.buf))
	if _, err := file.ReadAt(begin, size-tailSize-length); err != nil {
		return false, err
	}
	return bytes.Equal(begin, t.buf), nil
}

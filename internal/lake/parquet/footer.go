package parquet

import (
	"encoding/binary"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Physical types and repetition by their numbers in the format.
const (
	physicalBoolean = 0
	physicalInt32   = 1
	physicalInt64   = 2
	physicalDouble  = 5
	physicalBytes   = 6
	physicalFixed   = 7

	optional = 1
)

// logical has the numbers of the types in the union of logical types, and
// converted those of the older enumeration that says the same.
var (
	logical = map[columnar.Type]int{
		columnar.TypeText:      1,
		columnar.TypeDecimal:   5,
		columnar.TypeDate:      6,
		columnar.TypeTimestamp: 8,
		columnar.TypeInteger:   10,
		columnar.TypeJSON:      12,
	}
	converted = map[columnar.Type]int{
		columnar.TypeText:      0,
		columnar.TypeDecimal:   5,
		columnar.TypeDate:      6,
		columnar.TypeTimestamp: 10,
		columnar.TypeInteger:   18,
		columnar.TypeJSON:      19,
	}
)

const magic = "PAR1"

// rowGroup is what the footer says of a row group.
type rowGroup struct {
	offset int64
	rows   int
	chunks []chunk
	memory int // bytes that its values take
}

// appendFooter appends the metadata of a file, its length and the magic bytes.
func appendFooter(dst []byte, columns []feedmill.Column, groups []rowGroup) []byte {
	t := &thrift{buf: dst}
	begin := len(dst)
	var rows int64
	for _, g := range groups {
		rows += int64(g.rows)
	}
	writeSchema(t, columns)
	t.i64(3, rows)
	t.list(4, thriftStruct, len(groups))
	for i := range groups {
		writeGroup(t, columns, &groups[i], i)
	}
	t.list(5, thriftStruct, 1)
	t.begin()
	t.binary(1, []byte(sumsKey))
	t.binary(2, []byte(encodeSums(groups)))
	t.end()
	t.binary(6, []byte("feedmill"))
	t.list(7, thriftStruct, len(columns))
	for range columns {
		t.begin()
		t.empty(1) // the order of the type
		t.end()
	}
	t.end()
	t.buf = binary.LittleEndian.AppendUint32(t.buf, uint32(len(t.buf)-begin))
	return append(t.buf, magic...)
}

// writeSchema begins the metadata: with the columns.
func writeSchema(t *thrift, columns []feedmill.Column) {
	t.begin()
	t.i32(1, 2) // version
	t.list(2, thriftStruct, len(columns)+1)
	t.begin()
	t.binary(4, []byte("schema"))
	t.i32(5, len(columns))
	t.end()
	for i := range columns {
		writeColumn(t, &columns[i])
	}
}

func writeColumn(t *thrift, c *feedmill.Column) {
	t.begin()
	t.i32(1, physical(c))
	if physical(c) == physicalFixed {
		t.i32(2, wideSize(c.Precision))
	}
	t.i32(3, optional)
	t.binary(4, []byte(c.Name))
	if number, ok := converted[c.Type]; ok {
		t.i32(6, number)
	}
	if c.Type == columnar.TypeDecimal {
		t.i32(7, c.Scale)
		t.i32(8, c.Precision)
	}
	if number := c.Number(); number > 0 {
		t.i32(9, number)
	}
	if number, ok := logical[c.Type]; ok {
		t.beginField(10)
		t.beginField(number)
		writeDetails(t, c)
		t.end()
		t.end()
	}
	t.end()
}

// writeDetails writes the fields of those logical types that have some.
func writeDetails(t *thrift, c *feedmill.Column) {
	switch c.Type {
	case columnar.TypeInteger:
		t.byte(1, 64)
		t.bool(2, true) // signed
	case columnar.TypeDecimal:
		t.i32(1, c.Scale)
		t.i32(2, c.Precision)
	case columnar.TypeTimestamp:
		t.bool(1, true) // UTC
		t.beginField(2)
		t.empty(2) // microseconds
		t.end()
	}
}

func physical(c *feedmill.Column) int {
	switch c.Type {
	case columnar.TypeText, columnar.TypeJSON:
		return physicalBytes
	case columnar.TypeNumber:
		return physicalDouble
	case columnar.TypeBoolean:
		return physicalBoolean
	case columnar.TypeDate:
		return physicalInt32
	case columnar.TypeDecimal:
		switch {
		case c.Precision > columnar.NarrowDigits:
			return physicalFixed
		case c.Precision <= int32Digits:
			return physicalInt32
		}
	}
	return physicalInt64
}

// int32Digits is the precision up to which a decimal is 32 bits long in a file. The format
// also allows 64 bits, but ClickHouse 26.7 then reads wrong values without an error.
const int32Digits = 9

func writeGroup(t *thrift, columns []feedmill.Column, g *rowGroup, ordinal int) {
	size, unpacked := 0, 0
	for i := range g.chunks {
		size += g.chunks[i].size
		unpacked += g.chunks[i].unpacked
	}
	t.begin()
	t.list(1, thriftStruct, len(g.chunks))
	offset := g.offset
	for i := range g.chunks {
		writeChunk(t, &columns[i], &g.chunks[i], offset)
		offset += int64(g.chunks[i].size)
	}
	t.i64(2, int64(unpacked))
	t.i64(3, int64(g.rows))
	t.i64(5, g.offset)
	t.i64(6, int64(size))
	if ordinal <= 1<<15-1 {
		t.i16(7, int16(ordinal))
	}
	t.end()
}

func writeChunk(t *thrift, column *feedmill.Column, c *chunk, offset int64) {
	encodings := []int{encodingRLE, c.encoding}
	if c.hasDictionary {
		encodings = append(encodings, encodingPlain)
	}
	t.begin()
	t.i64(2, 0) // the metadata stands here only
	t.beginField(3)
	t.i32(1, physical(column))
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.elementI32(e)
	}
	t.list(3, thriftBinary, 1)
	t.element([]byte(column.Name))
	t.i32(4, c.codec)
	t.i64(5, int64(c.rows))
	t.i64(6, int64(c.unpacked))
	t.i64(7, int64(c.size))
	t.i64(9, offset+int64(c.data))
	if c.hasDictionary {
		t.i64(11, offset)
	}
	c.stats.write(t, 12)
	t.end()
	t.end()
}

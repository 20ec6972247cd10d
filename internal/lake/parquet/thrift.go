package parquet

import "encoding/binary"

// The types of Thrift's compact protocol that Parquet's metadata needs.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift writes Thrift's compact protocol. Fields of a struct are written in
// the order of their numbers; a struct ends with end.
type thrift struct {
	buf []byte
	// last is the number of the field before, of every struct that is open.
	last []int
}

// field begins a field of the struct that is open.
func (t *thrift) field(id, kind int) {
	last := &t.last[len(t.last)-1]
	if delta := id - *last; delta > 0 && delta <= 15 {
		t.buf = append(t.buf, byte(delta<<4|kind))
	} else {
		t.buf = append(t.buf, byte(kind))
		t.buf = binary.AppendVarint(t.buf, int64(id))
	}
	*last = id
}

// begin opens a struct that is an element of a list or the outermost one.
func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.buf = append(t.buf, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) beginField(id int) {
	t.field(id, thriftStruct)
	t.begin()
}

// empty writes a field that is a struct without fields.
func (t *thrift) empty(id int) {
	t.beginField(id)
	t.end()
}

func (t *thrift) bool(id int, v bool) {
	kind := thriftFalse
	if v {
		kind = thriftTrue
	}
	t.field(id, kind)
}

func (t *thrift) byte(id int, v int8) {
	t.field(id, thriftByte)
	t.buf = append(t.buf, byte(v))
}

func (t *thrift) i16(id int, v int16) {
	t.field(id, thriftI16)
	t.buf = binary.AppendVarint(t.buf, int64(v))
}

func (t *thrift) i32(id, v int) {
	t.field(id, thriftI32)
	t.buf = binary.AppendVarint(t.buf, int64(v))
}

func (t *thrift) i64(id int, v int64) {
	t.field(id, thriftI64)
	t.buf = binary.AppendVarint(t.buf, v)
}

func (t *thrift) binary(id int, v []byte) {
	t.field(id, thriftBinary)
	t.element(v)
}

// list begins a field that is a list of n elements, which follow.
func (t *thrift) list(id, kind, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.buf = append(t.buf, byte(n<<4|kind))
		return
	}
	t.buf = append(t.buf, byte(0xf0|kind))
	t.buf = binary.AppendUvarint(t.buf, uint64(n))
}

// element writes bytes that are an element of a list.
func (t *thrift) element(v []byte) {
	t.buf = binary.AppendUvarint(t.buf, uint64(len(v)))
	t.buf = append(t.buf, v...)
}

// elementI32 writes a number that is an element of a list.
func (t *thrift) elementI32(v int) { t.buf = binary.AppendVarint(t.buf, int64(v)) }

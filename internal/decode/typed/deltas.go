package typed

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// The numbers of Parquet's types and encodings that occur here, as a footer has them: in zigzag.
const (
	parquetInt32, parquetInt64  = 1 << 1, 2 << 1
	convertedInt32              = 17 << 1
	convertedInt64              = 18 << 1
	convertedUint32             = 13 << 1
	repetitionRepeated          = 2 << 1
	encodingRLE, encodingBits   = 3 << 1, 4 << 1
	encodingDeltas              = 5 << 1
	fieldSchema, fieldGroups    = 2, 4
	logicalInteger              = 10
	integerWidth, integerSigned = 1, 2
)

// deltaColumn is a column of the root of a schema that has 32-bit integers. Each position is that of a
// byte of the footer, 0 where there is none.
type deltaColumn struct {
	field                          int // of the root
	kind, converted, width, signed int
	unsigned                       bool
	types                          []int // of its chunks
	plain                          bool  // a chunk has other encodings than deltas
}

// widenDeltas makes a footer declare columns of 32-bit integers that are nothing but deltas as ones of
// 64 bits, which are encoded in the same way, and returns them by their field of the root. Some writers, such
// as DuckDB, write differences of 32-bit integers in 33 bits, which arrow-go reads only as 64-bit
// integers. The bytes that change have the same length.
func widenDeltas(footer []byte) map[int]*deltaColumn {
	w := &thriftWalk{rest: footer}
	at := func() int { return len(footer) - len(w.rest) }
	var leaves []*deltaColumn // nil for those that stay
	w.structure(0, func(id int16, kind byte) bool {
		switch {
		case id == fieldSchema && kind == thriftList:
			leaves = w.integers(at)
		case id == fieldGroups && kind == thriftList:
			w.structures(func() {
				w.structure(2, func(id int16, kind byte) bool {
					if id != 1 || kind != thriftList {
						return false
					}
					leaf := 0
					w.structures(func() { w.chunk(at, leaves, &leaf) })
					return true
				})
			})
		default:
			return false
		}
		return true
	})
	widened := make(map[int]*deltaColumn)
	if w.fault != nil {
		return widened
	}
	for _, c := range leaves {
		const isSigned = 1 << 4 // a field that follows the one before it
		if c == nil || c.plain || len(c.types) == 0 || c.signed > 0 && footer[c.signed] != isSigned|thriftFalse {
			continue
		}
		for _, position := range append(c.types, c.kind) {
			footer[position] = parquetInt64
		}
		if c.converted > 0 {
			footer[c.converted] = convertedInt64
		}
		if c.width > 0 {
			footer[c.width] = 64
		}
		if c.signed > 0 {
			footer[c.signed] = isSigned | thriftTrue
		}
		widened[c.field] = c
	}
	return widened
}

// structures calls fn for every element of a list of structures.
func (w *thriftWalk) structures(fn func()) {
	n, kind := w.listHead()
	if kind != thriftStruct && n > 0 {
		w.fail(errType)
	}
	for range n {
		if w.fault != nil {
			return
		}
		fn()
	}
}

// integers are the leaves of the schema, of which those are known that are columns of 32-bit
// integers below the root.
func (w *thriftWalk) integers(at func() int) (leaves []*deltaColumn) {
	fields := -1 // that of the root
	var open []int64
	w.structures(func() {
		c := &deltaColumn{}
		var children int64
		other := false
		w.structure(1, func(id int16, kind byte) bool {
			position := at()
			if position >= 0 && w.fault == nil && len(w.rest) > 0 {
				next := w.rest[0]
				switch {
				case id == 1 && next == parquetInt32:
					c.kind = position
				case id == 3 && next == repetitionRepeated:
					other = true
				case id == 6 && (next == convertedInt32 || next == convertedUint32):
					c.converted, c.unsigned = position, next == convertedUint32
				case id == 6:
					other = true
				case id == 5 && kind == thriftI32:
					children = w.zigzag()
					return true
				case id == 10 && kind == thriftStruct:
					other = !w.integerType(at, c) || other
					return true
				}
			}
			return false
		})
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if len(open) == 1 {
			fields++
		}
		c.field = fields
		switch {
		case children > 0:
			open = append(open, children)
		case c.kind == 0 || other || len(open) != 1:
			leaves = append(leaves, nil)
		default:
			leaves = append(leaves, c)
		}
	})
	return leaves
}

// integerType reads a logical type, and reports whether it is an integer of 32 bits.
func (w *thriftWalk) integerType(at func() int, c *deltaColumn) (is bool) {
	w.structure(2, func(id int16, kind byte) bool {
		if id != logicalInteger || kind != thriftStruct {
			return false
		}
		w.structure(3, func(id int16, kind byte) bool {
			if id == integerWidth && kind == thriftByte && len(w.rest) > 0 && w.rest[0] == 32 {
				c.width, is = at(), true
			}
			if id == integerSigned && kind == thriftFalse {
				c.signed, c.unsigned = at()-1, true // the value is in the head of the field
			}
			return false
		})
		return true
	})
	return is
}

// chunk reads the chunk of the next leaf in a row group.
func (w *thriftWalk) chunk(at func() int, leaves []*deltaColumn, leaf *int) {
	var c *deltaColumn
	if *leaf < len(leaves) {
		c = leaves[*leaf]
	}
	*leaf++
	w.structure(3, func(id int16, kind byte) bool {
		if id != 3 || kind != thriftStruct {
			return false
		}
		w.structure(4, func(id int16, kind byte) bool {
			switch {
			case c == nil:
			case id == 1 && kind == thriftI32 && len(w.rest) > 0:
				c.types, c.plain = append(c.types, at()), c.plain || w.rest[0] != parquetInt32
			case id == 2 && kind == thriftList:
				deltas := false
				n, _ := w.listHead()
				for range n {
					switch encoding := w.varint(); encoding {
					case encodingDeltas:
						deltas = true
					case encodingRLE, encodingBits: // of levels
					default:
						c.plain = true
					}
				}
				c.plain = c.plain || !deltas
				return true
			}
			return false
		})
		return true
	})
}

// narrow gives the widened columns of a batch their 32 bits back, in place. Writers that count
// modulo 2³² are read right by it, too.
func narrow(batch arrow.RecordBatch, widened map[int]*deltaColumn) {
	for field, c := range widened {
		column, ok := batch.Column(field).(*array.Int64)
		if !ok {
			continue
		}
		for i, value := range column.Int64Values() {
			if column.Int64Values()[i] = int64(int32(value)); c.unsigned {
				column.Int64Values()[i] = int64(uint32(value))
			}
		}
	}
}

// withFooter is a file with another footer of the same length.
type withFooter struct {
	input.Source
	footer []byte
	at     int64
}

func (f *withFooter) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.Source.ReadAt(p, at)
	if from := max(at, f.at); from < at+int64(n) && from < f.at+int64(len(f.footer)) {
		copy(p[from-at:n], f.footer[from-f.at:])
	}
	return n, err
}

package typed

import (
	"errors"

	"github.com/feedmill/feedmill/internal/decode/input"
)

const (
	// maxFooter is how long the footer of a Parquet file can be.
	maxFooter = 32 << 20
	// maxNesting is how deep the structures of a footer can stand in each other. The
	// format has less than ten levels.
	maxNesting = 24
)

// checkFooter reads a footer, which is Thrift in its compact protocol, without making
// anything of it: that no list claims more than the bytes that are left can hold, and
// that the tree of the schema is not deeper than we read.
func checkFooter(footer []byte) error {
	w := &thriftWalk{rest: footer}
	w.structure(0, func(id int16, kind byte) bool {
		if id != 2 || kind != thriftList {
			return false
		}
		w.schema()
		return true
	})
	if w.fault != nil {
		return input.Refuse("invalid-parquet", "the footer of the Parquet file is damaged: %v", w.fault)
	}
	return nil
}

// The types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// thriftWalk goes over a structure, up to the first fault.
type thriftWalk struct {
	rest  []byte
	fault error
}

var (
	errShort  = errors.New("it is truncated")
	errDeep   = errors.New("its structures are nested too deeply")
	errLong   = errors.New("a list declares more elements than there are")
	errSchema = errors.New("its schema is nested more than 64 levels deep or is not a tree")
	errType   = errors.New("a type is unknown")
)

func (w *thriftWalk) fail(err error) {
	if w.fault == nil {
		w.fault = err
	}
	w.rest = nil
}

func (w *thriftWalk) byte() byte {
	if len(w.rest) == 0 {
		w.fail(errShort)
		return 0
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b
}

func (w *thriftWalk) skip(n uint64) {
	if n > uint64(len(w.rest)) {
		w.fail(errShort)
		return
	}
	w.rest = w.rest[n:]
}

func (w *thriftWalk) varint() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := w.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	w.fail(errLong)
	return 0
}

func (w *thriftWalk) zigzag() int64 {
	n := w.varint()
	return int64(n>>1) ^ -int64(n&1)
}

// structure goes over the fields of a structure. Those that taken reads are not gone over.
func (w *thriftWalk) structure(depth int, taken func(id int16, kind byte) bool) {
	if depth > maxNesting {
		w.fail(errDeep)
	}
	var id int16
	for w.fault == nil {
		b := w.byte()
		kind := b & 0x0f
		if b == 0 {
			return
		}
		if delta := b >> 4; delta != 0 {
			id += int16(delta)
		} else {
			id = int16(w.zigzag())
		}
		if taken == nil || !taken(id, kind) {
			w.value(kind, depth, true)
		}
	}
}

// value goes over a value. A boolean of a structure stands in the head of its field.
func (w *thriftWalk) value(kind byte, depth int, field bool) {
	switch kind {
	case thriftTrue, thriftFalse:
		if !field {
			w.byte()
		}
	case thriftByte:
		w.byte()
	case thriftI16, thriftI32, thriftI64:
		w.varint()
	case thriftDouble:
		w.skip(8)
	case thriftUUID:
		w.skip(16)
	case thriftBinary:
		w.skip(w.varint())
	case thriftList, thriftSet:
		n, kind := w.listHead()
		for range n {
			if w.fault != nil {
				return
			}
			w.value(kind, depth+1, false)
		}
	case thriftMap:
		w.entries(depth)
	case thriftStruct:
		w.structure(depth+1, nil)
	default:
		w.fail(errType)
	}
}

func (w *thriftWalk) entries(depth int) {
	n := w.varint()
	if n == 0 {
		return
	}
	if n > uint64(len(w.rest)) {
		w.fail(errLong)
		return
	}
	kinds := w.byte()
	for range n {
		if w.fault != nil {
			return
		}
		w.value(kinds>>4, depth+1, false)
		w.value(kinds&0x0f, depth+1, false)
	}
}

// listHead is how many elements a list has, and of what type.
func (w *thriftWalk) listHead() (n uint64, kind byte) {
	b := w.byte()
	n, kind = uint64(b>>4), b&0x0f
	if n == 15 {
		n = w.varint()
	}
	if n > uint64(len(w.rest)) {
		w.fail(errLong)
		return 0, 0
	}
	return n, kind
}

// schema goes over the elements of the schema, which are a tree in the order in which one
// walks it: each says how many children follow it.
func (w *thriftWalk) schema() {
	n, kind := w.listHead()
	if kind != thriftStruct && n > 0 {
		w.fail(errType)
	}
	var open []int64 // how many children are still to come, on each level
	for range n {
		if w.fault != nil {
			return
		}
		var children int64
		w.structure(1, func(id int16, kind byte) bool {
			if id != 5 || kind != thriftI32 {
				return false
			}
			children = w.zigzag()
			return true
		})
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if children < 0 || children > int64(n) {
			w.fail(errSchema)
		}
		if children > 0 {
			// Each level of a list takes two of the schema.
			if open = append(open, children); len(open) > 2*maxDepth {
				w.fail(errSchema)
			}
		}
	}
}

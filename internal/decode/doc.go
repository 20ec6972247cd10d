// Package decode turns the bytes of an upload or an answer into records of
// cells, without any thought of types: that is the business of modelling,
// which is the same for every format.
//
// A format is read from a [Source], a file that is there in full, because what a
// file is can often be said at its end only: whether it is UTF-8, whether its
// quotes close, how many columns it has. Bytes that arrive compressed are
// spooled through [Decompress]; text passes [OpenText], which finds its encoding
// and gives UTF-8.
//
// [OpenCSV] reads tables of separated fields, and [OpenJSON] and [OpenNDJSON]
// records of JSON. What they open is read in the same way: Each gives all records
// to several goroutines at the same time and finds out what there is to know of the
// whole file; after it the records are there in blocks, for Read. [Pages] is a
// table that comes in pieces, each data of its own, one after the other.
//
// What the data itself is at fault for is refused with a [feedmill.Error] of the
// kind [feedmill.ErrUnprocessable] that says where, and what can be put right
// is, with a [feedmill.Warning].
package decode

import (
	"fmt"
	"io"

	"github.com/feedmill/feedmill"
)

// Source is data that is there in full. Several goroutines may read it at the
// same time. [bytes.Reader] and [io.SectionReader] are sources.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Position is a place in a text: a line and a column in it, both from 1, the
// column counted in bytes, and the number of bytes before it.
type Position struct {
	Line, Column, Offset int64
}

func (p Position) String() string {
	return fmt.Sprintf("line %d, column %d (byte %d)", p.Line, p.Column, p.Offset)
}

// refuse is the refusal of data for a fault in it. The type is the stable name
// of the problem.
func refuse(problem, format string, args ...any) error {
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: problem, Detail: fmt.Sprintf(format, args...)}
}

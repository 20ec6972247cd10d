// Package input is what the formats have in common before anything is known of
// records: data that is there in full or still arriving, the text in it, whatever
// its encoding, and the refusal of what cannot be read.
package input

import (
	"bytes"
	"errors"
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

// ErrNoData means that there is nothing to read, not even a header.
var ErrNoData error = &feedmill.Error{Kind: feedmill.ErrInvalid, Type: "empty-data", Detail: "the data is empty"}

// ErrChanged means that a later reading met what the first had not.
var ErrChanged = errors.New("the data changed between two reads")

// Refuse refuses data for a fault in it. The type is the stable name of the
// problem.
func Refuse(problem, format string, args ...any) error {
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: problem, Detail: fmt.Sprintf(format, args...)}
}

// ReadFull fills p from src.
func ReadFull(src io.ReaderAt, p []byte, offset int64) error {
	n, err := src.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Position is a place in a text: a line and a column in it, both from 1, the
// column counted in bytes, and the number of bytes before it.
type Position struct {
	Line, Column, Offset int64
}

func (p Position) String() string {
	return fmt.Sprintf("line %d, column %d (byte %d)", p.Line, p.Column, p.Offset)
}

// PositionAt finds the line and column of a byte. The newline is the last
// character of a line end.
func PositionAt(src Source, offset int64, newline byte) (Position, error) {
	at := Position{Line: 1, Column: offset + 1, Offset: offset}
	buffer := make([]byte, min(offset, ChunkSize))
	for base := int64(0); base < offset; base += ChunkSize {
		part := buffer[:min(offset-base, ChunkSize)]
		if err := ReadFull(src, part, base); err != nil {
			return at, fmt.Errorf("locate a position in the text: %w", err)
		}
		if last := bytes.LastIndexByte(part, newline); last >= 0 {
			at.Line += int64(bytes.Count(part, []byte{newline}))
			at.Column = offset - base - int64(last)
		}
	}
	return at, nil
}

// CountBytes counts a byte in a part of the text.
func CountBytes(src Source, from, to int64, c byte) (n int64, err error) {
	buffer := make([]byte, min(to-from, ChunkSize))
	for ; from < to; from += ChunkSize {
		part := buffer[:min(to-from, ChunkSize)]
		if err := ReadFull(src, part, from); err != nil {
			return 0, fmt.Errorf("count lines: %w", err)
		}
		n += int64(bytes.Count(part, []byte{c}))
	}
	return n, nil
}

package sqlite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Statement is what a process runs on a file of SQLite.
type Statement struct {
	SQL string
	// Args are the values of the parameters ?1, ?2 and so on, as text.
	Args []string
	// Declared, where it is not empty, has one declaration for each column. The
	// statement then yields a single row with an integer for each column: how many
	// of its values may not be of the declared type.
	Declared []Declared
	// Describe has the statement compiled and not run. It yields a row for each of its columns: the
	// name, and the type that the column is declared with or null. More than one statement is an error.
	Describe bool
}

// Declared is the type that a column is declared with.
type Declared struct {
	Type      columnar.Type `json:"type"`
	Precision int           `json:"precision,omitempty"`
	Scale     int           `json:"scale,omitempty"`
}

// Error is an error that SQLite reports. Code is the primary result code. Large is the
// value or the row that is too large, if one is.
type Error struct {
	Code    int
	Message string
	Large   *Large
}

// Large is a value of more than [MaxCell] bytes, or a row of more than [MaxRow].
type Large struct {
	Row int64 `json:"row"` // from 1
	// Column is that of the value, from 0, and -1 where it is the whole row.
	Column int `json:"column"`
	Bytes  int `json:"bytes"`
}

func (e *Error) Error() string { return e.Message }

// The result codes that connectors tell apart.
const (
	CodeError    = 1
	CodePerm     = 3
	CodeBusy     = 5
	CodeLocked   = 6
	CodeIO       = 10
	CodeCorrupt  = 11
	CodeFull     = 13
	CodeCantOpen = 14
	CodeTooBig   = 18
	CodeNotADB   = 26
)

// The classes of values, as SQLite numbers them.
const (
	ClassInteger = 1 + iota
	ClassFloat
	ClassText
	ClassBlob
	ClassNull
)

// Cell is a value of a row. Text holds texts and blobs.
type Cell struct {
	Class byte
	Int   int64
	Float float64
	Text  []byte
}

// Value is the cell as an int64, a float64, a string, a []byte or nil.
func (c *Cell) Value() any {
	switch c.Class {
	case ClassInteger:
		return c.Int
	case ClassFloat:
		return c.Float
	case ClassText:
		return string(c.Text)
	case ClassBlob:
		return append([]byte{}, c.Text...)
	}
	return nil
}

// Limits of what a row can hold.
const (
	MaxCell = 16 << 20
	MaxRow  = 64 << 20
)

// ReadRow reads the cells of a row: a byte for the class of each, followed by eight
// bytes of a number, or by four bytes for the length of a text or a blob and its
// content, in the byte order of the machine. Where the row is not complete yet, it
// returns 0 and a number of bytes that it is longer than or equal to. The texts of
// the cells share memory with from.
func ReadRow(from []byte, cells []Cell) (read, atLeast int, err error) {
	at := 0
	for i := range cells {
		if len(from) < at+1 {
			return 0, at + 1, nil
		}
		c := &cells[i]
		c.Class = from[at]
		at++
		switch c.Class {
		case ClassNull:
			continue
		case ClassInteger, ClassFloat:
			if len(from) < at+8 {
				return 0, at + 8, nil
			}
			n := binary.NativeEndian.Uint64(from[at:])
			c.Int, c.Float = int64(n), math.Float64frombits(n)
			at += 8
		case ClassText, ClassBlob:
			if len(from) < at+4 {
				return 0, at + 4, nil
			}
			n := int(binary.NativeEndian.Uint32(from[at:]))
			at += 4
			if n > MaxCell || at+n > MaxRow+(9*len(cells)) {
				return 0, 0, fmt.Errorf("a cell of %d bytes", n)
			}
			if len(from) < at+n {
				return 0, at + n, nil
			}
			c.Text = from[at : at+n]
			at += n
		default:
			return 0, 0, fmt.Errorf("a cell of the class %d", c.Class)
		}
	}
	return at, at, nil
}

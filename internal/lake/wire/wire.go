// Package wire is what the server and a worker process say to each other.
//
// They share a pair of connected sockets. The server begins with [Hello], the
// worker answers that it is ready, and then each [Request] is answered the same
// way at once, with any number of data frames, and with one of [End] and [Failure]. One request is under
// way at a time. A worker whose socket ends, ends.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/feedmill/feedmill/internal/query/sqlite"
)

// Kind is the kind of a frame.
type Kind byte

// The kinds of frames: the first two go to the worker, the others come from it.
const (
	KindHello   Kind = 'H'
	KindRequest Kind = 'Q'
	KindReady   Kind = 'R'
	KindData    Kind = 'D'
	KindEnd     Kind = 'Z'
	KindFailure Kind = 'E'
)

// maxFrame bounds what the length of a frame may claim.
const maxFrame = 64 << 20

// ExitMemory is the code with which a worker ends that holds more memory than it may.
const ExitMemory = 12

// Hello tells a worker what it may use.
type Hello struct {
	// Folder is where the files are that the worker may read.
	Folder string `json:"folder"`
	// Temp is where it may write what does not fit into memory, up to
	// TempBytes; empty means nowhere.
	Temp      string `json:"temp"`
	TempBytes int64  `json:"tempBytes"`
	// Memory is how many bytes the database may hold. The process itself is
	// limited to AddressSpace, which is more: zero means not at all.
	Memory       int64 `json:"memory"`
	AddressSpace int64 `json:"addressSpace"`
	// Process is how many bytes of memory the process may hold, files apart: beyond it
	// the process ends with [ExitMemory]. Zero means any number.
	Process int64 `json:"process,omitempty"`
	Threads int   `json:"threads"`
	// Engine is what runs the requests.
	Engine Engine `json:"engine,omitempty"`
	// Database is the file of a database that all requests read, and none can write;
	// empty means none. DatabaseLog is that of the log which may belong to it.
	Database    string `json:"database,omitempty"`
	DatabaseLog string `json:"databaseLog,omitempty"`
}

// Engine is the library that runs the requests of a worker.
type Engine string

// The engines.
const (
	EngineDuckDB Engine = ""
	EngineSQLite Engine = "sqlite" // reads a file of SQLite
)

// Format is the form in which rows are answered.
type Format string

// The formats.
const (
	FormatJSON   Format = "json"   // an array of objects
	FormatNDJSON Format = "ndjson" // an object a line
	// FormatTextJSON and FormatTextNDJSON write integers and decimals as strings.
	FormatTextJSON   Format = "json-text"
	FormatTextNDJSON Format = "ndjson-text"
	FormatCSV        Format = "csv" // with a header
	// FormatExcelCSV is CSV that a spreadsheet opens without harm.
	FormatExcelCSV Format = "csv-excel"
	FormatArrow    Format = "arrow" // Arrow's stream format

	// FormatCells is the number of columns and rows as [sqlite.ReadRow] reads them. It
	// is the only format of SQLite.
	FormatCells Format = "cells"

	FormatParquet Format = "parquet"
	FormatXLSX    Format = "xlsx" // a workbook
)

// TextNumbers reports whether a format writes integers and decimals as strings.
func (f Format) TextNumbers() bool { return f == FormatTextJSON || f == FormatTextNDJSON }

// MaxSheetColumns is how many columns a sheet of a workbook can have.
const MaxSheetColumns = 16_384

// Request is a query and what to make of its rows.
type Request struct {
	SQL string `json:"sql"`
	// Args are the values of the parameters $1, $2 and so on, as text.
	Args []string `json:"args"`
	// Guard is a query of one text, which must be GuardText for the request to be
	// answered; empty means none.
	Guard     string `json:"guard,omitempty"`
	GuardText string `json:"guardText,omitempty"`
	// Inside is that of a [duckdb.Statement].
	Inside bool `json:"inside,omitempty"`
	// Declared are the declarations of a [sqlite.Statement].
	Declared []sqlite.Declared `json:"declared,omitempty"`
	// Describe is that of a [sqlite.Statement].
	Describe bool `json:"describe,omitempty"`
	// Then are queries whose rows follow those of the first, with the same columns
	// and parameters.
	Then []string `json:"then,omitempty"`
	// Apart says that a query can have a row that is larger than the memory of the database, which
	// is then read some columns at a time.
	Apart bool `json:"apart,omitempty"`
	// Names are the names of the first columns of the result, in order. What
	// columns it has beyond them is not answered: they are the keys of a row.
	Names []string `json:"names"`
	// IDs are the ids of the columns that the first columns are, for [FormatParquet]: empty
	// for an aggregate.
	IDs    []string `json:"ids,omitempty"`
	Format Format   `json:"format"`
	// Nullable says that each of the first columns may have nulls, so that a row may have nothing else.
	Nullable bool `json:"nullable,omitempty"`
	// Units are what a workbook shows with the numbers of the columns, in their order: [Percent], a currency, or
	// nothing. It is empty where none has any.
	Units []string `json:"units,omitempty"`
	// Files are the files that the query reads, by the names that it has for
	// them. The server puts them before the worker and takes them away after it.
	Files map[string]string `json:"-"`
	// Limit is how many rows are answered at most; zero means all. A result
	// with more rows than that has its [End.Next].
	Limit int64 `json:"limit"`
}

// Percent is the unit of columns that are percentages.
const Percent = "%"

// End says that all rows were sent.
type End struct {
	Rows int64 `json:"rows"`
	// Next has the keys of the last row where there are more rows.
	Next []*string `json:"next"`
	// Held is how many bytes of memory the worker holds, files apart.
	Held int64 `json:"held"`
}

// Failure says that the request failed, and that the worker can go on.
type Failure struct {
	Message string `json:"message"`
	// Memory says that it needed more memory than it may use.
	Memory bool `json:"memory"`
	// Code is the primary result code of SQLite; zero for DuckDB.
	Code int `json:"code,omitempty"`
	// Large is the value or the row that is beyond the limits of SQLite's, if one is.
	Large *sqlite.Large `json:"large,omitempty"`
	// Stage is what failed, where it was not the query itself.
	Stage Stage `json:"stage,omitempty"`
}

// Stage is a part of answering.
type Stage string

// The stages that fail before a query begins.
const (
	StageOpen  Stage = "open"  // the file of [Hello.Database]
	StageGuard Stage = "guard" // the guard of the request
)

func (f *Failure) Error() string { return f.Message }

// FailedAt says which stage failed, if it was not the query itself.
func (f *Failure) FailedAt() string { return string(f.Stage) }

// Write writes a frame.
func Write(w io.Writer, kind Kind, body []byte) error {
	var head [5]byte
	head[0] = byte(kind)
	binary.LittleEndian.PutUint32(head[1:], uint32(len(body)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// WriteMessage writes a frame whose body is a message.
func WriteMessage(w io.Writer, kind Kind, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return Write(w, kind, body)
}

// Read reads a frame into buf, which grows as it has to.
func Read(r io.Reader, buf []byte) (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxFrame {
		return 0, buf, fmt.Errorf("a frame of %d bytes", size)
	}
	if cap(buf) < int(size) {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, buf, err
	}
	return Kind(head[0]), buf, nil
}

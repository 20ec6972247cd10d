package postgres

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The records of a backup are a line with the head, and for each table a line that names it, its
// rows as COPY writes them, in chunks with their lengths, and a chunk of no bytes. A line without
// a table ends them.

// savedHead is the first line of records.
type savedHead struct {
	Sequences map[string]int64 `json:"sequences"`
	Days      []time.Time      `json:"days"`
}

// savedTable is the line before the rows of a table.
type savedTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns,omitempty"`
}

// columns is the list of the columns in SQL.
func (t savedTable) columns() string {
	quoted := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		quoted[i] = pgx.Identifier{column}.Sanitize()
	}
	return strings.Join(quoted, ", ")
}

// maxChunk is how many bytes a chunk has at most. A row can be longer.
const maxChunk = 1 << 20

// recordWriter writes the records of a backup.
type recordWriter struct{ to *bufio.Writer }

func newRecordWriter(to io.Writer) *recordWriter {
	return &recordWriter{bufio.NewWriterSize(to, 1<<16)}
}

func (w *recordWriter) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.to.Write(append(text, '\n'))
	return err
}

func (w *recordWriter) head(h savedHead) error { return w.line(h) }

func (w *recordWriter) begin(t savedTable) error { return w.line(t) }

// Write writes rows of the table that was begun.
func (w *recordWriter) Write(p []byte) (n int, err error) {
	for chunk := range slices.Chunk(p, maxChunk) {
		if err := w.length(len(chunk)); err != nil {
			return n, err
		}
		written, err := w.to.Write(chunk)
		n += written
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (w *recordWriter) length(n int) error {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(n))
	_, err := w.to.Write(size[:])
	return err
}

func (w *recordWriter) end() error { return w.length(0) }

func (w *recordWriter) close() error { return errors.Join(w.line(savedTable{}), w.to.Flush()) }

// recordReader reads what a recordWriter wrote.
type recordReader struct {
	from *bufio.Reader
	left int
	done bool // the rows of the table have ended
}

func newRecordReader(from io.Reader) *recordReader {
	return &recordReader{from: bufio.NewReaderSize(from, 1<<16)}
}

func (r *recordReader) line(v any) error {
	text, err := r.from.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("read the records: %w", unexpected(err))
	}
	return nil
}

// begin reads the line of the next table; without a name, there is none.
func (r *recordReader) begin() (t savedTable, err error) {
	r.left, r.done = 0, false
	return t, r.line(&t)
}

// Read reads rows of the table that was begun.
func (r *recordReader) Read(p []byte) (int, error) {
	if r.left == 0 && !r.done {
		var size [4]byte
		if _, err := io.ReadFull(r.from, size[:]); err != nil {
			return 0, fmt.Errorf("read the records: %w", unexpected(err))
		}
		if n := binary.BigEndian.Uint32(size[:]); n > maxChunk {
			return 0, fmt.Errorf("read the records: a chunk has %d bytes, and %d is the maximum", n, maxChunk)
		} else if r.left = int(n); n == 0 {
			r.done = true
		}
	}
	if r.done {
		return 0, io.EOF
	}
	n, err := r.from.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, unexpected(err)
}

// unexpected is the error of records that end too early.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

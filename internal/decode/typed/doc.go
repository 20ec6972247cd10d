// Package typed reads data whose columns have types already: Parquet files and
// Arrow streams and files. What comes out are columns and vectors, which are written
// as they are; nothing is modelled.
//
// [OpenParquet] and [OpenArrow] return a [Table]. Both read batches with arrow-go,
// one at a time, and column.go says what becomes of each of its types.
//
// The data is a stranger's: what its lengths and counts claim is held against its size
// before it is believed, and a reader that panics is a refusal.
package typed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// Table is data whose columns have types.
type Table struct {
	format  string
	size    int64
	columns []*column
	// batches begins to read all batches, from the first on.
	batches func(context.Context) (batchReader, error)
	close   func() error
	// noted is what was noticed of the data as a whole.
	noted []feedmill.Warning
}

// batchReader reads batches one after the other, up to [io.EOF]. A batch is good until
// the next is read.
type batchReader interface {
	next() (arrow.RecordBatch, error)
	release()
}

// newTable makes columns of fields.
func newTable(format string, size int64, fields []field) (*Table, error) {
	if n := len(fields); n > input.MaxColumns {
		return nil, input.Refuse("too-many-columns", "the %s data has %d columns; the maximum is %d", format, n, input.MaxColumns)
	}
	t := &Table{format: format, size: size, close: func() error { return nil }}
	for _, f := range fields {
		c, err := newColumn(f)
		if err != nil {
			return nil, err
		}
		t.columns = append(t.columns, c)
	}
	return t, nil
}

// Columns are what the data calls its columns, and their types.
func (t *Table) Columns() []feedmill.Column {
	columns := make([]feedmill.Column, len(t.columns))
	for i, c := range t.columns {
		columns[i] = c.Column
	}
	return columns
}

// Runs yields all rows, some at a time. They end with the first error.
func (t *Table) Runs(ctx context.Context) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		for _, c := range t.columns {
			c.begin()
		}
		batches, err := guard(t.format, func() (batchReader, error) { return t.batches(ctx) })
		if err != nil {
			yield(nil, err)
			return
		}
		defer batches.release()
		runs := &runMaker{Table: t, rows: runRows}
		for read := int64(0); ; {
			batch, err := guard(t.format, batches.next)
			if err == io.EOF {
				return
			}
			if err == nil {
				read += batch.NumRows()
				err = t.checkBatch(batch, read)
			}
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for runs.at = 0; runs.at < batch.NumRows(); {
				run, err := guard(t.format, func() ([]columnar.Vector, error) { return runs.next(ctx, batch) })
				if !yield(run, err) || err != nil {
					return
				}
			}
		}
	}
}

// checkBatch refuses a batch with which there are more rows than data of this size can have.
func (t *Table) checkBatch(batch arrow.RecordBatch, rows int64) error {
	if int(batch.NumCols()) != len(t.columns) || batch.NumRows() < 0 {
		return damaged(t.format, "the columns of a batch differ from those of the data")
	}
	if rows < 0 || rows > (input.MaxEmptyCells+32*t.size)/int64(max(len(t.columns), 1)) {
		return input.Refuse("too-many-cells", "the first %d rows with %d columns exceed the maximum for data of %d bytes", rows, len(t.columns), t.size)
	}
	return nil
}

// Warnings are what was noticed of the values, with the names that the columns were
// given. They are known once all rows were read.
func (t *Table) Warnings(named []feedmill.Column) []feedmill.Warning {
	all := slices.Clone(t.noted)
	for i, c := range t.columns {
		all = append(all, c.warnings(named[i].Name)...)
	}
	return all
}

// Close gives up what reading takes.
func (t *Table) Close() error { return t.close() }

// guard calls read, which reads what a stranger wrote: whatever it fails of, other than
// the end and the file itself, the data is at fault for.
func guard[T any](format string, read func() (T, error)) (value T, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *feedmill.Error:
			err = r
		default:
			err = damaged(format, fmt.Sprint(r))
		}
	}()
	value, err = read()
	if err == nil || err == io.EOF || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return value, err
	}
	if _, told := errors.AsType[*feedmill.Error](err); told {
		return value, err
	}
	if fault, ok := errors.AsType[*readFault](err); ok {
		return value, fault.err
	}
	return value, damaged(format, err.Error())
}

func damaged(format, detail string) error {
	return input.Refuse("invalid-"+format, "the %s data is damaged or uses an unsupported feature: %s", format, detail)
}

// readFault is a failure to read the file, which the data is not at fault for.
type readFault struct{ err error }

func (f *readFault) Error() string { return f.err.Error() }

func (f *readFault) Unwrap() error { return f.err }

// watched reads a source, and tells failures to read apart from what is wrong with the data.
func watched(data input.Source) *io.SectionReader {
	return io.NewSectionReader(watchedSource{data}, 0, data.Size())
}

type watchedSource struct{ input.Source }

func (s watchedSource) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.Source.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readFault{err}
	}
	return n, err
}

package lake

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/share"
)

// rows reads the rows of a side that are not left out, as blocks of the columns
// of the result.
func (r *Reader) rows(ctx context.Context, s *side, columns []feedmill.Column) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		if s.version.Rows == 0 {
			return
		}
		request := wire.Request{Format: wire.FormatArrow, Files: s.files, Apart: s.version.apart()}
		var selected []string
		for i, sql := range s.columns {
			if sql == "" {
				sql = "CAST(NULL AS " + duckdb.ColumnType(&columns[i]) + ")"
			}
			name := "f" + strconv.Itoa(i)
			selected = append(selected, sql+" AS "+name)
			request.Names = append(request.Names, name)
		}
		for i, scan := range s.scans {
			sql := "SELECT " + strings.Join(selected, ", ") + " FROM " + scan
			if i == 0 {
				request.SQL = sql
			} else {
				request.Then = append(request.Then, sql)
			}
		}
		row := int64(0)
		for batch, err := range r.batches(ctx, request) {
			if err != nil {
				yield(nil, err)
				return
			}
			kept := s.omitted.without(s.first+row, int(batch.NumRows()))
			row += batch.NumRows()
			if kept != nil && len(kept) == 0 {
				continue
			}
			block, err := vectors(batch, columns, kept)
			if !yield(block, err) || err != nil {
				return
			}
		}
		if row != s.version.Rows {
			yield(nil, fmt.Errorf("a version of %d rows has %d", s.version.Rows, row))
		}
	}
}

// numbers returns the rows whose numbers a statement selects.
func (r *Reader) numbers(ctx context.Context, sql string, sides ...*side) (bitmap, error) {
	var rows bitmap
	for batch, err := range r.batches(ctx, wire.Request{SQL: sql, Names: []string{"nr"}, Format: wire.FormatArrow, Files: filesOf(sides...)}) {
		if err != nil {
			return nil, err
		}
		found, ok := batch.Column(0).(*array.Int64)
		if !ok {
			return nil, fmt.Errorf("numbers of rows are %s", batch.Column(0).DataType())
		}
		for _, row := range found.Int64Values() {
			rows.set(row)
		}
	}
	return rows, nil
}

// number returns the first of the rows whose numbers a statement selects, or -1.
func (r *Reader) number(ctx context.Context, sql string, of *side) (int64, error) {
	rows, err := r.numbers(ctx, sql, of)
	return rows.first(), err
}

// filesOf are the files of sides that have rows.
func filesOf(sides ...*side) map[string]string {
	files := make(map[string]string)
	for _, s := range sides {
		maps.Copy(files, s.files)
	}
	return files
}

// batches runs a request and yields its result. A batch is gone with the
// next one. It is for making versions, which may take its time.
func (r *Reader) batches(ctx context.Context, request wire.Request) iter.Seq2[arrow.RecordBatch, error] {
	ctx = share.InBackground(ctx, share.Holder(ctx))
	return batches(func(out io.Writer) error {
		_, err := r.run(ctx, request, out)
		return tooLarge(err)
	})
}

// batches yields the batches of the Arrow stream that a function writes. A batch
// is gone with the next one.
func batches(run func(io.Writer) error) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		from, to := io.Pipe()
		var running sync.WaitGroup
		var failure error
		running.Go(func() {
			failure = run(to)
			to.CloseWithError(failure)
		})
		enough, err := readBatches(from, yield)
		// A worker that is not done yet has nobody to work for any more.
		from.CloseWithError(errEnough)
		running.Wait()
		switch {
		case enough:
		case failure != nil && !errors.Is(failure, errEnough):
			yield(nil, failure)
		case err != nil:
			yield(nil, fmt.Errorf("read arrow: %w", err))
		}
	}
}

// errEnough ends a request whose rows nobody wants any more.
var errEnough = errors.New("no more rows are needed")

// readBatches yields the batches of a stream, and reports whether that was enough.
func readBatches(from io.Reader, yield func(arrow.RecordBatch, error) bool) (enough bool, err error) {
	stream, err := ipc.NewReader(bufio.NewReaderSize(from, 256<<10))
	if err != nil {
		return false, err
	}
	defer stream.Release()
	for stream.Next() {
		if !yield(stream.RecordBatch(), nil) {
			return true, nil
		}
	}
	if err := stream.Err(); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	// The rest of the stream, so that the worker comes to its end.
	_, err = io.Copy(io.Discard, from)
	return false, err
}

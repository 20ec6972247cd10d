package parquet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Options say how a file is cut. The zero value is good.
type Options struct {
	// GroupRows is how many rows a row group has, 122,880 by default: a whole
	// number of the vectors in which DuckDB reads.
	GroupRows int
	// GroupBytes ends a row group early once its values take so much memory,
	// 16 MiB by default. It bounds the memory of the writer.
	GroupBytes int
	// Encoders is how many goroutines encode, by default as many as can run.
	Encoders int
}

// Where a row group may end: it is cut between runs of so many rows, so that
// the cuts do not depend on the blocks in which the rows come.
const cutRows = 64

// maxGroup is how many bytes a group can have at the very most.
const maxGroup = 1 << 30

// Writer writes one Parquet file.
//
// It holds a row group that is being filled and one for each encoder; Append
// waits while all of them are busy. A Writer is used by one goroutine, and must
// be closed or aborted.
type Writer struct {
	columns []feedmill.Column
	options Options

	group      []piece
	groupRows  int
	groupBytes int

	encoders chan *encoder
	queue    chan *job
	ended    sync.WaitGroup
	file     *file
	first    *job
	closed   bool
}

// job is a row group on its way into the file.
type job struct {
	pieces  []piece
	rows    int
	bytes   []byte
	chunks  []chunk
	err     error
	encoded chan struct{}
	// decided is closed, column by column, once it is known for the first
	// group whether a dictionary of texts is of use.
	decided []chan struct{}
}

// NewWriter begins a file with the given columns. Without any, it has no rows
// either: there are readers that do not take such a file.
func NewWriter(w io.Writer, columns []feedmill.Column, o Options) (*Writer, error) {
	if o.GroupRows <= 0 {
		o.GroupRows = 122_880
	}
	if o.GroupBytes <= 0 {
		o.GroupBytes = 16 << 20
	}
	if o.Encoders <= 0 {
		o.Encoders = runtime.GOMAXPROCS(0)
	}
	out := &Writer{
		columns:  columns,
		options:  o,
		encoders: make(chan *encoder, o.Encoders),
		queue:    make(chan *job, o.Encoders),
		file:     &file{w: w, columns: columns},
	}
	for range o.Encoders {
		e, err := newEncoder()
		if err != nil {
			return nil, fmt.Errorf("write parquet: %w", err)
		}
		out.encoders <- e
	}
	out.ended.Go(func() { out.file.writeAll(out.queue) })
	return out, nil
}

// Append adds the rows of a block, one vector a column. The block belongs to
// the writer from then on, and nobody may change it.
func (w *Writer) Append(ctx context.Context, block []columnar.Vector) error {
	if err := w.check(block); err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	if len(block) == 0 {
		return nil
	}
	rows := block[0].Len
	for from := 0; from < rows; {
		n := min(cutRows-w.groupRows%cutRows, w.options.GroupRows-w.groupRows, rows-from)
		p := piece{block: block, from: from, to: from + n}
		w.groupBytes += p.bytes()
		if w.groupBytes > maxGroup {
			return fmt.Errorf("write parquet: %w: %d rows of more than %d bytes", feedmill.ErrTooLarge, cutRows, maxGroup)
		}
		w.extend(p)
		from += n
		if w.groupRows == w.options.GroupRows || w.groupRows%cutRows == 0 && w.groupBytes >= w.options.GroupBytes {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) extend(p piece) {
	w.groupRows += p.to - p.from
	if last := len(w.group) - 1; last >= 0 && p.from > 0 && w.group[last].to == p.from && &w.group[last].block[0] == &p.block[0] {
		w.group[last].to = p.to
		return
	}
	w.group = append(w.group, p)
}

func (w *Writer) check(block []columnar.Vector) error {
	if len(block) != len(w.columns) {
		return fmt.Errorf("a block of %d columns for %d", len(block), len(w.columns))
	}
	for i := range block {
		v, c := &block[i], &w.columns[i]
		if v.Type != c.Type || v.Len != block[0].Len {
			return fmt.Errorf("column %q: %d values of %s for %d rows of %s", c.Name, v.Len, v.Type, block[0].Len, c.Type)
		}
		if c.Type == columnar.TypeDecimal && (v.Precision != c.Precision || v.Scale != c.Scale) {
			return fmt.Errorf("column %q: decimal(%d,%d) for decimal(%d,%d)", c.Name, v.Precision, v.Scale, c.Precision, c.Scale)
		}
		if err := v.Check(); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	return nil
}

// flush hands the group that was filled to the next encoder that is free.
func (w *Writer) flush(ctx context.Context) error {
	var e *encoder
	select {
	case e = <-w.encoders:
	case <-ctx.Done():
		return fmt.Errorf("write parquet: %w", context.Cause(ctx))
	}
	j := &job{pieces: w.group, rows: w.groupRows, encoded: make(chan struct{})}
	w.group, w.groupRows, w.groupBytes = nil, 0, 0
	if w.first == nil {
		w.first = j
		j.decided = make([]chan struct{}, len(w.columns))
		for i := range j.decided {
			j.decided[i] = make(chan struct{})
		}
	}
	j.bytes = w.file.buffer()
	j.chunks = make([]chunk, len(w.columns))
	w.ended.Go(func() {
		defer close(j.encoded)
		j.encode(e, w.columns, w.first)
		w.encoders <- e
	})
	w.queue <- j
	return w.file.fault()
}

// encode encodes all columns of the group. What was decided of a dictionary in
// the first group holds for all others.
func (j *job) encode(e *encoder, columns []feedmill.Column, first *job) {
	for c := range columns {
		abandon := false
		if j != first {
			<-first.decided[c]
			abandon = first.chunks[c].encoding == encodingPlain && first.chunks[c].stats.nulls < first.rows
		}
		if j.err == nil {
			j.bytes, j.chunks[c], j.err = e.chunk(j.bytes, j.pieces, c, &columns[c], abandon)
		}
		if j == first {
			close(j.decided[c])
		}
	}
	e.scratch.release()
	j.pieces = nil
}

// Close writes what is left and the footer. The file is whole if it returns no error.
func (w *Writer) Close(ctx context.Context) error {
	if w.closed {
		return errors.New("write parquet: closed already")
	}
	var err error
	if w.groupRows > 0 {
		err = w.flush(ctx)
	}
	w.Abort()
	if err != nil {
		return err
	}
	return w.file.finish()
}

// FooterSum is the SHA-256 of the footer, once the file is closed.
func (w *Writer) FooterSum() [sha256.Size]byte { return w.file.footer }

// Abort waits for what is under way and leaves the file unfinished. It does
// nothing to a writer that was closed.
func (w *Writer) Abort() {
	if w.closed {
		return
	}
	w.closed = true
	close(w.queue)
	w.ended.Wait()
}

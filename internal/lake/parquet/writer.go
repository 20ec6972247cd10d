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
	// 16 MiB by default. It bounds the memory of the writer, and of readers: a group
	// of several rows is never larger than that and a quarter more.
	GroupBytes int
	// Encoders is how many goroutines encode, by default as many as can run.
	Encoders int
}

// cutRows is where a row group may end: it is cut between runs of so many rows, or
// before a row that would make it too large, so that the cuts do not depend on the
// blocks in which the rows come.
const cutRows = 64

// A group ends behind a row of largeRow bytes and more where it has largeGroup already: readers hold
// whole groups, and where rows are large there is nothing to gain from many of them.
const (
	largeRow   = 128 << 10
	largeGroup = 4 << 20
)

// mostBytes is how large a group of several rows can be.
func (o *Options) mostBytes() int { return o.GroupBytes + o.GroupBytes/4 }

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
	// large says that the last row of the group is a large one.
	large bool

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
	memory  int // bytes that its values take
	bytes   []byte
	chunks  []chunk
	err     error
	encoded chan struct{}
	// decided is closed, column by column, once it is known for the first
	// group whether a dictionary of texts is of use.
	decided []chan struct{}
	// parts carries the columns of a group that is too large to be encoded whole
	// before it is written. It is nil for all others.
	parts chan encodedColumn
}

// encodedColumn is a column of a group; written is closed when its bytes can be used again.
type encodedColumn struct {
	bytes   []byte
	written chan struct{}
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
		size := p.bytes()
		w.large = false
		if size >= largeRow || w.groupBytes+size > w.options.mostBytes() {
			p, size = w.fitting(p)
		}
		if size > maxGroup {
			return fmt.Errorf("write parquet: %w: a row of more than %d bytes", feedmill.ErrTooLarge, maxGroup)
		}
		if p.to == p.from {
			if err := w.flush(ctx); err != nil {
				return err
			}
			continue
		}
		w.groupBytes += size
		w.extend(p)
		from = p.to
		if w.large && w.groupBytes >= largeGroup {
			if err := w.flush(ctx); err != nil {
				return err
			}
			continue
		}
		if w.groupRows == w.options.GroupRows || w.groupRows%cutRows == 0 && w.groupBytes >= w.options.GroupBytes {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitting cuts a piece down to the rows that the group has room for, and returns
// their size. A group without rows has room for one.
func (w *Writer) fitting(p piece) (piece, int) {
	fits, size := piece{block: p.block, from: p.from, to: p.from}, 0
	for fits.to < p.to {
		row := piece{block: p.block, from: fits.to, to: fits.to + 1}.bytes()
		if w.groupBytes+size+row > w.options.mostBytes() && w.groupRows+fits.to-fits.from > 0 {
			break
		}
		fits.to++
		size += row
		if w.large = row >= largeRow; w.large && w.groupBytes+size >= largeGroup {
			break
		}
	}
	return fits, size
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
		return fmt.Errorf("a block has %d columns, want %d", len(block), len(w.columns))
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
	j := &job{pieces: w.group, rows: w.groupRows, memory: w.groupBytes, encoded: make(chan struct{})}
	if w.groupBytes > w.options.mostBytes() {
		j.parts = make(chan encodedColumn)
	}
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
	if j.parts != nil {
		<-j.encoded // its rows are released before others come
	}
	return w.file.fault()
}

// encode encodes all columns of the group. What was decided of a dictionary in
// the first group holds for all others.
func (j *job) encode(e *encoder, columns []feedmill.Column, first *job) {
	for c := range columns {
		abandon := false
		if j != first {
			<-first.decided[c]
			abandon = first.chunks[c].encoding == encodingDeltaLength && first.chunks[c].stats.nulls < first.rows
		}
		if j.err == nil {
			j.bytes, j.chunks[c], j.err = e.chunk(j.bytes, j.pieces, c, &columns[c], abandon)
		}
		if j == first {
			close(j.decided[c])
		}
		if j.parts != nil && j.err == nil {
			written := make(chan struct{})
			j.parts <- encodedColumn{j.bytes, written}
			<-written
			j.bytes = j.bytes[:0]
		}
	}
	if j.parts != nil {
		close(j.parts)
		e.page, j.bytes = nil, nil // as large as a column of the row
	}
	e.scratch.release()
	j.pieces = nil
}

// Close writes what is left and the footer. The file is whole if it returns no error.
func (w *Writer) Close(ctx context.Context) error {
	if w.closed {
		return errors.New("write parquet: already closed")
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

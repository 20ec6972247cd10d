package parquet

import (
	"crypto/sha256"
	"fmt"
	"io"
	"sync"

	"github.com/feedmill/feedmill"
)

// file writes row groups in order as they are encoded.
type file struct {
	w       io.Writer
	columns []feedmill.Column
	offset  int64
	groups  []rowGroup
	footer  [sha256.Size]byte // its SHA-256

	mu      sync.Mutex
	err     error
	buffers [][]byte
}

// writeAll writes every job of the queue, in its order. After a fault it only
// waits for the others.
func (f *file) writeAll(queue <-chan *job) {
	for j := range queue {
		if f.fault() == nil {
			f.fail(f.begin())
		}
		offset := f.offset
		if j.parts != nil {
			f.writeParts(j.parts)
		}
		<-j.encoded
		if err := f.fault(); err == nil {
			f.fail(f.writeGroup(j, offset))
		}
		f.mu.Lock()
		f.buffers = append(f.buffers, j.bytes[:0])
		f.mu.Unlock()
		j.bytes = nil
	}
}

// writeParts writes the columns of a group as they come. After a fault they are
// only taken.
func (f *file) writeParts(parts <-chan encodedColumn) {
	for p := range parts {
		if f.fault() == nil {
			f.fail(f.write(p.bytes))
		}
		close(p.written)
	}
}

// writeGroup writes what was not yet written of a group that begins at an offset.
func (f *file) writeGroup(j *job, offset int64) error {
	if j.err != nil {
		return j.err
	}
	g := rowGroup{offset: offset, rows: j.rows, chunks: j.chunks, memory: j.memory}
	if err := f.write(j.bytes); err != nil {
		return err
	}
	f.groups = append(f.groups, g)
	return nil
}

func (f *file) begin() error {
	if f.offset > 0 {
		return nil
	}
	return f.write([]byte(magic))
}

func (f *file) finish() error {
	if err := f.fault(); err != nil {
		return err
	}
	if err := f.begin(); err != nil {
		return err
	}
	footer := appendFooter(nil, f.columns, f.groups)
	f.footer = sha256.Sum256(footer)
	return f.write(footer)
}

func (f *file) write(b []byte) error {
	n, err := f.w.Write(b)
	f.offset += int64(n)
	if err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	return nil
}

// buffer is one that was written out before, or none.
func (f *file) buffer() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buffers) == 0 {
		return nil
	}
	last := len(f.buffers) - 1
	b := f.buffers[last]
	f.buffers = f.buffers[:last]
	return b
}

func (f *file) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// fault is the first error, after which nothing more is written.
func (f *file) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

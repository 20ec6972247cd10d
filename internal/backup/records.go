package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill"
)

// partSize is how many bytes a part of the records has; a bucket takes 5 GiB in one request.
const partSize = 1 << 30

// partWriter writes records in parts.
type partWriter struct {
	ctx    context.Context
	to     Files
	backup string
	size   int64
	parts  []Part
	draft  Draft
	sum    hash.Hash
}

func (w *partWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if w.draft == nil {
			name := fmt.Sprintf("%s%s/%06d", recordsFolder, w.backup, len(w.parts)+1)
			if w.draft, err = w.to.Begin(name); err != nil {
				return n, err
			}
			w.sum, w.parts = sha256.New(), append(w.parts, Part{Name: name})
		}
		some := p[:min(int64(len(p)), w.size-w.draft.Size())]
		written, err := w.draft.Write(some)
		n += written
		if err != nil {
			return n, err
		}
		w.sum.Write(some)
		p = p[len(some):]
		if w.draft.Size() == w.size {
			if err := w.keep(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// keep ends the current part.
func (w *partWriter) keep() error {
	if w.draft == nil {
		return nil
	}
	defer w.close()
	last := &w.parts[len(w.parts)-1]
	last.Bytes, last.SHA256 = w.draft.Size(), hex.EncodeToString(w.sum.Sum(nil))
	return w.draft.Keep(w.ctx)
}

func (w *partWriter) close() {
	if w.draft != nil {
		w.draft.Close()
		w.draft = nil
	}
}

// writeRecords writes the records of a snapshot, compressed and in parts.
func writeRecords(ctx context.Context, to Files, id string, write func(io.Writer) error) ([]Part, error) {
	return writeRecordsOf(ctx, to, id, partSize, write)
}

// writeRecordsOf is writeRecords for parts of a size.
func writeRecordsOf(ctx context.Context, to Files, id string, size int64, write func(io.Writer) error) ([]Part, error) {
	w := &partWriter{ctx: ctx, to: to, backup: id, size: size}
	defer w.close()
	compressor, err := zstd.NewWriter(w)
	if err != nil {
		return nil, err
	}
	err = write(compressor)
	if err = errors.Join(err, compressor.Close()); err != nil {
		return nil, err
	}
	return w.parts, w.keep()
}

// partReader reads the records of a backup and verifies each part.
type partReader struct {
	ctx  context.Context
	from Files
	left []Part
	file File
	sum  hash.Hash
	read int64
}

func (r *partReader) Read(p []byte) (int, error) {
	for {
		if r.file == nil {
			if len(r.left) == 0 {
				return 0, io.EOF
			}
			file, err := r.from.Open(r.ctx, r.left[0].Name)
			if errors.Is(err, feedmill.ErrNotFound) {
				return 0, Findings{{feedmill.KeptFile{Name: r.left[0].Name}, missing}}
			}
			if err != nil {
				return 0, err
			}
			r.file, r.sum, r.read = file, sha256.New(), 0
		}
		n, err := r.file.Read(p)
		r.sum.Write(p[:n])
		r.read += int64(n)
		if n > 0 {
			return n, nil
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if part := r.left[0]; r.read != part.Bytes || hex.EncodeToString(r.sum.Sum(nil)) != part.SHA256 {
			return 0, Findings{{feedmill.KeptFile{Name: part.Name}, damaged}}
		}
		if err := r.close(); err != nil {
			return 0, err
		}
		r.left = r.left[1:]
	}
}

func (r *partReader) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// ReadRecords passes the records of a backup to a function. It fails if they are not complete and
// as they were written.
func (m *Manifest) ReadRecords(ctx context.Context, from Files, load func(io.Reader) error) error {
	r := &partReader{ctx: ctx, from: from, left: m.Records}
	expander, err := zstd.NewReader(r)
	if err != nil {
		return err
	}
	defer func() { expander.Close(); _ = r.close() }() // it was only read
	whole := &endReader{of: expander}
	if err := load(whole); err != nil {
		return err
	}
	// A loader can stop before the end, where the checksum of the last part is compared.
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return err
	}
	return nil
}

// endReader reads to the end once.
type endReader struct {
	of  io.Reader
	err error
}

func (r *endReader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.of.Read(p)
	return n, r.err
}

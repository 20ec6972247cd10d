package feed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

func lakeVersion(v feedmill.FeedVersion) *lake.Version {
	return &lake.Version{Blob: v.File, Columns: v.Columns, Rows: v.Rows, Bytes: v.Bytes, ContentHash: v.ContentHash}
}

func parseCursor(text string) (*lake.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	cursor, err := lake.ParseCursor(text)
	if err != nil {
		return nil, feedmill.Invalid("", feedmill.Fault{Parameter: "cursor", Detail: "This is no cursor; take it from the Link header of the page before."})
	}
	return cursor, nil
}

// CheckQuery says what is wrong with a query of a version.
func (f *Feeds) CheckQuery(v feedmill.FeedVersion, q feedmill.Query, format, cursor string) error {
	after, err := parseCursor(cursor)
	if err != nil {
		return err
	}
	_, err = lake.Plan(lakeVersion(v), v.File, q, wire.Format(format), after)
	return err
}

// Rows begins to read a version. A page is read to its end first, because what
// comes after it is known only then; all rows come as they are read.
func (f *Feeds) Rows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) (feedmill.FeedRows, error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return feedmill.FeedRows{}, err
	}
	read := func(ctx context.Context, out io.Writer) (lake.Page, error) {
		return f.reader.Read(ctx, lakeVersion(v), q, wire.Format(format), after, out)
	}
	if q.Limit > 0 && q.Limit < v.Rows {
		return f.page(ctx, read)
	}
	return stream(ctx, read)
}

type readRows = func(ctx context.Context, out io.Writer) (lake.Page, error)

// stream reads rows as somebody takes them. It returns once the first of them
// are there.
func stream(ctx context.Context, read readRows) (feedmill.FeedRows, error) {
	ctx, cancel := context.WithCancel(ctx)
	from, to := io.Pipe()
	rows := &rowStream{buffered: bufio.NewReaderSize(from, 64<<10), pipe: from, cancel: cancel}
	rows.reading.Go(func() {
		_, err := read(ctx, to)
		to.CloseWithError(err)
	})
	if _, err := rows.buffered.Peek(1); err != nil && err != io.EOF {
		rows.Close()
		return feedmill.FeedRows{}, err
	}
	return feedmill.FeedRows{ReadCloser: rows}, nil
}

// rowStream is rows that a goroutine reads.
type rowStream struct {
	buffered *bufio.Reader
	pipe     *io.PipeReader
	cancel   context.CancelFunc
	reading  sync.WaitGroup
}

func (r *rowStream) Read(p []byte) (int, error) { return r.buffered.Read(p) }

// Close ends the reading and waits until it has.
func (r *rowStream) Close() error {
	r.cancel()
	err := r.pipe.Close()
	r.reading.Wait()
	return err
}

// pageMemory is how much of a page is held in memory; the rest is put on disk.
const pageMemory = 1 << 20

// page reads a page to its end.
func (f *Feeds) page(ctx context.Context, read readRows) (feedmill.FeedRows, error) {
	held := &held{folder: f.temp}
	page, err := read(ctx, held)
	if err != nil {
		return feedmill.FeedRows{}, errors.Join(err, held.Close())
	}
	rows := feedmill.FeedRows{ReadCloser: held}
	if page.Next != nil {
		rows.Next = page.Next.String()
	}
	return rows, nil
}

// held is bytes that are first written and then read: in memory up to a limit,
// the others in a file without a name.
type held struct {
	folder string
	memory bytes.Buffer
	file   *os.File
	size   int64
	read   int64
}

func (h *held) Write(p []byte) (int, error) {
	if h.file == nil && h.memory.Len()+len(p) <= pageMemory {
		return h.memory.Write(p)
	}
	if h.file == nil {
		file, err := os.CreateTemp(h.folder, "page-")
		if err != nil {
			return 0, fmt.Errorf("%w: hold a page: %w", feedmill.ErrUnavailable, err)
		}
		h.file = file
		if err := os.Remove(file.Name()); err != nil {
			return 0, fmt.Errorf("hold a page: %w", err)
		}
	}
	n, err := h.file.WriteAt(p, h.size)
	h.size += int64(n)
	if err != nil {
		err = fmt.Errorf("%w: hold a page: %w", feedmill.ErrUnavailable, err)
	}
	return n, err
}

func (h *held) Read(p []byte) (int, error) {
	if h.memory.Len() > 0 {
		return h.memory.Read(p)
	}
	if h.read == h.size {
		return 0, io.EOF
	}
	n, err := h.file.ReadAt(p[:min(int64(len(p)), h.size-h.read)], h.read)
	h.read += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (h *held) Close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}

// Rejects opens the rows that a refresh did not store.
func (f *Feeds) Rejects(ctx context.Context, r feedmill.Refresh) (io.ReadCloser, error) {
	if r.Rejects == "" {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	return f.blobs.Open(ctx, r.Rejects)
}

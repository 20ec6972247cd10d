package feed

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// CheckQuery says what is wrong with a query of a version.
func (m *Mill) CheckQuery(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) error {
	after, err := m.openCursor(ctx, v, cursor)
	if err != nil {
		return err
	}
	table, err := m.table(ctx, v, wire.Format(format))
	if err != nil {
		return err
	}
	_, err = lake.Plan(table, "", q, wire.Format(format), after)
	return err
}

// CheckFiles fails where the rows of a version cannot be read because of its files.
func (m *Mill) CheckFiles(ctx context.Context, v feedmill.FeedVersion) error {
	return m.Reader.CheckFiles(ctx, lakeVersion(v))
}

// Rows begins to read a version. A page is read to its end first, because what
// comes after it is known only then; all rows come as they are read.
func (m *Mill) Rows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) (feedmill.FeedRows, error) {
	after, err := m.openCursor(ctx, v, cursor)
	if err != nil {
		return feedmill.FeedRows{}, err
	}
	if err := m.refuseNumericText(ctx, v, q); err != nil {
		return feedmill.FeedRows{}, err
	}
	table, err := m.table(ctx, v, wire.Format(format))
	if err != nil {
		return feedmill.FeedRows{}, err
	}
	read := func(ctx context.Context, out io.Writer) (lake.Page, error) {
		return m.Reader.Read(ctx, table, q, wire.Format(format), after, out)
	}
	if q.Limit > 0 && q.Limit < table.Rows {
		return m.page(ctx, v, read)
	}
	return stream(ctx, read)
}

// CountRows counts the rows that a query of a version would give, whatever its
// limit.
func (m *Mill) CountRows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query) (int64, error) {
	if len(q.Where) == 0 && v.Since == nil {
		return v.Rows, nil
	}
	if err := m.refuseNumericText(ctx, v, q); err != nil {
		return 0, err
	}
	table, err := m.table(ctx, v, wire.FormatNDJSON)
	if err != nil {
		return 0, err
	}
	return m.Reader.Count(ctx, table, q)
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

// Rejects opens the rows that a refresh did not store.
func (m *Mill) Rejects(ctx context.Context, r feedmill.Refresh) (io.ReadCloser, error) {
	if r.Rejects == "" {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	rejects, err := m.Blobs.Open(ctx, r.Rejects)
	if err != nil {
		return nil, lake.Elsewhere(err)
	}
	return rejects, nil
}

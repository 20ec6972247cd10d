package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// pageMemory is how much of a page is held in memory; the rest is put on disk.
const pageMemory = 1 << 20

// page reads a page to its end.
func (m *Mill) page(ctx context.Context, v feedmill.FeedVersion, read readRows) (feedmill.FeedRows, error) {
	held := &held{folder: m.Temp, disk: m.Room.Disk, holder: share.Holder(ctx), spools: m.Reader.Spools()}
	page, err := read(ctx, held)
	if err != nil {
		return feedmill.FeedRows{}, errors.Join(err, held.Close())
	}
	rows := feedmill.FeedRows{ReadCloser: held}
	if page.Next != nil {
		if rows.Next, err = m.sealCursor(v, *page.Next); err != nil {
			rows.Close()
			return feedmill.FeedRows{}, err
		}
	}
	return rows, nil
}

var errTooManyPages = &feedmill.Error{
	Kind: feedmill.ErrTooMany, Type: "too-many-queries", RetryAfter: 5 * time.Second,
	Detail: "This workspace already has the maximum of rows waiting on disk for its clients. Retry after the time in the Retry-After header, request smaller pages, or download all rows as a file.",
}

// held is bytes that are first written and then read: in memory up to a limit,
// the others in a file without a name.
type held struct {
	folder string
	disk   *Floor
	memory bytes.Buffer
	file   *os.File
	size   int64
	read   int64
	// spools is what the files of all pages may have together.
	spools *share.Budget
	holder string
	taken  int64
}

func (h *held) Write(p []byte) (int, error) {
	if h.file == nil && h.memory.Len()+len(p) <= pageMemory {
		return h.memory.Write(p)
	}
	if h.file == nil {
		file, err := os.CreateTemp(h.folder, "page-")
		if err != nil {
			return 0, unheld(err)
		}
		h.file = file
		if err := os.Remove(file.Name()); err != nil {
			return 0, fmt.Errorf("hold a page: %w", err)
		}
	}
	if err := h.disk.Take(int64(len(p))); err != nil {
		return 0, err
	}
	if !h.spools.Take(h.holder, int64(len(p))) {
		return 0, errTooManyPages
	}
	h.taken += int64(len(p))
	n, err := h.file.WriteAt(p, h.size)
	h.size += int64(n)
	if err != nil {
		err = unheld(err)
	}
	return n, err
}

// unheld is the error of a file that could not be made or written.
func unheld(err error) error {
	if feedmill.IsNoRoom(err) {
		return fmt.Errorf("hold a page: %w", err)
	}
	return fmt.Errorf("%w: hold a page: %w", feedmill.ErrUnavailable, err)
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
	if h.taken > 0 {
		h.spools.Give(h.holder, h.taken)
		h.taken = 0
	}
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}

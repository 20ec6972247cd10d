package feed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/feedmill/feedmill"
)

// pageFile is a file for pages that were made anew.
type pageFile struct {
	*os.File
	end int64
}

// reshaped makes a page anew, in a file of the table's own. It returns nil where the
// page is to be read as it is.
func (f *fetching) reshaped(ctx context.Context, t *fetchedTable, p feedmill.FetchedPage) (*io.SectionReader, error) {
	if t.anew == nil {
		file, err := unnamed(f.mill.Temp)
		if err != nil {
			return nil, err
		}
		t.anew = &pageFile{File: file}
	}
	at := t.anew.end
	out := &spoolWriter{to: io.NewOffsetWriter(t.anew, at), disk: f.mill.Room.Disk}
	buffer := bufio.NewWriterSize(out, 256<<10)
	anew, err := t.reshape(ctx, p, buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err != nil || !anew {
		return nil, err
	}
	t.anew.end += out.written
	return io.NewSectionReader(t.anew, at, out.written), nil
}

// spoolWriter counts what it writes.
type spoolWriter struct {
	to      io.Writer
	disk    *Floor
	written int64
}

func (w *spoolWriter) Write(p []byte) (int, error) {
	if err := w.disk.Take(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := w.to.Write(p)
	if w.written += int64(n); err != nil {
		err = fmt.Errorf("spool: %w", err)
	}
	return n, err
}

// unnamed makes a file that is gone with this process, whatever becomes of it.
func unnamed(folder string) (*os.File, error) {
	file, err := os.CreateTemp(folder, "fetch-*")
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("spool: %w", err), file.Close())
	}
	return file, nil
}

package feed

import (
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

// reshaped makes a page anew, in a file of the table's own.
func (f *fetching) reshaped(ctx context.Context, t *fetchedTable, p feedmill.FetchedPage) (*io.SectionReader, error) {
	text, err := t.reshape(ctx, p)
	if err != nil {
		return nil, err
	}
	if t.anew == nil {
		file, err := unnamed(f.mill.Temp)
		if err != nil {
			return nil, err
		}
		t.anew = &pageFile{File: file}
	}
	at := t.anew.end
	if _, err := t.anew.WriteAt(text, at); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	t.anew.end += int64(len(text))
	return io.NewSectionReader(t.anew, at, int64(len(text))), nil
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

package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/feedmill/feedmill"
)

// Blob is a blob that is open for reading, also after it was deleted. It is an
// alias, so that a package that does not import this one can name the same type.
type Blob = interface {
	io.ReaderAt
	io.ReadSeekCloser
	Size() int64
}

type file struct {
	*os.File
	size int64
}

func (b *file) Size() int64 { return b.size }

// Open opens a blob for reading.
func (f *Folder) Open(_ context.Context, name string) (Blob, error) {
	if err := check(name); err != nil {
		return nil, fmt.Errorf("open blob: %w", err)
	}
	opened, err := f.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", classify(err))
	}
	info, err := opened.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is not a blob", feedmill.ErrNotFound, name)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", errors.Join(classify(err), opened.Close()))
	}
	return &file{File: opened, size: info.Size()}, nil
}

// Lease finds the file of a blob, for programs that open it themselves. The files of a folder
// stay until they are deleted, so nothing is to be released.
func (f *Folder) Lease(_ context.Context, name string) (feedmill.FileLease, error) {
	if err := check(name); err != nil {
		return feedmill.FileLease{}, fmt.Errorf("find blob: %w", err)
	}
	info, err := f.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return feedmill.FileLease{}, fmt.Errorf("find blob: %w", classify(err))
	}
	return feedmill.FileLease{Path: filepath.Join(f.root.Name(), filepath.FromSlash(name)), Release: func() {}}, nil
}

// Extract reports that a blob is on the local disk, so that no extract of it is needed.
func (f *Folder) Extract(context.Context, string, string, func(context.Context, io.ReaderAt, io.Writer) error) (lease feedmill.FileLease, ok bool, err error) {
	return lease, false, nil
}

// Delete removes a blob. One that is not there is no error, so that a deletion
// that was interrupted can be repeated.
func (f *Folder) Delete(_ context.Context, name string) error {
	if err := check(name); err != nil {
		return fmt.Errorf("delete blob: %w", err)
	}
	if err := ignore(f.root.Remove(name), fs.ErrNotExist); err != nil {
		return fmt.Errorf("delete blob: %w", classify(err))
	}
	return nil
}

// Size is how many bytes a blob has.
func (f *Folder) Size(_ context.Context, name string) (int64, error) {
	if err := check(name); err != nil {
		return 0, fmt.Errorf("find blob: %w", err)
	}
	info, err := f.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return 0, fmt.Errorf("find blob: %w", classify(err))
	}
	return info.Size(), nil
}

// Refetch reports that a blob has no other copy.
func (f *Folder) Refetch(string) bool { return false }

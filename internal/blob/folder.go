package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// temporary is the folder for what is being written.
const temporary = ".tmp"

// Folder keeps blobs as files below one folder. Names are paths with slashes,
// such as "df_1/v_2.parquet"; a part of a name does not begin with a dot.
//
// Errors of a disk that is full match [feedmill.ErrNoRoom], and other errors of the disk
// [feedmill.ErrUnavailable]; those of a name that is not there match
// [feedmill.ErrNotFound], and of one that is taken [feedmill.ErrConflict].
type Folder struct {
	// Take, where it is set, is called before bytes are written. Its error ends the
	// writing.
	Take func(n int64) error
	// Large, if set, is the size in bytes from which drafts do not stay in memory.
	Large int64

	root *os.Root
}

// Open opens the folder, which is made where it is missing. No name leads out of it.
func Open(folder string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Join(folder, temporary), 0o700); err != nil {
		return nil, fmt.Errorf("open blob folder: %w", classify(err))
	}
	// An absolute path holds whatever becomes of the working directory.
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("open blob folder: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open blob folder: %w", classify(err))
	}
	return &Folder{root: root}, nil
}

// Dir is the absolute path of the folder.
func (f *Folder) Dir() string { return f.root.Name() }

// Close gives the folder up. Blobs that are open stay readable.
func (f *Folder) Close() error { return f.root.Close() }

// Put writes a blob: write is called with where its bytes go. If write fails,
// the context ends, or the name is taken, nothing is kept.
func (f *Folder) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return put(ctx, f.Begin, name, write)
}

// put writes a blob as a draft that is kept.
func put(ctx context.Context, begin func(name string) (Draft, error), name string, write func(io.Writer) error) error {
	draft, err := begin(name)
	if err != nil {
		return fmt.Errorf("put blob: %w", err)
	}
	defer draft.Close()
	if err = write(onlyWriter{draft}); err == nil {
		err = draft.Keep(ctx)
	}
	if err != nil {
		return fmt.Errorf("put blob: %w", err)
	}
	return nil
}

// onlyWriter hides all of a draft but Write.
type onlyWriter struct{ io.Writer }

// publish gives a temporary file its name, which is on disk when it returns.
func (f *Folder) publish(temp, name string) error {
	folder := path.Dir(name)
	if err := f.makeFolder(folder); err != nil {
		return err
	}
	if err := f.name(temp, name); err != nil {
		return err
	}
	return f.sync(folder)
}

// name gives a temporary file its name, unless that is taken. A link refuses a
// name that is taken and a rename does not, but not every file system has links.
func (f *Folder) name(temp, name string) error {
	err := f.root.Link(temp, name)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	if _, err := f.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return f.root.Rename(temp, name)
}

// makeFolder makes a folder and those above it, each on disk when it returns.
func (f *Folder) makeFolder(folder string) error {
	if _, err := f.root.Stat(folder); err == nil {
		return nil
	}
	if err := f.makeFolder(path.Dir(folder)); err != nil {
		return err
	}
	if err := ignore(f.root.Mkdir(folder, 0o700), fs.ErrExist); err != nil {
		return err
	}
	return f.sync(path.Dir(folder))
}

// sync waits until the names in a folder are on disk.
func (f *Folder) sync(folder string) error {
	d, err := f.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func check(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return fmt.Errorf("%q is not a valid blob name", name)
	}
	return nil
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

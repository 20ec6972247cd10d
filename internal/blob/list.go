package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"
	"time"
)

// List yields the names of the blobs, in their order folder by folder. One that goes away
// meanwhile may be left out.
func (f *Folder) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := fs.WalkDir(f.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case name == temporary:
				return fs.SkipDir
			case entry.IsDir() || strings.HasPrefix(name, "."):
				return nil
			case !yield(name, nil):
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield("", fmt.Errorf("list blobs: %w", classify(err)))
		}
	}
}

// Sweep removes temporary files that were last written before a time, which
// is long enough ago that nobody writes them any more, and counts them.
func (f *Folder) Sweep(ctx context.Context, before time.Time) (int, error) {
	swept := 0
	entries, err := fs.ReadDir(f.root.FS(), temporary)
	if err != nil {
		return 0, fmt.Errorf("sweep blobs: %w", classify(err))
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return swept, fmt.Errorf("sweep blobs: %w", context.Cause(ctx))
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.ModTime().Before(before) {
			err = ignore(f.root.Remove(path.Join(temporary, entry.Name())), fs.ErrNotExist)
			swept++
		}
		if err != nil {
			return swept, fmt.Errorf("sweep blobs: %w", classify(err))
		}
	}
	return swept, nil
}

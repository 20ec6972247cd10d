package worker_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// leasing counts the leases of a folder's files, and those that are not released.
type leasing struct {
	folder
	taken, held atomic.Int64
}

func (l *leasing) Lease(ctx context.Context, name string) (feedmill.FileLease, error) {
	if name == "gone" {
		return feedmill.FileLease{}, feedmill.ErrNotFound
	}
	lease, err := l.folder.Lease(ctx, name)
	l.taken.Add(1)
	l.held.Add(1)
	lease.Release = func() { l.held.Add(-1) }
	return lease, err
}

// Files are leased while a worker reads them, and released whatever becomes of it.
func TestFilesAreLeasedWhileTheyAreRead(t *testing.T) {
	p, dir := pool(t)
	store := &leasing{folder: folder(dir)}
	r := lake.NewReader(store, p)
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	old, fresh := one(t, store.folder, "old", text, "x"), one(t, store.folder, "fresh", text, "y")
	two := *old
	two.Files, two.Rows = append(two.Files, fresh.Files...), 2
	gone := two
	gone.Files = append(gone.Files[:1:1], feedmill.VersionFile{Name: "gone", Rows: 1})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, use := range map[string]func() error{
		"read": func() error {
			_, err := r.Read(t.Context(), &two, feedmill.Query{}, wire.FormatCSV, nil, io.Discard)
			return err
		},
		"count":   func() error { _, err := r.Count(t.Context(), &two, feedmill.Query{}); return err },
		"profile": func() error { _, err := r.Profile(t.Context(), &two, feedmill.Query{}); return err },
		"check":   func() error { return r.CheckFiles(t.Context(), &two) },
		"combine": func() error {
			_, err := r.Combine(t.Context(), "both", lake.Combination{Old: old, New: fresh, Columns: []feedmill.Column{text}, Key: []string{"a"}})
			return err
		},
		"texts": func() error {
			for _, err := range r.Texts(t.Context(), &two) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		taken := store.taken.Load()
		if err := use(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if store.taken.Load() == taken || store.held.Load() != 0 {
			t.Errorf("%s: %d leases were taken, and %d are held", name, store.taken.Load()-taken, store.held.Load())
		}
	}
	if _, err := r.Read(t.Context(), &gone, feedmill.Query{}, wire.FormatCSV, nil, io.Discard); !errors.Is(err, feedmill.ErrNotFound) && !errors.Is(err, feedmill.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := r.Read(canceled, &two, feedmill.Query{}, wire.FormatCSV, nil, io.Discard); err == nil {
		t.Error("a request that was canceled is answered")
	}
	if n := store.held.Load(); n != 0 {
		t.Errorf("%d leases are held", n)
	}
}

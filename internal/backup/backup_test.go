package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// openTarget opens an empty folder for backups.
func openTarget(t *testing.T) (*blob.Folder, string) {
	t.Helper()
	folder := t.TempDir()
	f, err := blob.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, folder
}

// openRecords opens an empty store beside its server.
func openRecords(t *testing.T) *sqlite.DB {
	t.Helper()
	file := filepath.Join(t.TempDir(), "feedmill.db")
	server, err := sqlite.Open(t.Context(), file, feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	db, err := sqlite.Attach(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// losing is a store that loses the pin of a backup while its records are copied.
type losing struct {
	*sqlite.DB
	id string
}

func (l *losing) Pin(ctx context.Context, id string, lease time.Duration) error {
	l.id = id
	return l.DB.Pin(ctx, id, lease)
}

func (l *losing) Snapshot(ctx context.Context, folder string, log bool, to io.Writer) (feedmill.Snapshot, error) {
	s, err := l.DB.Snapshot(ctx, folder, log, to)
	return s, errors.Join(err, l.Unpin(ctx, l.id))
}

func TestBackupThatLosesItsPinFails(t *testing.T) {
	t.Parallel()
	records := openRecords(t)
	files, _ := openTarget(t)
	for _, tc := range []struct {
		name string
		from Records
		lost bool
	}{{"kept", records, false}, {"lost", &losing{DB: records}, true}} {
		to, folder := openTarget(t)
		_, err := Create(t.Context(), tc.from, files, to, Options{Temp: t.TempDir(), Assign: "one"})
		if errors.Is(err, feedmill.ErrPinLost) != tc.lost || !tc.lost && err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		manifests, err := filepath.Glob(filepath.Join(folder, "backups", "*"))
		if (len(manifests) == 0) != tc.lost || err != nil {
			t.Errorf("%s: there are %d manifests, %v", tc.name, len(manifests), err)
		}
	}
}

// TestRenewalStopsTheWork holds that the work ends when its pin is found to be lost, and not only
// after it.
func TestRenewalStopsTheWork(t *testing.T) {
	t.Parallel()
	records := openRecords(t)
	err := Pinned(t.Context(), records, "one", 100*time.Millisecond, func(ctx context.Context) error {
		if err := records.Unpin(ctx, "one"); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, feedmill.ErrPinLost) || !strings.Contains(err.Error(), "run the command again") {
		t.Error(err)
	}
}

// TestRecordsInParts holds that records are read as they were written, wherever they are cut, and
// that a part that is damaged or missing is named.
func TestRecordsInParts(t *testing.T) {
	t.Parallel()
	to, folder := openTarget(t)
	content := make([]byte, 10_000)
	for i := range content {
		content[i] = byte(rand.N(256))
	}
	parts, err := writeRecordsOf(t.Context(), to, "bkp_1", 999, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil || len(parts) != 11 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	m := &Manifest{Records: parts}
	read := func() error {
		return m.ReadRecords(t.Context(), to, func(r io.Reader) error {
			got, err := io.ReadAll(r)
			if err == nil && !bytes.Equal(got, content) {
				t.Error("other records were read")
			}
			return err
		})
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	// A loader that stops before the end does not hide that the end is damaged.
	for i, part := range parts {
		file := filepath.Join(folder, filepath.FromSlash(part.Name))
		original, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(original)
		flipped[rand.N(len(flipped))] ^= 1 << rand.N(8)
		write := func(text []byte) {
			t.Helper()
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(flipped)
		if err := m.ReadRecords(t.Context(), to, func(io.Reader) error { return nil }); err == nil {
			t.Errorf("part %d is damaged", i)
		}
		write(original[:len(original)-1])
		if err := read(); err == nil {
			t.Errorf("part %d is short", i)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := read(); err == nil || !strings.Contains(err.Error(), part.Name+": missing") {
			t.Errorf("part %d is missing: %v", i, err)
		}
		write(original)
	}
}

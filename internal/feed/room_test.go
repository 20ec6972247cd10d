package feed

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// storedBytes are the bytes that each workspace has stored.
type storedBytes map[feedmill.ID]int64

func (s storedBytes) StoredFiles(_ context.Context, workspace feedmill.ID) (int64, []string, error) {
	return s[workspace], nil, nil
}

func (s storedBytes) WorkspaceByID(_ context.Context, id feedmill.ID) (feedmill.Workspace, error) {
	return feedmill.Workspace{ID: id}, nil
}

func (s storedBytes) MeasureOriginal(context.Context, string, int64) error { return nil }

// TestParallelUploadsShareTheQuota reads two uploads of one workspace at the same time, beside
// one of another: what is left of the quota is for both together, and released when one ends.
func TestParallelUploadsShareTheQuota(t *testing.T) {
	m := NewMill(Parts{Temp: t.TempDir(), Room: Room{Most: 100, Stored: storedBytes{"ws_1": 40, "ws_2": 40}}})
	begin := func(workspace string) *roomyBody {
		t.Helper()
		b, err := m.roomFor(share.For(t.Context(), workspace), strings.NewReader(strings.Repeat("x", 200)), true)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	read := func(b *roomyBody, n int) error {
		_, err := io.ReadFull(b, make([]byte, n))
		return err
	}
	one, two, other := begin("ws_1"), begin("ws_1"), begin("ws_2")
	if err := errors.Join(read(one, 30), read(two, 30), read(other, 60)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.roomFor(share.For(t.Context(), "ws_1"), strings.NewReader("x"), true); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("a third upload begins without room: %v", err)
	}
	if err := read(two, 1); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("two uploads take more than the quota together: %v", err)
	}
	two.end()
	if err := read(one, 30); err != nil {
		t.Errorf("the other has ended: %v", err)
	}
	if err := read(one, 1); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("one upload takes more than the quota: %v", err)
	}
	one.end()
	other.end()
	if err := read(begin("ws_1"), 60); err != nil {
		t.Errorf("all have ended: %v", err)
	}
}

// TestOriginalsAreMeasuredOnce creates feeds of two workspaces under a quota. The sizes of
// their originals are stored, and those that an earlier release stored are measured by the
// next upload of their workspace.
func TestOriginalsAreMeasuredOnce(t *testing.T) {
	s := newStock(t)
	counted := make(map[feedmill.ID]int64)
	s.Room.Most, s.Room.Stored = 1<<20, s.db
	s.Room.Count = func(workspace feedmill.ID, bytes int64) { counted[workspace] = bytes }
	const data = "n\n1\n2\n"
	f, other := s.create(t, s.one, csv(feedmill.ModeReplace, data)), s.create(t, s.two, csv(feedmill.ModeReplace, data))
	v := s.version(t, f, 1)
	if v.OriginalBytes != int64(len(data)) {
		t.Fatalf("the original has %d bytes, want %d", v.OriginalBytes, len(data))
	}
	stored := func(workspace feedmill.ID, bytes int64, unmeasured ...string) {
		t.Helper()
		got, names, err := s.db.StoredFiles(t.Context(), workspace)
		if err != nil || got != bytes || !slices.Equal(names, unmeasured) {
			t.Errorf("%d bytes are stored, without %v, %v; want %d, without %v", got, names, err, bytes, unmeasured)
		}
	}
	stored(s.one, v.Bytes+v.OriginalBytes)
	if err := s.db.MeasureOriginal(t.Context(), v.Original, -1); err != nil {
		t.Fatal(err)
	}
	stored(s.one, v.Bytes, v.Original)
	s.create(t, s.two, csv(feedmill.ModeReplace, data))
	stored(s.one, v.Bytes, v.Original)
	second := s.version(t, s.create(t, s.one, csv(feedmill.ModeReplace, data)), 1)
	stored(s.one, v.Bytes+v.OriginalBytes+second.Bytes+second.OriginalBytes)
	stored(s.two, 2*(v.Bytes+v.OriginalBytes))
	if want := v.Bytes + v.OriginalBytes; counted[s.one] != want || counted[s.two] != want {
		t.Errorf("%v bytes were counted before the last uploads, want %d each", counted, want)
	}
	if err := s.Blobs.Delete(t.Context(), s.version(t, other, 1).Original); err != nil {
		t.Fatal(err)
	}
	if err := s.db.MeasureOriginal(t.Context(), s.version(t, other, 1).Original, -1); err != nil {
		t.Fatal(err)
	}
	s.create(t, s.two, csv(feedmill.ModeReplace, data)) // although an original is missing
}

package feed

import (
	"context"
	"errors"
	"io"
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

package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestTheWALBeginsAnew writes many times what the WAL holds. It stays short, also
// after a reader has kept it from beginning anew for a while.
func TestTheWALBeginsAnew(t *testing.T) {
	const mostFrames = 4 * checkpointFrames
	file := filepath.Join(t.TempDir(), "f.db")
	db, ctx := open(t, file), t.Context()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: time.Now()}
	if err := db.CreateWorkspace(ctx, w, nil); err != nil {
		t.Fatal(err)
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size() / 4096
	}
	// fill writes about as many pages as it is told.
	fill := func(pages int) {
		for range pages / 100 {
			events := make([]feedmill.Event, 100)
			for i := range events {
				events[i] = feedmill.Event{
					ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: "metric.created",
					Payload: []byte(strings.Repeat("x", 4096)),
				}
			}
			if _, _, err := db.Accept(ctx, events, 1, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(5 * checkpointFrames)
	if frames := size(file + "-wal"); frames > mostFrames {
		t.Errorf("the WAL has %d pages after %d, want at most %d", frames, 5*checkpointFrames, mostFrames)
	}
	if pages := size(file); pages < 4*checkpointFrames {
		t.Errorf("the file has %d pages", pages)
	}

	reader, err := db.reads.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	var n int
	if err := reader.QueryRowContext(ctx, `SELECT count(*) FROM workspaces`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	fill(2 * mostFrames)
	long := size(file + "-wal")
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	fill(5 * checkpointFrames)
	if frames := size(file + "-wal"); frames > long+mostFrames {
		t.Errorf("the WAL grew from %d to %d pages although nobody reads it", long, frames)
	}
	var events int
	if err := db.row(ctx, `SELECT count(*) FROM events`).Scan(&events); err != nil || events != 10*checkpointFrames+2*mostFrames {
		t.Errorf("%d events are there, %v", events, err)
	}
}

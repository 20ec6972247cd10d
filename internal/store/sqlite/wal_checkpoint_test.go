package sqlite

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestTheWALBeginsAnew writes until the WAL begins anew, also after a reader has
// kept it from that for a while. How much that takes is up to who runs when.
func TestTheWALBeginsAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	db, ctx := open(t, file), t.Context()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: time.Now()}
	if err := db.CreateWorkspace(ctx, w, nil); err != nil {
		t.Fatal(err)
	}
	written := 0
	// fill writes about as many pages as make a checkpoint due.
	fill := func() {
		for range checkpointFrames / 100 {
			events := make([]feedmill.Event, 100)
			for i := range events {
				events[i] = feedmill.Event{
					ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: "metric.created",
					Payload: []byte(strings.Repeat("x", 4096)),
				}
			}
			if _, _, err := db.Accept(ctx, events, nil); err != nil {
				t.Fatal(err)
			}
			written += len(events)
		}
	}
	// beginnings counts how often the WAL has begun anew, as its header does.
	beginnings := func() uint32 {
		wal, err := os.Open(file + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		defer wal.Close()
		var header [16]byte
		if _, err := wal.ReadAt(header[:], 0); err != nil {
			t.Fatal(err)
		}
		return binary.BigEndian.Uint32(header[12:])
	}
	fillUntilItBegins := func() {
		before := beginnings()
		for range 50 {
			if fill(); beginnings() != before {
				return
			}
		}
		t.Fatalf("the WAL has not begun anew after %d pages", 50*checkpointFrames)
	}
	fill()
	fillUntilItBegins()

	reader, err := db.reads.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	var n int
	if err := reader.QueryRowContext(ctx, `SELECT count(*) FROM workspaces`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	// What was under way when the reader came may still end.
	for range 3 {
		fill()
	}
	kept := beginnings()
	for range 3 {
		fill()
	}
	if beginnings() != kept {
		t.Error("the WAL has begun anew although somebody reads it")
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	fillUntilItBegins()

	var events int
	if err := db.row(ctx, `SELECT count(*) FROM events`).Scan(&events); err != nil || events != written {
		t.Errorf("%d events of %d are there, %v", events, written, err)
	}
}

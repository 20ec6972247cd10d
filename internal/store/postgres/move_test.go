package postgres

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestMoveWaitsForFilesThatBegin holds that files are not closed beside a transaction that records a
// file and has not committed. Its file would be at the former location after the move.
func TestMoveWaitsForFilesThatBegin(t *testing.T) {
	db, ctx := open(t, pgtest.New(t)), t.Context()
	if _, err := db.StoreID(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	// BeginObject has then checked the location, and waits to insert its row.
	if _, err := tx.Exec(ctx, `LOCK TABLE objects IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	began, closed := make(chan error, 1), make(chan error, 1)
	waiting := func(n int) bool {
		var now int
		if err := db.pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now >= n
	}
	go func() { began <- db.BeginObject(ctx, "a/1", "one", "") }()
	for !waiting(1) {
		time.Sleep(time.Millisecond)
	}
	go func() { closed <- db.CloseFiles(ctx, "m", "l1", time.Hour) }()
	for !waiting(2) {
		select {
		case err := <-closed:
			t.Fatalf("the files were closed beside a file that begins: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	for _, result := range []chan error{began, closed} {
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
	if writing, err := db.LoseWriting(ctx, time.Hour); writing != 1 || err != nil {
		t.Errorf("%d files are being written, %v; want 1", writing, err)
	}
}

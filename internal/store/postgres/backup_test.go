package postgres

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// counted are tables with the number of their rows.
func counted(t *testing.T, db *DB, tables ...string) []int {
	t.Helper()
	counts := make([]int, len(tables))
	for i, table := range tables {
		if err := db.pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&counts[i]); err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

// TestSnapshotAndRestore holds that a restored database has all records, and the log of deliveries
// only if that was asked for. It is another store, is paused, and continues the numbers of
// deliveries. A restore that fails leaves the database empty.
func TestSnapshotAndRestore(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	db, err := Open(t.Context(), url, feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 {
		sub := subscribed(t, db)
		published(t, db, sub) // which stays open
		for _, state := range []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryRetrying} {
			if _, err := db.Settle(t.Context(), []feedmill.Outcome{ended(published(t, db, sub), state)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if id, err := db.StoreID(t.Context(), "original"); id != "original" || err != nil {
		t.Fatalf("%s, %v", id, err)
	}
	for _, insert := range []string{
		`INSERT INTO feed_tables (workspace_id, feed_id, sequence, metadata, version) VALUES ('ws_1', 'df_1', 1, 'df_1/metadata', 1)`,
		`INSERT INTO table_files (file, workspace_id, feed_id) VALUES ('df_1/metadata', 'ws_1', 'df_1')`,
	} {
		if _, err := db.pool.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	tables := []string{"workspaces", "subscriptions", "subscription_topics", "events", "open_deliveries", "ended_deliveries", "attempts"}
	all := counted(t, db, tables...)
	for _, log := range []bool{false, true} {
		beside, err := Attach(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		var records bytes.Buffer
		s, err := beside.Snapshot(t.Context(), "", log, &records)
		if err = errors.Join(err, beside.Close()); err != nil || s.Engine != feedmill.EnginePostgres {
			t.Fatalf("%+v, %v", s, err)
		}
		target := pgtest.New(t)
		restore := func(records []byte) error {
			t.Helper()
			empty, err := OpenEmpty(t.Context(), target)
			if err != nil {
				return err
			}
			err = empty.Restore(t.Context(), s.Schema, func(load func(io.Reader) error) error { return load(bytes.NewReader(records)) }, "copy", "bkp_1")
			return errors.Join(err, empty.Close())
		}
		if err := restore(records.Bytes()[:records.Len()-20]); err == nil {
			t.Error("half of the records were restored")
		}
		if err := restore(records.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := restore(records.Bytes()); err == nil {
			t.Error("a database with a store was restored again")
		}
		copied, err := Open(t.Context(), target, feedmill.StoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		want := append([]int(nil), all...)
		if !log {
			want[5], want[6] = 0, 2 // attempts of the two that are retried
		}
		for i, n := range counted(t, copied, tables...) {
			if n != want[i] {
				t.Errorf("with log %v: %s has %d rows, want %d of %d", log, tables[i], n, want[i], all[i])
			}
		}
		// The metadata of tables names the files of the original.
		for i, n := range counted(t, copied, "feed_tables", "table_files") {
			if n != 0 {
				t.Errorf("%d rows of tables were restored (%d)", n, i)
			}
		}
		id, err := copied.StoreID(t.Context(), "other")
		backup, failed := copied.PausedFrom(t.Context())
		if id != "copy" || backup != "bkp_1" || errors.Join(err, failed) != nil {
			t.Errorf("store %s of backup %s, %v, %v", id, backup, err, failed)
		}
		published(t, copied, subscribed(t, copied))
		var twice int
		err = copied.pool.QueryRow(t.Context(), `SELECT count(*) - count(DISTINCT seq) FROM open_deliveries`).Scan(&twice)
		if twice != 0 || err != nil {
			t.Errorf("%d numbers of deliveries are used twice, %v", twice, err)
		}
		// An event that is promised now comes after the subscriptions of the backup, and finds them.
		var before, now int64
		err = copied.pool.QueryRow(t.Context(), `SELECT max(since), nextval('topic_seq') FROM subscription_topics`).Scan(&before, &now)
		if before < 2 || now <= before || err != nil {
			t.Errorf("the last subscription has number %d, and the next event %d, %v", before, now, err)
		}
	}
}

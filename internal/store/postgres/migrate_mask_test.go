package postgres

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestUnmaskedErrors opens a store of a release that stored what databases said without masking
// it, and masks the errors of one of two connections.
func TestUnmaskedErrors(t *testing.T) {
	w := feedmill.NewID(feedmill.PrefixWorkspace)
	var connections, feeds, refreshes [2]feedmill.ID
	url := pgtest.New(t)
	_, exec := atVersion(t, url, 17)
	exec(`INSERT INTO workspaces (id, name, created_at) VALUES ($1, 'w', now())`, w)
	for i := range connections {
		connections[i], feeds[i], refreshes[i] = feedmill.NewID(feedmill.PrefixConnection), feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixRefresh)
		source := feedmill.NewID(feedmill.PrefixDataSource)
		text := `{"type":"/problems/database-error","title":"T","detail":"hunter22 is wrong","at":"2024-01-02T03:04:05Z"}`
		exec(`INSERT INTO connections VALUES ($1, $2, $3, 'postgres', '{}', '1', now(), now())`, w, connections[i], connections[i])
		exec(`INSERT INTO sources VALUES ($1, $2, 'queryBuilder', $3, NULL, 0, NULL, '{}', '{}', NULL, now(), now())`, w, source, connections[i])
		exec(`INSERT INTO feeds (workspace_id, id, source_id, name, description, type, state, version, columns, row_count, byte_size, content_hash, warnings, mode, key, spec, last_refresh_id, last_error, created_at, updated_at)
				VALUES ($1, $2, $3, 'old', 'd', 'queryBuilder', 'failed', 0, '[]', 3, 4, 'h', 'null', 'replace', 'null', '{}', $4, $5, now(), now())`, w, feeds[i], source, refreshes[i], text)
		exec(`INSERT INTO refreshes (workspace_id, feed_id, id, state, started_at, ended_at, bytes_in, rows_in, rows_stored, rows_rejected, rejects, version, warnings, error, superseded)
				VALUES ($1, $2, $3, 'failed', now(), now(), 1, 5, 3, 2, '', 0, 'null', $4, false)`, w, feeds[i], refreshes[i], text)
	}
	db := open(t, url)
	if all, err := db.UnmaskedConnections(t.Context(), 10); err != nil || len(all) != 2 {
		t.Fatalf("%d connections, %v", len(all), err)
	}
	if err := db.MaskErrors(t.Context(), w, connections[0], func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"*** is wrong", "hunter22 is wrong"} {
		f, err := db.Feed(t.Context(), w, feeds[i])
		if err != nil || f.LastError == nil || f.LastError.Detail != want || f.LastError.Title != "T" || f.LastError.At.IsZero() {
			t.Errorf("feed %d: %+v, %v", i, f.LastError, err)
		}
		r, err := db.Refresh(t.Context(), w, feeds[i], refreshes[i])
		if err != nil || r.Error == nil || r.Error.Detail != want {
			t.Errorf("refresh %d: %+v, %v", i, r.Error, err)
		}
	}
	if all, err := db.UnmaskedConnections(t.Context(), 10); err != nil || len(all) != 1 || all[0].ID != connections[1] {
		t.Errorf("%d connections are left, %v", len(all), err)
	}
}

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestUnmaskedErrors opens a store of a release that stored what databases said without masking
// it, and masks the errors of one of two connections.
func TestUnmaskedErrors(t *testing.T) {
	w := feedmill.NewID(feedmill.PrefixWorkspace)
	var connections, feeds [2]feedmill.ID
	var refreshes [2][450]feedmill.ID
	url := pgtest.New(t)
	_, exec := atVersion(t, url, 17)
	exec(`INSERT INTO workspaces (id, name, created_at) VALUES ($1, 'w', now())`, w)
	for i := range connections {
		connections[i], feeds[i] = feedmill.NewID(feedmill.PrefixConnection), feedmill.NewID(feedmill.PrefixDataFeed)
		source := feedmill.NewID(feedmill.PrefixDataSource)
		text := `{"type":"/problems/database-error","title":"T","detail":"hunter22 is wrong","at":"2024-01-02T03:04:05Z"}`
		exec(`INSERT INTO connections VALUES ($1, $2, $3, 'postgres', '{}', '1', now(), now())`, w, connections[i], connections[i])
		exec(`INSERT INTO sources VALUES ($1, $2, 'queryBuilder', $3, NULL, 0, NULL, '{}', '{}', NULL, now(), now())`, w, source, connections[i])
		exec(`INSERT INTO feeds (workspace_id, id, source_id, name, description, type, state, version, columns, row_count, byte_size, content_hash, warnings, mode, key, spec, last_refresh_id, last_error, created_at, updated_at)
				VALUES ($1, $2, $3, 'old', 'd', 'queryBuilder', 'failed', 0, '[]', 3, 4, 'h', 'null', 'replace', 'null', '{}', $4, $5, now(), now())`, w, feeds[i], source, feedmill.NewID(feedmill.PrefixRefresh), text)
		for n := range refreshes[i] {
			refreshes[i][n] = feedmill.NewID(feedmill.PrefixRefresh)
		}
		ids, err := json.Marshal(refreshes[i])
		if err != nil {
			t.Fatal(err)
		}
		exec(`INSERT INTO refreshes (workspace_id, feed_id, id, state, started_at, ended_at, bytes_in, rows_in, rows_stored, rows_rejected, rejects, version, warnings, error, superseded)
			SELECT $1, $2, value, 'failed', now(), now(), 1, 5, 3, 2, '', 0, 'null', $3, false FROM json_array_elements_text($4::json)`, w, feeds[i], text, string(ids))
	}
	db := open(t, url)
	if all, err := db.UnmaskedConnections(t.Context(), feedmill.Connection{}, 10); err != nil || len(all) != 2 {
		t.Fatalf("%d connections, %v", len(all), err)
	}
	// Another process ends in the middle; what it has finished stays masked.
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	calls := 0
	err := db.MaskErrors(ctx, w, connections[0], func(text string) string {
		if calls++; calls == 300 {
			stop()
		}
		return mask(text)
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for n, want := range map[int]string{0: "*** is wrong", 199: "*** is wrong", 449: "hunter22 is wrong"} {
		if r, err := db.Refresh(t.Context(), w, feeds[0], refreshes[0][n]); err != nil || r.Error.Detail != want {
			t.Errorf("refresh %d: %+v, %v", n, r.Error, err)
		}
	}
	if err := db.MaskErrors(t.Context(), w, connections[0], mask); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"*** is wrong", "hunter22 is wrong"} {
		f, err := db.Feed(t.Context(), w, feeds[i])
		if err != nil || f.LastError == nil || f.LastError.Detail != want || f.LastError.Title != "T" || f.LastError.At.IsZero() {
			t.Errorf("feed %d: %+v, %v", i, f.LastError, err)
		}
		if f.Rules != feedmill.RulesFirst {
			t.Errorf("feed %d, which the first release did not create, has the rules %d", i, f.Rules)
		}
		for n, refresh := range refreshes[i] {
			r, err := db.Refresh(t.Context(), w, feeds[i], refresh)
			if err != nil || r.Error == nil || r.Error.Detail != want {
				t.Fatalf("refresh %d of feed %d: %+v, %v", n, i, r.Error, err)
			}
		}
	}
	if all, err := db.UnmaskedConnections(t.Context(), feedmill.Connection{}, 10); err != nil || len(all) != 1 || all[0].ID != connections[1] {
		t.Errorf("%d connections are left, %v", len(all), err)
	}
}

package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestErrorsOfAnOlderRelease opens a store with errors of megabytes, which that release kept
// whole, and with a short one.
func TestErrorsOfAnOlderRelease(t *testing.T) {
	w := feedmill.NewID(feedmill.PrefixWorkspace)
	feeds := map[feedmill.ID]string{
		feedmill.NewID(feedmill.PrefixDataFeed): strings.Repeat("ä", 1<<20) + `\"\u0000`,
		feedmill.NewID(feedmill.PrefixDataFeed): "short",
	}
	refreshes := make(map[feedmill.ID]feedmill.ID)
	url, at := pgtest.New(t), time.UnixMilli(5000).UTC()
	_, exec := atVersion(t, url, 5)
	exec(`INSERT INTO workspaces VALUES ($1, 'w', now())`, w)
	for id, detail := range feeds {
		refreshes[id] = feedmill.NewID(feedmill.PrefixRefresh)
		text := fmt.Sprintf(`{"type":"/problems/database-error","title":"T","detail":"%s","at":"2024-01-02T03:04:05Z"}`, detail)
		exec(`INSERT INTO feeds VALUES ($1, $2, $3, 'old', 'd', 'queryBuilder', 'failed', 1, '[]', 3, 4, 'h', 'null', 'replace', 'null', '{}', NULL, $4, $5, $6, $6)`,
			w, id, feedmill.NewID(feedmill.PrefixDataSource), refreshes[id], text, at)
		exec(`INSERT INTO refreshes VALUES ($1, $2, $3, 'failed', $4, $4, 1, 5, 3, 2, '', 0, 'null', $5, false)`, w, id, refreshes[id], at, text)
	}
	db := open(t, url)
	for id, detail := range feeds {
		f, err := db.Feed(t.Context(), w, id)
		if err != nil {
			t.Fatal(err)
		}
		r, err := db.Refresh(t.Context(), w, id, refreshes[id])
		if err != nil {
			t.Fatal(err)
		}
		want := detail
		if detail != "short" {
			want = strings.Repeat("ä", 2047) + "…"
		}
		for _, e := range []*feedmill.FeedError{f.LastError, r.Error} {
			if e == nil || e.Detail != want || e.Type != "/problems/database-error" || e.Title != "T" || e.At.IsZero() {
				t.Errorf("the error is %.100v, want %.20s", e, want)
			}
		}
	}
}

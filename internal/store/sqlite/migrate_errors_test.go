package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
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
	db := open(t, atVersion(t, 5, func(exec func(query string, args ...any)) {
		exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, 'w', 1)`, w)
		for id, detail := range feeds {
			refreshes[id] = feedmill.NewID(feedmill.PrefixRefresh)
			text := fmt.Sprintf(`{"type":"/problems/database-error","title":"T","detail":"%s","at":"2024-01-02T03:04:05Z"}`, detail)
			exec(`INSERT INTO feeds VALUES (?, ?, ?, 'old', 'd', 'queryBuilder', 'failed', 1, '[]', 3, 4, 'h', 'null', 'replace', 'null', x'7b7d', NULL, ?, ?, 5000, 5000)`,
				w, id, feedmill.NewID(feedmill.PrefixDataSource), refreshes[id], text)
			exec(`INSERT INTO refreshes VALUES (?, ?, ?, 'failed', 5000, 5000, 1, 5, 3, 2, '', 0, 'null', ?, 0)`, w, id, refreshes[id], text)
		}
	}))
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

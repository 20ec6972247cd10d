package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/migrate"
)

// TestDeliveriesOfAnOlderRelease opens a file as the release with two migrations
// left it, with a delivery in every state.
func TestDeliveriesOfAnOlderRelease(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	old, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := old.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	known, err := migrate.Load(migrations)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range known[:2] {
		exec(m.SQL)
	}
	exec(`PRAGMA user_version = 2`)
	w, sub := feedmill.NewID(feedmill.PrefixWorkspace), feedmill.NewID(feedmill.PrefixSubscription)
	exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, 'w', 1)`, w)
	exec(`INSERT INTO subscriptions VALUES (?, ?, '', '', 'metric.*', 'POST', '', 'active', '', 0, 0, 0, 0, 1, NULL, NULL, '', 1, 1, NULL, NULL, NULL)`, sub, w)
	exec(`INSERT INTO subscription_topics VALUES (?, 'metric.*', '', ?, 0)`, w, sub)
	states := []feedmill.DeliveryState{
		feedmill.DeliveryPending, feedmill.DeliveryRetrying, feedmill.DeliveryDelivered, feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded,
	}
	for n, state := range states {
		exec(`INSERT INTO events VALUES (?, ?, ?, '', 'metric.created', ?, '', 1, x'7b7d')`, n+1, feedmill.NewID(feedmill.PrefixEvent), w, string(state))
		exec(`INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, 'metric.created', ?, ?, '', 1, 10, 5000, ?)`,
			n+1, feedmill.NewID(feedmill.PrefixDelivery), w, sub, n+1, string(state), n, sql.NullInt64{Int64: 7000, Valid: n >= 2})
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	db := open(t, file)
	for n, state := range states {
		got, err := db.Deliveries(t.Context(), w, feedmill.DeliveryQuery{
			Page: feedmill.Page{Limit: 9}, Subscription: sub, States: []feedmill.DeliveryState{state},
		})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %d are listed, %v", state, len(got), err)
		}
		d := got[0]
		due, ended := time.UnixMilli(5000), time.Time{}
		if !state.Open() {
			due, ended = ended, time.UnixMilli(7000)
		}
		if d.Seq != int64(n+1) || d.ResourceID != string(state) || !d.DueAt.Equal(due) || !d.EndedAt.Equal(ended) {
			t.Errorf("%s is now %+v", state, d)
		}
	}
	heads, err := db.Due(t.Context(), feedmill.DueQuery{Subscription: sub, Now: time.Now(), Heads: true, Limit: 9})
	if err != nil || len(heads) != 2 {
		t.Errorf("%d heads are due, want the two that are open; %v", len(heads), err)
	}
}

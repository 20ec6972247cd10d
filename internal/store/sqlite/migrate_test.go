package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/store/migrate"
)

// atVersion makes a file as the release with so many migrations left it. fill puts
// into it what that release had written.
func atVersion(t *testing.T, version int, fill func(exec func(query string, args ...any))) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "f.db")
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
	for _, m := range known[:version] {
		exec(m.SQL)
	}
	exec(fmt.Sprintf(`PRAGMA user_version = %d`, version))
	fill(exec)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDeliveriesOfAnOlderRelease opens a file as the release with two migrations
// left it, with a delivery in every state.
func TestDeliveriesOfAnOlderRelease(t *testing.T) {
	w, sub := feedmill.NewID(feedmill.PrefixWorkspace), feedmill.NewID(feedmill.PrefixSubscription)
	states := []feedmill.DeliveryState{
		feedmill.DeliveryPending, feedmill.DeliveryRetrying, feedmill.DeliveryDelivered, feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded,
	}
	file := atVersion(t, 2, func(exec func(query string, args ...any)) {
		exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, 'w', 1)`, w)
		exec(`INSERT INTO subscriptions VALUES (?, ?, '', '', 'metric.*', 'POST', '', 'active', '', 0, 0, 0, 0, 1, NULL, NULL, '', 1, 1, NULL, NULL, NULL)`, sub, w)
		exec(`INSERT INTO subscription_topics VALUES (?, 'metric.*', '', ?, 0)`, w, sub)
		for n, state := range states {
			exec(`INSERT INTO events VALUES (?, ?, ?, '', 'metric.created', ?, '', 1, x'7b7d')`, n+1, feedmill.NewID(feedmill.PrefixEvent), w, string(state))
			exec(`INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, 'metric.created', ?, ?, '', 1, 10, 5000, ?)`,
				n+1, feedmill.NewID(feedmill.PrefixDelivery), w, sub, n+1, string(state), n, sql.NullInt64{Int64: 7000, Valid: n >= 2})
		}
	})

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

// TestFeedsOfAnOlderRelease opens a file as the release with five migrations left
// it, with a feed that was uploaded. It is as it was, and there is room for what
// is new.
func TestFeedsOfAnOlderRelease(t *testing.T) {
	at := time.UnixMilli(5000).UTC()
	f := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: feedmill.NewID(feedmill.PrefixWorkspace), Source: feedmill.NewID(feedmill.PrefixDataSource),
		Name: "old", Description: "d", Type: feedmill.FeedUpload, Mode: feedmill.ModeReplace, Spec: []byte(`{}`), Rules: feedmill.RulesOriginal, CreatedAt: at,
	}
	r := feedmill.Refresh{
		ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: f.ID, State: feedmill.RefreshSucceeded, StartedAt: at, EndedAt: at,
		BytesIn: 1, RowsIn: 5, RowsStored: 3, RowsRejected: 2, Rejects: "rejects", Version: 1,
	}
	v := feedmill.FeedVersion{
		Feed: f.ID, Number: 1, Columns: []feedmill.Column{{ID: "c1", Name: "a", Type: columnar.TypeText}}, Rows: 3, Bytes: 4, ContentHash: "h",
		Files: []feedmill.VersionFile{{Name: "file", Rows: 3, Bytes: 4}}, Original: "original", OriginalBytes: -1, Refresh: r.ID, Spec: f.Spec, Rules: f.Rules, CreatedAt: at,
	}
	f.Switch(v, r)
	db := open(t, atVersion(t, 5, func(exec func(query string, args ...any)) {
		const columns = `[{"id":"c1","name":"a","type":"text"}]`
		exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, 'w', 1)`, f.Workspace)
		exec(`INSERT INTO feeds VALUES (?, ?, ?, 'old', 'd', 'dataUpload', 'ready', 1, ?, 3, 4, 'h', 'null', 'replace', 'null', x'7b7d', NULL, ?, 'null', 5000, 5000)`,
			f.Workspace, f.ID, f.Source, columns, r.ID)
		exec(`INSERT INTO feed_versions VALUES (?, ?, 1, ?, 3, 4, 'h', 'null', 'file', 'original', 5000, NULL)`, f.Workspace, f.ID, columns)
		exec(`INSERT INTO refreshes VALUES (?, ?, ?, 'succeeded', 5000, 5000, 1, 5, 3, 2, 'rejects', 1, 'null', 'null', 0)`, f.Workspace, f.ID, r.ID)
	}))
	ctx := t.Context()
	got, err := db.Feed(ctx, f.Workspace, f.ID)
	if diff := cmp.Diff(f, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("the feed (-want +got), %v:\n%s", err, diff)
	}
	version, err := db.FeedVersion(ctx, f.Workspace, f.ID, 1)
	if diff := cmp.Diff(v, version, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("the version (-want +got), %v:\n%s", err, diff)
	}
	if trace, err := db.RefreshTrace(ctx, f.Workspace, f.ID, r.ID); err != nil || trace != nil {
		t.Errorf("the trace is %v, %v", trace, err)
	}
	if _, err := db.Source(ctx, f.Workspace, f.Source); !errors.Is(err, feedmill.ErrNotFound) {
		t.Errorf("the source of an upload: %v", err)
	}

	if found, err := db.SearchFeeds(ctx, f.Workspace, feedmill.FeedSearch{Sort: feedmill.SortFeedName, Limit: 1, CountStates: true}); err != nil || found.Total != 1 || found.ByState[feedmill.FeedReady] != 1 {
		t.Errorf("%d feeds are listed, by state %v, %v", found.Total, found.ByState, err)
	}

	source := feedmill.Source{ID: f.Source, Workspace: f.Workspace, Type: feedmill.FeedREST, DueAt: at, CreatedAt: at, UpdatedAt: at}
	fetched := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: f.Workspace, Source: f.Source, Type: feedmill.FeedREST, CreatedAt: at, UpdatedAt: at}
	if err := db.CreateFeed(ctx, feedmill.NewFeed{Feed: fetched, Source: &source}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if due, err := db.DueSources(ctx, at, 1, 9); err != nil || len(due) != 1 {
		t.Errorf("due are %v, %v", due, err)
	}
}

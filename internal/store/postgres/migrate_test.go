package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/store/migrate"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// atVersion makes the store that the release with so many migrations made, and
// returns how to fill it.
func atVersion(t *testing.T, url string, version int) (conn *pgx.Conn, exec func(query string, args ...any)) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	exec = func(query string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	all, err := migrate.Load(migrations)
	if err != nil {
		t.Fatal(err)
	}
	exec(`CREATE TABLE schema_version (only_row integer PRIMARY KEY CHECK (only_row = 1), version integer NOT NULL)`)
	exec(`INSERT INTO schema_version VALUES (1, $1)`, version)
	for _, m := range all[:version] {
		exec(m.SQL)
	}
	return conn, exec
}

// atVersion2 makes a store as the release with two migrations left it, with a
// delivery in every state, and returns what is in it.
func atVersion2(t *testing.T, url string) (sub feedmill.Subscription, old map[feedmill.DeliveryState]feedmill.Delivery) {
	t.Helper()
	conn, exec := atVersion(t, url, 2)
	now := time.Now().UTC().Truncate(time.Millisecond)
	exec(`INSERT INTO partition_days VALUES ($1)`, dayOf(now))
	for _, p := range partitioned {
		exec(fmt.Sprintf(`CREATE TABLE %s PARTITION OF %s FOR VALUES FROM ('%s') TO ('%s')`, partitionName(p.table, dayOf(now)), p.table,
			feedmill.FirstID(p.prefix, dayOf(now)), feedmill.FirstID(p.prefix, dayOf(now).Add(aDay))))
	}
	sub = feedmill.Subscription{ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: feedmill.NewID(feedmill.PrefixWorkspace)}
	exec(`INSERT INTO workspaces VALUES ($1, 'w', now())`, sub.Workspace)
	exec(`INSERT INTO subscriptions VALUES ($1, $2, '', '', '{metric.*}', '', '', 'active', '', 0, 0, 0, 0, true, NULL, NULL, NULL, now(), now())`, sub.ID, sub.Workspace)
	exec(`INSERT INTO subscription_topics VALUES ($1, 'metric.*', '', $2)`, sub.Workspace, sub.ID)
	old = make(map[feedmill.DeliveryState]feedmill.Delivery)
	for _, state := range slices.Concat(openStates, endedStates) {
		e := newEvent(sub)
		e.ResourceID = string(state)
		exec(`INSERT INTO events VALUES ($1, $2, '', $3, $4, $5, '', $6)`, e.ID, e.Workspace, e.Type, e.Timestamp, e.ResourceID, e.Payload)
		d := newDelivery(e, sub.ID, 10, now)
		d.State = state
		if state != feedmill.DeliveryPending {
			d.Attempts = 1
			attempt := feedmill.NewID(feedmill.PrefixAttempt)
			exec(`INSERT INTO attempts VALUES ($1, $2, 1, $3, 500, 'no', NULL, 1, 2, 3, 4, 5)`, d.ID, attempt, now)
			exec(`INSERT INTO attempt_bodies VALUES ($1, $2, 'body')`, d.ID, attempt)
		}
		var err error
		if state.Open() {
			err = conn.QueryRow(t.Context(), `INSERT INTO open_deliveries (id, workspace_id, subscription_id, slot, event_id, type, resource_id, state, reason,
				attempts, budget, due_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, $10, $11, $12) RETURNING seq`,
				d.ID, d.Workspace, d.Subscription, feedmill.Slot(d.Subscription), d.Event, d.Type, d.ResourceID, d.State,
				d.Attempts, d.MaxAttempts, d.DueAt, d.CreatedAt).Scan(&d.Seq)
		} else {
			d.Reason, d.EndedAt, d.DueAt = "why", now, time.Time{}
			err = conn.QueryRow(t.Context(), `INSERT INTO ended_deliveries (id, workspace_id, subscription_id, event_id, type, resource_id, state, reason,
				attempts, budget, due_at, created_at, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $11) RETURNING seq`,
				d.ID, d.Workspace, d.Subscription, d.Event, d.Type, d.ResourceID, d.State, d.Reason,
				d.Attempts, d.MaxAttempts, now, d.CreatedAt).Scan(&d.Seq)
		}
		if err != nil {
			t.Fatal(err)
		}
		old[state] = d
	}
	for _, bounds := range []string{"NULL, NULL", "now() + interval '1 hour', NULL", "NULL, now() - interval '1 hour'"} {
		exec(`INSERT INTO replays (id, workspace_id, subscription_id, since, until, states, created_at, made, stepped_at)
			VALUES ($1, $2, $3, `+bounds+`, '{exhausted}', now(), 0, now())`, feedmill.NewID(feedmill.PrefixReplay), sub.Workspace, sub.ID)
	}
	return sub, old
}

// What an older release has left is there after the migrations, and takes part in
// everything.
func TestDeliveriesOfAnOlderRelease(t *testing.T) {
	url := pgtest.New(t)
	sub, old := atVersion2(t, url)
	db := open(t, url)
	ctx := t.Context()
	for state, want := range old {
		got, err := db.Delivery(ctx, sub.Workspace, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s delivery (-want +got):\n%s", state, diff)
		}
		routes, err := db.EventRoutes(ctx, sub.Workspace, []feedmill.ID{want.Event}, 9)
		if err != nil || !slices.Equal(routes[want.Event], []feedmill.EventRoute{{Delivery: want.ID, Subscription: sub.ID, State: state}}) {
			t.Errorf("%s delivery: routes are %v, %v", state, routes, err)
		}
		attempts, err := db.DeliveryAttempts(ctx, want.ID)
		if err != nil || len(attempts) != want.Attempts {
			t.Errorf("%s delivery: attempts are %v, %v", state, attempts, err)
		}
		for _, a := range attempts {
			if a.Number != 1 || a.Status != 500 || string(a.Body) != "body" || a.Timing.Total != 5 {
				t.Errorf("%s delivery: attempt is %+v", state, a)
			}
		}
		listed, err := db.Deliveries(ctx, sub.Workspace, feedmill.DeliveryQuery{
			Subscription: sub.ID, States: []feedmill.DeliveryState{state}, Page: feedmill.Page{Limit: 9},
		})
		if err != nil || len(listed) != 1 || listed[0].ID != want.ID {
			t.Errorf("%s deliveries are %v, %v", state, listed, err)
		}
	}

	fresh := published(t, db, sub)
	for state, d := range old {
		if fresh.Seq <= d.Seq {
			t.Errorf("a new delivery has seq %d, the %s one %d", fresh.Seq, state, d.Seq)
		}
	}
	for _, heads := range []bool{false, true} {
		due, err := db.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: time.Now(), Heads: heads, Limit: 9})
		if err != nil || len(due) != 3 {
			t.Errorf("%d deliveries are due (%v), want the old pending and retrying ones and the new one", len(due), err)
		}
	}
	again, err := db.RetryDelivery(ctx, sub.Workspace, old[feedmill.DeliveryDiscarded].ID, 1, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []feedmill.DueDelivery{{Delivery: old[feedmill.DeliveryPending]}, {Delivery: old[feedmill.DeliveryRetrying]}, again, fresh} {
		o := ended(d, feedmill.DeliveryDelivered)
		o.Attempt.Number = d.Attempts + 1
		if _, err := db.Settle(ctx, []feedmill.Outcome{o}); err != nil {
			t.Fatal(err)
		}
		attempts, err := db.DeliveryAttempts(ctx, d.ID)
		if err != nil || len(attempts) != d.Attempts+1 || attempts[d.Attempts].ID != o.Attempt.ID || attempts[d.Attempts].Number != d.Attempts+1 {
			t.Errorf("attempts of a %s delivery are %+v, %v", d.State, attempts, err)
		}
	}
	for range 3 { // one replay for all there is, and one each for before and after it
		if worked, _, err := db.StepReplay(ctx, time.Now(), 10); err != nil || !worked {
			t.Errorf("a replay made a step: %v, %v", worked, err)
		}
	}
	due, err := db.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: time.Now(), Limit: 9})
	if err != nil || len(due) != 1 || due[0].Event != old[feedmill.DeliveryExhausted].Event {
		t.Fatalf("due after the replay are %v, %v", due, err)
	}
	pruneAll(t, db)
	if n := partitions(t, db); n != len(partitioned) {
		t.Errorf("%d partitions are there of a day with open work, want %d", n, len(partitioned))
	}
	for state, d := range old {
		_, err := db.Delivery(ctx, sub.Workspace, d.ID)
		if kept := d.Event == due[0].Event; kept != (err == nil) {
			t.Errorf("%s delivery after pruning: %v", state, err)
		}
	}
	if _, err := db.Settle(ctx, []feedmill.Outcome{ended(due[0], feedmill.DeliveryDelivered)}); err != nil {
		t.Fatal(err)
	}
	pruneAll(t, db)
	if n := partitions(t, db); n != 0 {
		t.Errorf("%d partitions are left", n)
	}
}

// TestFeedsOfAnOlderRelease opens a store as the release with five migrations left
// it, with a feed that was uploaded. It is as it was, and there is room for what
// is new.
func TestFeedsOfAnOlderRelease(t *testing.T) {
	url, at := pgtest.New(t), time.UnixMilli(5000).UTC()
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
	const columns = `[{"id":"c1","name":"a","type":"text"}]`
	_, exec := atVersion(t, url, 5)
	exec(`INSERT INTO workspaces VALUES ($1, 'w', now())`, f.Workspace)
	exec(`INSERT INTO feeds VALUES ($1, $2, $3, 'old', 'd', 'dataUpload', 'ready', 1, $4, 3, 4, 'h', 'null', 'replace', 'null', '{}', NULL, $5, 'null', $6, $6)`,
		f.Workspace, f.ID, f.Source, columns, r.ID, at)
	exec(`INSERT INTO feed_versions VALUES ($1, $2, 1, $3, 3, 4, 'h', 'null', 'file', 'original', $4, NULL)`, f.Workspace, f.ID, columns, at)
	exec(`INSERT INTO refreshes VALUES ($1, $2, $3, 'succeeded', $4, $4, 1, 5, 3, 2, 'rejects', 1, 'null', 'null', false)`, f.Workspace, f.ID, r.ID, at)

	db, ctx := open(t, url), t.Context()
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

package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/record"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

// The statements that are planned once are planned here while all tables are
// empty and the statistics say so, and used when they are not empty any more.
// None of them may then read what it has not been asked for.
func TestPlansOfEmptyTablesAreGoodForFullOnes(t *testing.T) {
	const rows, batch = 10_000, 20
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.pool.Exec(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	// Whoever analyzes a table makes everybody plan anew.
	for _, table := range tables(t, db) {
		exec(`ALTER TABLE ` + table + ` SET (autovacuum_enabled = off)`)
	}
	exec(`VACUUM (ANALYZE)`)
	for range 3 {
		useEveryStatement(t, db, sub, 2)
	}

	ids := fmt.Sprintf(`left('%s', 12) || lpad(n::text, 18, '0')`, feedmill.NewID(feedmill.PrefixDelivery))
	exec(`INSERT INTO subscriptions SELECT 'sub_other' || n, workspace_id, name, url, events, method, resource_id, state, disabled_reason,
			timeout, rate_limit, rate_per, concurrency, ordered, secrets, headers, header_names, created_at, updated_at
		FROM subscriptions, generate_series(1, $1) n`, rows)
	exec(`INSERT INTO subscription_topics SELECT $2, 'tag.*', 'r' || n, 'sub_other' || n FROM generate_series(1, $1) n`, rows, sub.Workspace)
	exec(`INSERT INTO publisher_ids SELECT $2, 'other' || n, 'evt_' || n FROM generate_series(1, $1) n`, rows, sub.Workspace)
	exec(`INSERT INTO events (id, workspace_id, publisher_id, type, happened_at, resource_id, source_id, payload)
		SELECT 'evt' || substr(`+ids+`, 4), $2, '', 'tag.created', now(), 'r', '', '' FROM generate_series(1, $1) n`, rows, sub.Workspace)
	exec(`INSERT INTO open_deliveries (`+commonColumns+`, due_at, slot, apart)
		SELECT `+ids+`, $2, 'sub_other' || n, 'evt_1', n, 'tag.created', 'r' || n, 'pending', '', 0, 10, now(), 0, false
		FROM generate_series(1, $1) n`, rows, sub.Workspace)
	exec(`INSERT INTO ended_deliveries (`+commonColumns+`, ended_at, apart)
		SELECT `+ids+`, $2, 'sub_other' || n, 'evt_1', n, 'tag.created', 'r' || n, 'exhausted', '', 0, 10, now(), false
		FROM generate_series($1 + 1, 2 * $1) n`, rows, sub.Workspace)
	exec(`INSERT INTO attempts (`+attemptColumns+`) SELECT `+ids+`, 'att_' || n, 1, now(), 500, '', NULL, 0, 0, 0, 0, 0
		FROM generate_series(1, $1) n`, rows)

	exec(`INSERT INTO fanouts (workspace_id, event_id, resource_id, name, wildcard, filter, attempts)
		SELECT $2, 'evt' || substr(`+ids+`, 4), 'r' || n, 'tag.created', 'tag.*', 'r' || n, 10 FROM generate_series(1, $1) n`, rows, sub.Workspace)

	before := rowsRead(t, db)
	useEveryStatement(t, db, sub, batch)
	for name, n := range rowsRead(t, db) {
		// A row may be read by several statements, and a page for each row.
		if n -= before[name]; n > 80*batch {
			t.Errorf("%s: %d were read for %d deliveries", name, n, batch)
		}
	}
}

// A page of a list reads about what it shows: not the newer deliveries of others, when the
// subscription has most of all, nor all deliveries of an event that went to many, nor all
// feeds of a workspace, or versions of a feed, to count them.
func TestPagesReadWhatTheyShow(t *testing.T) {
	const rows, shown = 1000, 10
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	event := feedmill.NewID(feedmill.PrefixEvent)
	ids := fmt.Sprintf(`left('%s', 12) || lpad(n::text, 18, '0')`, feedmill.NewID(feedmill.PrefixDelivery))
	for _, query := range []string{
		`INSERT INTO ended_deliveries (` + commonColumns + `, ended_at, apart)
			SELECT ` + ids + `, $1, CASE WHEN n <= 4 * $3 THEN $2 ELSE 'sub_other' || n END, $4, n, 'tag.created', '', 'delivered', '', 1, 10, now(), true
			FROM generate_series(1, 5 * $3) n`,
		`INSERT INTO open_deliveries (` + commonColumns + `, due_at, slot, apart)
			SELECT ` + ids + `, $1, CASE WHEN n <= 9 * $3 THEN $2 ELSE 'sub_other' || n END, $4, n, 'tag.created', '', 'retrying', '', 1, 10, now(), 0, true
			FROM generate_series(5 * $3, 10 * $3) n`,
	} {
		if _, err := db.pool.Exec(t.Context(), query, sub.Workspace, sub.ID, rows, event); err != nil {
			t.Fatal(err)
		}
	}
	at := time.UnixMilli(5000)
	feed := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: sub.Workspace, Source: feedmill.NewID(feedmill.PrefixDataSource), Type: feedmill.FeedUpload,
		State: feedmill.FeedReady, CreatedAt: at, UpdatedAt: at, Version: 1,
	}
	version := feedmill.FeedVersion{Feed: feed.ID, Number: 1, CreatedAt: at}
	if err := db.CreateFeed(t.Context(), feedmill.NewFeed{Feed: feed, Version: &version}, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO feeds SELECT (jsonb_populate_record(f, jsonb_build_object('id', f.id || n, 'search', 'feed ' || n))).* FROM feeds f, generate_series(1, $1) n`,
		`INSERT INTO feed_versions SELECT (jsonb_populate_record(v, jsonb_build_object('number', 1 + n))).* FROM feed_versions v, generate_series(1, $1) n`,
	} {
		if _, err := db.pool.Exec(t.Context(), query, 5*rows); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.pool.Exec(t.Context(), `VACUUM (ANALYZE)`); err != nil {
		t.Fatal(err)
	}
	before := rowsRead(t, db)
	page := feedmill.Page{Limit: shown}
	for _, states := range [][]feedmill.DeliveryState{nil, {feedmill.DeliveryDelivered}, {feedmill.DeliveryRetrying}, {feedmill.DeliveryExhausted}} {
		found, err := db.Deliveries(t.Context(), sub.Workspace, feedmill.DeliveryQuery{Page: page, Subscription: sub.ID, States: states})
		if err != nil || len(found) == 0 && !slices.Contains(states, feedmill.DeliveryExhausted) {
			t.Fatal(states, len(found), err)
		}
	}
	for _, sort := range feedmill.FeedSorts {
		found, err := db.SearchFeeds(t.Context(), sub.Workspace, feedmill.FeedSearch{Sort: sort, Limit: shown, CountStates: true})
		if err != nil || len(found.Feeds) != shown || found.Total != 5*rows+1 {
			t.Fatal(sort, len(found.Feeds), found.Total, err)
		}
	}
	if found, err := db.FeedVersions(t.Context(), sub.Workspace, feed.ID, at, 0, shown); err != nil || len(found) != shown {
		t.Fatal(len(found), err)
	}
	routes, err := db.EventRoutes(t.Context(), sub.Workspace, []feedmill.ID{event}, shown)
	if err != nil || len(routes[event]) != shown {
		t.Fatal(len(routes[event]), err)
	}
	for name, n := range rowsRead(t, db) {
		if n -= before[name]; n > 50*shown && (strings.Contains(name, "deliveries") || strings.Contains(name, "feed")) {
			t.Errorf("%s: %d were read for pages of %d", name, n, shown)
		}
	}
}

// useEveryStatement accepts n events and settles their deliveries in each way.
func useEveryStatement(t *testing.T, db *DB, sub feedmill.Subscription, n int) {
	t.Helper()
	accept := func(again bool) (due []feedmill.DueDelivery) {
		events := make([]feedmill.Event, n)
		for i := range events {
			events[i] = newEvent(sub)
			events[i].DedupeKey = string(events[i].ID)
		}
		for range 1 + count(again) {
			_, got, err := db.Accept(t.Context(), events, nil)
			if err != nil {
				t.Fatal(err)
			}
			due = append(due, got...)
			for i := range events {
				events[i].ID = feedmill.NewID(feedmill.PrefixEvent)
			}
		}
		return due
	}
	settle := func(due []feedmill.DueDelivery, state feedmill.DeliveryState, change func(*feedmill.Outcome)) {
		t.Helper()
		outcomes := make([]feedmill.Outcome, len(due))
		for i := range due {
			outcomes[i] = ended(due[i], state)
			outcomes[i].Succeeded = state == feedmill.DeliveryDelivered
			change(&outcomes[i])
		}
		db.successes.noted = nil
		if _, err := db.Settle(t.Context(), outcomes); err != nil {
			t.Fatal(err)
		}
	}
	withBody := func(o *feedmill.Outcome) { o.Attempt.Body = []byte("no") }
	first := func(o *feedmill.Outcome) { o.Attempt.Number = 1 }
	due := accept(true)
	if _, err := db.Due(t.Context(), feedmill.DueQuery{Subscription: sub.ID, Now: time.Now(), Limit: n}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SubscriptionsForDelivery(t.Context(), []feedmill.ID{sub.ID, "sub_other1"}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []feedmill.DueQuery{{After: new("a")}, {Resources: []string{"m_1"}}, {Resources: []string{"m_1"}, Each: n}, {Retries: true}, {}} {
		q.Subscription, q.Now, q.Heads, q.Limit = sub.ID, time.Now(), true, n
		if _, err := db.Due(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	settle(due, feedmill.DeliveryRetrying, withBody)
	settle(due, feedmill.DeliveryDelivered, first)
	settle(due, feedmill.DeliveryDelivered, withBody)
	settle(accept(false), feedmill.DeliveryDelivered, first)
	settle(accept(false), feedmill.DeliveryExhausted, withBody)
	for range n {
		if err := db.write(t.Context(), func(tx tx) error { return tx.promised(t.Context(), newEvent(sub)) }); err != nil {
			t.Fatal(err)
		}
		if _, worked, err := db.StepFanout(t.Context(), time.Now(), storetest.UpTo(2, 3)); err != nil || !worked {
			t.Fatal(worked, err)
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// tables are all that hold rows.
func tables(t *testing.T, db *DB) []string {
	t.Helper()
	rows, err := db.rows(t.Context(), `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)
	names, err := all(rows, err, func(row record.Row) (name string, err error) { return name, row.Scan(&name) })
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// rowsRead counts the rows that were read of each table and by each index, and
// the pages of the indexes.
func rowsRead(t *testing.T, db *DB) map[string]int64 {
	t.Helper()
	for _, pool := range []*pgxpool.Pool{db.pool, db.steady} {
		for _, conn := range pool.AcquireAllIdle(t.Context()) {
			if _, err := conn.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`); err != nil {
				t.Fatal(err)
			}
			conn.Release()
		}
	}
	read := make(map[string]int64)
	type counter struct {
		name string
		rows int64
	}
	rows, err := db.rows(t.Context(), `SELECT relname, seq_tup_read FROM pg_stat_user_tables
		UNION ALL SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes
		UNION ALL SELECT indexrelname || ' in pages', idx_blks_read + idx_blks_hit FROM pg_statio_user_indexes`)
	counters, err := all(rows, err, func(row record.Row) (c counter, err error) { return c, row.Scan(&c.name, &c.rows) })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counters {
		read[c.name] = c.rows
	}
	return read
}

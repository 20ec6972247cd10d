package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

func TestQueriesUseIndexes(t *testing.T) {
	db, ctx := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sub := exercise(t, db)

	// Every list in every shape that it can be asked for.
	at, page := time.Now(), feedmill.Page{Limit: 10}
	for _, kind := range []string{"", "metric.created"} {
		for _, resource := range []string{"", "m_1"} {
			types := slices.DeleteFunc([]string{kind}, func(name string) bool { return name == "" })
			_, err := db.Events(ctx, sub.Workspace, feedmill.EventQuery{Page: page, Types: types, ResourceID: resource, Since: at})
			check(err)
		}
		for _, states := range [][]feedmill.DeliveryState{nil, {feedmill.DeliveryDelivered}, {feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}} {
			_, err := db.Deliveries(ctx, sub.Workspace, feedmill.DeliveryQuery{Page: page, Subscription: sub.ID, States: states, Type: kind})
			check(err)
		}
		_, err := db.Deliveries(ctx, sub.Workspace, feedmill.DeliveryQuery{
			Page: page, Type: kind, States: []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded},
		})
		check(err)
	}

	for _, sort := range feedmill.FeedSorts {
		for _, states := range [][]feedmill.FeedState{nil, {feedmill.FeedFailed}, {feedmill.FeedFailed, feedmill.FeedPaused}} {
			for _, text := range []string{"", "a"} {
				found, err := db.SearchFeeds(ctx, sub.Workspace, feedmill.FeedSearch{Sort: sort, States: states, Text: text, Limit: 1, CountStates: true})
				check(err)
				if len(found.Feeds) == 0 {
					t.Fatal("a list without feeds does not show how they are read")
				}
			}
		}
	}

	_, err := db.Backlogs(ctx, []feedmill.ID{sub.ID}, 10)
	check(err)
	_, err = db.SumDeliveryCounts(ctx, []feedmill.ID{sub.ID, "sub_1", "sub_2"}, at, at)
	check(err)

	var queries, direct []string
	db.stmts.Range(func(query, _ any) bool {
		queries = append(queries, query.(string))
		return true
	})
	for range dueReaderCount {
		reader := <-db.dueReaders
		direct = slices.AppendSeq(direct, maps.Keys(reader.stmts))
		db.dueReaders <- reader
	}
	check(db.write(ctx, func(tx *tx) error {
		for query := range tx.stmts {
			queries = append(queries, query)
		}
		direct = slices.AppendSeq(direct, maps.Keys(tx.direct.stmts))
		return nil
	}))
	for _, query := range direct {
		if boundLimit.MatchString(query) {
			t.Errorf("SQLite plans by the value of this LIMIT and prepares the statement anew for each; write a number, or add 0 to it:\n%s", query)
		}
	}
	queries = append(queries, direct...)
	if len(queries) < 40 {
		t.Fatalf("%d queries were seen, want all that the store has", len(queries))
	}
	for _, query := range queries {
		steps := plan(t, db, query)
		if problem := problemOf(query, steps); problem != "" {
			t.Errorf("%s:\n%s\n\t%s", problem, query, strings.Join(steps, "\n\t"))
		}
	}
}

// boundLimit is a LIMIT that is a parameter and nothing else.
var boundLimit = regexp.MustCompile(`LIMIT \?\d*\s*($|[^\s\d+])`)

// problemOf says what is slow in a plan. To scan what the query itself has
// picked before is not, nor is to sort a part of a list at the end, or the few that were found.
func problemOf(query string, steps []string) string {
	picked := map[string]bool{"CONSTANT": true}
	part := strings.Contains(query, ") part CROSS JOIN feeds f ")
	for i, step := range steps {
		words := strings.Fields(step)
		switch {
		case words[0] == "CO-ROUTINE", words[0] == "MATERIALIZE":
			picked[words[1]] = true
		case words[0] == "SCAN" && !picked[words[1]] && !mayScan(query, step):
			return "reads all of " + words[1]
		case part && (i == len(steps)-1 || steps[i-1] == "SCAN few") && step == "USE TEMP B-TREE FOR ORDER BY":
		case strings.Contains(query, " feeds f ") && strings.HasPrefix(step, "SEARCH f ") && strings.HasSuffix(step, "(workspace_id=?)"):
			return "reads the records of all feeds"
		case strings.Contains(step, "TEMP B-TREE") && !strings.Contains(query, "WITH RECURSIVE resource") && query != nextFanout:
			return "sorts"
		}
	}
	return ""
}

// mayScan allows to read all of what is few: the replays, the open deliveries
// for their metrics, one row at the beginning or the end of a table, and a list that is given;
// and to read the sources once, when the file is opened.
func mayScan(query, step string) bool {
	return strings.HasPrefix(step, "SCAN json_each ") || strings.Contains(query, "FROM replays") || strings.HasPrefix(query, "UPDATE sources SET leased_until = NULL") ||
		strings.Contains(query, "EXISTS (SELECT 1 FROM fanouts)") || strings.HasSuffix(query, " DESC LIMIT 1") ||
		strings.HasSuffix(step, "INDEX deliveries_pending") || strings.HasSuffix(step, "INDEX deliveries_retrying")
}

func plan(t *testing.T, db *DB, query string) (steps []string) {
	t.Helper()
	switch strings.Fields(query)[0] {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
	default:
		return nil
	}
	conn, err := db.reads.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		stmt, err := c.(*sqlite3.SQLiteConn).Prepare(`EXPLAIN QUERY PLAN ` + query)
		if err != nil {
			return err
		}
		defer stmt.Close()
		nothing := make([]driver.NamedValue, stmt.NumInput())
		for i := range nothing {
			nothing[i].Ordinal = i + 1
		}
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(t.Context(), nothing)
		if err != nil {
			return err
		}
		defer rows.Close()
		for row := make([]driver.Value, len(rows.Columns())); ; {
			switch err := rows.Next(row); err {
			case nil:
				steps = append(steps, row[len(row)-1].(string))
			case io.EOF:
				return nil
			default:
				return err
			}
		}
	})
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	return steps
}

// exerciseListeners calls every method for listeners, with some that are like
// the subscription.
func exerciseListeners(t *testing.T, db *DB, sub feedmill.Subscription) {
	t.Helper()
	ctx := t.Context()
	one, two := sub, sub
	one.ID, two.ID = feedmill.NewID(feedmill.PrefixSubscription), feedmill.NewID(feedmill.PrefixSubscription)
	one.ListenUntil, two.ListenUntil = sub.CreatedAt, sub.CreatedAt
	_, listenerErr := db.Listener(ctx, sub.Workspace, sub.ID)
	err := errors.Join(
		db.CreateSubscriptions(ctx, []feedmill.Subscription{one, two}, 10, nil),
		db.ExtendListener(ctx, one.ID, sub.CreatedAt), db.DeleteListener(ctx, sub.Workspace, one.ID, sub.CreatedAt),
	)
	if err != nil || !errors.Is(listenerErr, feedmill.ErrNotFound) {
		t.Fatal(err, listenerErr)
	}
	if n, err := db.ExpireListeners(ctx, sub.CreatedAt, 10); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

// exerciseFeeds calls every method for feeds, their versions and refreshes.
func exerciseFeeds(t *testing.T, db *DB, w feedmill.ID) {
	t.Helper()
	ctx, at := t.Context(), time.Now()
	f := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w, CreatedAt: at, UpdatedAt: at}
	r := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: f.ID, StartedAt: at, State: feedmill.RefreshSucceeded}
	v := feedmill.FeedVersion{Feed: f.ID, Number: 1, Files: []feedmill.VersionFile{{Name: "1"}}, CreatedAt: at}
	f.Switch(v, r)
	createErr := db.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
	nothing := func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) { return nil, nil, nil }
	r.ID, v.Number, v.Files = feedmill.NewID(feedmill.PrefixRefresh), 2, []feedmill.VersionFile{{Name: "2"}}
	_, switchErr := db.SwitchVersion(ctx, w, v, r, nothing)
	_, recordErr := db.RecordRefresh(ctx, w, r, nothing)
	_, feedErr := db.Feed(ctx, w, f.ID)
	_, feedsErr := db.Feeds(ctx, w, feedmill.Page{Limit: 1})
	_, sourceErr := db.FeedSource(ctx, w, f.ID)
	_, versionErr := db.FeedVersion(ctx, w, f.ID, 1)
	_, versionsErr := db.FeedVersions(ctx, w, f.ID, at, 0, 1)
	_, pinErr := db.PinVersion(ctx, w, f.ID, 1, true, at)
	_, crowdedErr := db.CrowdedVersions(ctx, 1)
	joinErr := db.JoinFiles(ctx, feedmill.VersionRef{Workspace: w, Feed: f.ID, Number: 2}, []string{"2"}, feedmill.VersionFile{Name: "3"}, func(feedmill.FeedVersion, *feedmill.VersionFile) bool { return true })
	_, staleErr := db.StaleFeeds(ctx, at, 1)
	profileErr := db.KeepProfile(ctx, feedmill.VersionRef{Workspace: w, Feed: f.ID, Number: 2}, nil)
	_, profiledErr := db.VersionProfile(ctx, feedmill.VersionRef{Workspace: w, Feed: f.ID, Number: 2})
	_, refreshErr := db.Refresh(ctx, w, f.ID, r.ID)
	_, refreshesErr := db.Refreshes(ctx, w, f.ID, feedmill.Page{Limit: 1})
	deleteErr := db.DeleteFeed(ctx, w, f.ID, at, nil)
	if err := errors.Join(staleErr, profileErr, profiledErr, pinErr, crowdedErr, joinErr, createErr, switchErr, recordErr, feedErr, feedsErr, sourceErr, versionErr, versionsErr, refreshErr, refreshesErr, deleteErr); err != nil {
		t.Fatal(err)
	}
	if files, _, err := db.ForgetVersions(ctx, at.Add(feedmill.KeepDeletedFor), 10); err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	_, _, forgetErr := db.ForgetRefreshes(ctx, at.Add(time.Hour), 10)
	_, unusedErr := db.UnusedFiles(ctx, []string{"1"})
	if err := errors.Join(forgetErr, unusedErr); err != nil {
		t.Fatal(err)
	}
	exerciseObjects(t, db)
}

// exerciseObjects calls every method for the rows of files.
func exerciseObjects(t *testing.T, db *DB) {
	t.Helper()
	ctx, files := t.Context(), []feedmill.UnreferencedFile{{Name: "1", Bytes: 1}}
	_, idErr := db.StoreID(ctx, "1")
	_, _, locationErr := db.FileLocation(ctx)
	_, loseErr := db.LoseWriting(ctx, time.Hour)
	_, storedErr := db.StoredObjects(ctx, "", 1)
	if err := errors.Join(locationErr, loseErr, storedErr, db.CloseFiles(ctx, "m", "l", time.Hour), db.KeepClosed(ctx, "m", "l", time.Hour), db.OpenFiles(ctx, "m", "l")); err != nil {
		t.Fatal(err)
	}
	if err := db.EndMove(ctx, "m", "", "l", "p"); !errors.Is(err, feedmill.ErrConflict) {
		t.Fatal(err)
	}
	beginErr, renewErr := db.BeginObject(ctx, "9", "one", ""), db.RenewObjects(ctx, "one")
	_, abandonedErr := db.AbandonedObjects(ctx, time.Hour, "", 1)
	abandonErr, markErr, foundErr := db.AbandonObjects(ctx, files), db.MarkUnreferenced(ctx, files), db.FoundObjects(ctx, files)
	_, unknownErr := db.UnknownObjects(ctx, []string{"1"})
	_, deletingErr := db.BeginDeleting(ctx, -time.Hour, 0, 1)
	endErr, forgetErr := db.EndDeleting(ctx, []string{"1"}), db.ForgetObject(ctx, "9")
	_, forgottenErr := db.ForgetObjects(ctx, time.Hour, 1)
	if err := errors.Join(idErr, beginErr, renewErr, abandonedErr, abandonErr, markErr, foundErr, unknownErr, deletingErr, endErr, forgetErr, forgottenErr); err != nil {
		t.Fatal(err)
	}
}

// exerciseSources calls every method for sources.
func exerciseSources(t *testing.T, db *DB, w feedmill.ID) {
	t.Helper()
	ctx, at := t.Context(), time.Now()
	s := feedmill.Source{ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: w, DueAt: at, LeasedUntil: at, Run: 1, CreatedAt: at, UpdatedAt: at}
	f := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w, Source: s.ID, Name: "a", State: feedmill.FeedFailed, Type: feedmill.FeedREST, CreatedAt: at, UpdatedAt: at}
	more := f
	more.ID = feedmill.NewID(feedmill.PrefixDataFeed)
	r := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: f.ID, StartedAt: at, State: feedmill.RefreshRunning}
	createErr := db.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Source: &s}, nil, nil)
	addErr := db.CreateFeed(ctx, feedmill.NewFeed{Feed: more}, nil, nil)
	_, sourceErr := db.Source(ctx, w, s.ID)
	changeErr := db.ChangeSource(ctx, w, s.ID, func(c *feedmill.SourceChange) error {
		v := feedmill.FeedVersion{Feed: f.ID, Number: 1, CreatedAt: at}
		c.Versions, c.Refreshes = []feedmill.FeedVersion{v}, []feedmill.Refresh{r}
		c.Traces = []feedmill.Trace{{Refresh: r.ID, Feed: f.ID}}
		c.Feeds[0].Switch(v, r)
		return nil
	})
	due, dueErr := db.DueSources(ctx, at, 1, 9)
	renewErr := db.RenewSource(ctx, w, s.ID, 1, at, []feedmill.Refresh{r})
	_, traceErr := db.RefreshTrace(ctx, w, f.ID, r.ID)
	deleteErr := db.DeleteFeed(ctx, w, f.ID, at, nil)
	if err := errors.Join(createErr, addErr, sourceErr, changeErr, dueErr, renewErr, traceErr, deleteErr); err != nil || len(due) != 1 {
		t.Fatal(err, due)
	}
	if err := db.RenewSource(ctx, w, s.ID, 2, at, nil); !errors.Is(err, feedmill.ErrConflict) {
		t.Fatal(err)
	}
}

// exercise calls every method of the events half that has a query of its own,
// and returns the subscription that it did so with.
func exercise(t *testing.T, db *DB) feedmill.Subscription {
	t.Helper()
	ctx, at := t.Context(), time.Now()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: at}
	check(db.CreateWorkspace(ctx, w, nil))
	exerciseFeeds(t, db, w.ID)
	exerciseSources(t, db, w.ID)
	sub := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Events: []string{"metric.*"},
		State: feedmill.SubscriptionActive, CreatedAt: at, UpdatedAt: at,
	}
	gone := sub
	gone.ID = feedmill.NewID(feedmill.PrefixSubscription)
	check(db.CreateSubscriptions(ctx, []feedmill.Subscription{sub, gone}, 10, nil))
	check(db.DeleteSubscription(ctx, w.ID, gone.ID, at))
	_, err := db.Subscription(ctx, w.ID, sub.ID)
	check(err)
	_, err = db.SubscriptionForDelivery(ctx, sub.ID)
	check(err)
	_, err = db.SubscriptionsForDelivery(ctx, []feedmill.ID{sub.ID, gone.ID})
	check(err)
	_, err = db.Subscriptions(ctx, w.ID, feedmill.Page{Limit: 1})
	check(err)
	exerciseListeners(t, db, sub)

	var due []feedmill.DueDelivery
	for i := range 4 {
		e := feedmill.Event{
			ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: "metric.created", Timestamp: at,
			DedupeKey: fmt.Sprint(i % 3), ResourceID: []string{"", "m_1"}[i%2], Payload: []byte("{}"),
		}
		_, fresh, err := db.Accept(ctx, []feedmill.Event{e}, nil)
		check(err)
		due = append(due, fresh...)
	}
	_, err = db.Event(ctx, w.ID, due[0].Event)
	check(err)
	_, err = db.EventRoutes(ctx, w.ID, []feedmill.ID{due[0].Event}, 9)
	check(err)
	_, err = db.Delivery(ctx, w.ID, due[0].ID)
	check(err)
	_, err = db.DueSubscriptions(ctx, []int{1}, at, "", 1)
	check(err)
	for _, q := range []feedmill.DueQuery{{}, {Heads: true}, {Heads: true, After: new("a")}, {Heads: true, Resources: []string{"a"}}, {Heads: true, Retries: true}, {From: due[0].ID}} {
		q.Subscription, q.Now, q.Limit = sub.ID, at, 1
		_, err = db.Due(ctx, q)
		check(err)
	}
	_, _, err = db.OpenWork(ctx, at)
	check(err)
	_, err = db.ChangeSubscription(ctx, w.ID, sub.ID, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		s.Delivery.Ordered = true
		return nil, nil
	})
	check(err)
	_, err = db.OrderOpen(ctx, sub.ID, 1)
	check(err)
	_, err = db.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: at, Heads: true, Resources: []string{""}, Each: 2, Limit: 2})
	check(err)
	o := feedmill.Outcome{
		Workspace: w.ID, Subscription: sub.ID, Delivery: due[0].ID, At: at, State: feedmill.DeliveryExhausted, Succeeded: true, Warn: true,
		Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), At: at, Body: []byte("no")},
	}
	_, err = db.Settle(ctx, []feedmill.Outcome{o, o})
	check(err)
	_, err = db.DeliveryAttempts(ctx, due[0].ID)
	check(err)
	_, _, err = db.Rewind(ctx, nil, at, feedmill.RetryPosition{}, 1)
	check(err)
	_, err = db.RetryDelivery(ctx, w.ID, due[0].ID, 1, at, nil)
	check(err)
	for _, selection := range feedmill.ReplaySelections {
		r := feedmill.NewReplay(feedmill.Replay{Workspace: w.ID, Subscription: sub.ID, Selection: selection, Until: at.Add(time.Hour), CreatedAt: at})
		check(db.CreateReplay(ctx, r, nil))
		for range 3 {
			_, _, err = db.StepReplay(ctx, at, 10)
			check(err)
		}
		_, err = db.Replay(ctx, w.ID, sub.ID, r.ID)
		check(err)
	}
	var promised int64
	check(db.row(ctx, `SELECT seq FROM events WHERE workspace_id = ? AND id = ?`, w.ID, due[0].Event).Scan(&promised))
	e := feedmill.Event{ID: due[0].Event, Workspace: w.ID, Type: "metric.created", ResourceID: "m_1"}
	check(db.write(ctx, func(tx *tx) error { return tx.promise(e, promised) }))
	_, err = db.Fanouts(ctx, w.ID, []feedmill.ID{e.ID})
	check(err)
	for _, limit := range []int{1, 10} {
		_, worked, err := db.StepFanout(ctx, at, storetest.UpTo(limit, 0))
		if check(err); !worked {
			t.Fatal("nothing is promised")
		}
	}
	_, err = db.DiscardOpen(ctx, sub.ID, "", at, 10)
	check(err)
	o.Disable = feedmill.DisabledGone
	_, err = db.Settle(ctx, []feedmill.Outcome{o})
	check(err)
	_, err = db.Prune(ctx, at, at.Add(time.Hour))
	check(err)
	return sub
}

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// newFeed is a feed that was made of an upload, with every field set that such
// a feed can have, and the version and the refresh that belong to it.
func newFeed(w feedmill.ID) (feedmill.Feed, feedmill.FeedVersion, feedmill.Refresh) {
	at := now()
	f := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w, Source: feedmill.NewID(feedmill.PrefixDataSource),
		Name: "Orders ü", Description: "a feed", Type: feedmill.FeedUpload, State: feedmill.FeedPending,
		Mode: feedmill.ModeMerge, Keep: feedmill.DefaultKeep, Expects: feedmill.Expectations{
			Schema: feedmill.SchemaFreeze, Every: time.Hour, Rows: feedmill.ExpectedRows{MinRows: 1, MaxDrop: new(0.5), NotNull: []string{"line"}, Unique: []string{"line"}},
		}, Key: []string{"order no", "line"}, Spec: []byte(`{"format":"csv"}`),
		Schedule: feedmill.Schedule{Cron: "5 * * * *", Timezone: "Europe/Berlin"}, NextRefreshAt: at.Add(time.Hour), Failures: 3, Position: []byte(`{"cursor":7}`),
		Rules: 7, Pins: feedmill.Pins{Schema: "sales", View: "a.\x00b", Fields: []feedmill.PinnedField{{Name: "at", Type: columnar.TypeTimestamp, Zoned: true}, {Name: "n", Type: columnar.TypeDecimal}}},
		CreatedAt: at, UpdatedAt: at,
	}
	v, r := nextVersion(f)
	f.Switch(v, r)
	return f, v, r
}

// nextVersion is a version to come after the feed's current one, and the refresh
// that brings it.
func nextVersion(f feedmill.Feed) (feedmill.FeedVersion, feedmill.Refresh) {
	at, r := now(), newRefresh(f, feedmill.RefreshSucceeded)
	r.Version = f.Version + 1
	v := feedmill.FeedVersion{
		Feed: f.ID, Number: r.Version, Rows: 1 << 40, Bytes: 1 << 41, ContentHash: "sha256:" + string(r.ID), CreatedAt: at,
		Columns: []feedmill.Column{
			{ID: "c1", Name: "order no", SourceName: "Order\x00 \"No\"", Type: columnar.TypeText, Nullable: true},
			{ID: "c2", Name: "price", Type: columnar.TypeDecimal, Format: "EUR", Precision: 38, Scale: 2},
		},
		Warnings: r.Warnings, Refresh: r.ID, Original: string(f.ID) + "/" + string(r.ID) + ".csv", OriginalBytes: 1 << 35,
	}
	v.Files = []feedmill.VersionFile{
		{Name: string(f.ID) + "/" + string(r.ID) + ".parquet", Rows: 1<<40 - 1, Bytes: 1<<41 - 1, Sum: "a5", Cuts: []int64{7, 1 << 39}, LargestRow: 1 << 26},
		{Name: string(f.ID) + "/" + string(r.ID) + "-2.parquet", Rows: 1, Bytes: 1, Columns: v.Columns[1:]},
	}
	v.Keyed, v.Position, v.Rules = []string{"c1"}, []byte(`{"cursor":8}`), 6
	v.Changes = feedmill.VersionChanges{Rows: &feedmill.RowChanges{Inserted: 1 << 40, Updated: 2, Deleted: 3}, Columns: feedmill.ColumnChanges{Added: []string{"price"}}}
	r.Changes = v.Changes
	return v, r
}

// newRefresh is a refresh of the feed that has ended in the state given.
func newRefresh(f feedmill.Feed, state feedmill.RefreshState) feedmill.Refresh {
	id := feedmill.NewID(feedmill.PrefixRefresh)
	r := feedmill.Refresh{
		ID: id, Feed: f.ID, State: state, StartedAt: now().Add(-time.Minute), EndedAt: now(),
		Trigger: "key_1", Stage: feedmill.StageStoring, Requests: 1<<33 + 1, Pages: 1 << 33, Unchanged: true, BytesIn: 1 << 42, RowsIn: 1<<40 + 15, RowsStored: 1 << 40, RowsRejected: 3, RowsSuperseded: 5, RowsKnown: 7, Checks: []feedmill.CheckResult{{Check: feedmill.CheckUnique, Column: "id", Found: 2}, {Check: feedmill.CheckMaxDrop, Passed: true, Found: 9, Before: 10}}, Parts: 1<<34 + 1, PartsDone: 1 << 34, Rejects: string(f.ID) + "/" + string(id) + ".rejects",
		Warnings: []feedmill.Warning{{Code: feedmill.WarnDates, Column: "order no", Count: 2, FirstRow: 7, Detail: "which \x00?"}},
	}
	if state == feedmill.RefreshFailed {
		r.Error = &feedmill.FeedError{Type: "/problems/unreadable", Title: "It cannot be read", Detail: "Line 7 has no end.", At: now()}
	}
	return r
}

// makeFeed creates a feed of the workspace with a version.
func makeFeed(t *testing.T, s Store, w feedmill.ID) feedmill.Feed {
	t.Helper()
	f, v, r := newFeed(w)
	err := s.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
	must(t, err)
	return f
}

// told is an event that tells of a feed.
func told(f feedmill.Feed, what string) feedmill.Event {
	e := newEvent(f.Workspace, "datafeed.source."+what, string(f.ID))
	e.Source = f.Source
	return e
}

// telling is a change that tells of itself and does nothing else.
func telling(what string) FeedChange {
	return func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		return nil, []feedmill.Event{told(*f, what)}, nil
	}
}

// found holds that the store has the feed as it is given.
func found(t *testing.T, s Store, f feedmill.Feed) {
	t.Helper()
	got, err := s.Feed(t.Context(), f.Workspace, f.ID)
	must(t, err)
	equal(t, "the feed", f, got)
}

// noFeed holds that nothing of a feed is to be seen in a workspace.
func noFeed(t *testing.T, s Store, w feedmill.ID, f feedmill.Feed) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Feed(ctx, w, f.ID)
	want(t, err, feedmill.ErrNotFound)
	_, err = s.FeedSource(ctx, w, f.ID)
	want(t, err, feedmill.ErrNotFound)
	_, err = s.FeedVersion(ctx, w, f.ID, 1)
	want(t, err, feedmill.ErrNotFound)
	_, err = s.Refresh(ctx, w, f.ID, f.LastRefresh.ID)
	want(t, err, feedmill.ErrNotFound)
	feeds, err := s.Feeds(ctx, w, feedmill.Page{Limit: 10})
	must(t, err)
	versions, err := s.FeedVersions(ctx, w, f.ID, now(), 0, 10)
	must(t, err)
	refreshes, err := s.Refreshes(ctx, w, f.ID, feedmill.Page{Limit: 10})
	must(t, err)
	if slices.ContainsFunc(feeds, func(l feedmill.Feed) bool { return l.ID == f.ID }) || len(versions)+len(refreshes) != 0 {
		t.Errorf("listed are %v, %v, %v", feeds, versions, refreshes)
	}
}

// noEvents holds that nothing was told in a workspace.
func noEvents(t *testing.T, s Store, w feedmill.ID) {
	t.Helper()
	events, err := s.Events(t.Context(), w, feedmill.EventQuery{Page: feedmill.Page{Limit: 10}})
	must(t, err)
	equal(t, "events", nil, events)
}

// delivered holds that an event has one delivery to the subscription, due now.
func delivered(t *testing.T, s Store, e feedmill.Event, sub feedmill.Subscription, due []feedmill.DueDelivery) {
	t.Helper()
	if len(due) != 1 || due[0].Event != e.ID || due[0].Subscription != sub.ID || due[0].MaxAttempts != maxAttempts || due[0].Seq == 0 || string(due[0].Payload) != string(e.Payload) {
		t.Fatalf("due is %+v", due)
	}
	got, err := s.Event(t.Context(), e.Workspace, e.ID)
	must(t, err)
	equal(t, "the event", stored(e), got)
	d, err := s.Delivery(t.Context(), e.Workspace, due[0].ID)
	must(t, err)
	equal(t, "the delivery", due[0].Delivery, d)
}

var feedCases = []testCase{
	{name: "created and found with all that belongs to it, in its workspace alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, v, r := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
		must(t, err)
		equal(t, "due", nil, offered(s))
		found(t, s, f)
		source, err := s.FeedSource(ctx, w.ID, f.ID)
		must(t, err)
		equal(t, "source", f.Source, source)
		version, err := s.FeedVersion(ctx, w.ID, f.ID, 1)
		must(t, err)
		equal(t, "version", v, version)
		refresh, err := s.Refresh(ctx, w.ID, f.ID, r.ID)
		must(t, err)
		equal(t, "refresh", r, refresh)
		noFeed(t, s, newWorkspace(t, s).ID, f)
	}},
	{name: "created without data", run: func(t *testing.T, open func(*testing.T) Store) {
		s, at := open(t), now()
		w := newWorkspace(t, s)
		f := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w.ID, Type: feedmill.FeedUpload, State: feedmill.FeedPending, CreatedAt: at, UpdatedAt: at}
		err := s.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f}, nil, nil)
		must(t, err)
		found(t, s, f)
	}},
	{name: "a creation is told and answered in one", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, v, r := newFeed(w.ID)
		sub := newSubscription(w.ID, "datasource.*")
		sub.ResourceID = feedmill.InternalFilter(f.Source, f.ID)
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{sub}, 0, nil))
		response, e := newOnce(w.ID, "k1"), told(f, "created")
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, []feedmill.Event{e}, &response)
		must(t, err)
		delivered(t, s, e, sub, offered(s))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
	}},
	{name: "a creation that is refused leaves nothing", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subscribe(t, s, w.ID, "datasource.*")
		taken, response := newOnce(w.ID, "taken"), newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, taken))
		there := makeFeed(t, s, w.ID)

		f, v, r := newFeed(w.ID)
		events := []feedmill.Event{told(f, "created")}
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, events, &taken)
		want(t, err, feedmill.ErrIdempotencyKeyUsed)
		second := v
		second.Number = 2
		err = s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &second, Refresh: &r}, events, &response)
		want(t, err, feedmill.ErrConflict)
		noFeed(t, s, w.ID, f)
		unused, err := s.UnusedFiles(ctx, []string{v.Files[0].Name, v.Original, r.Rejects})
		must(t, err)
		equal(t, "unused", []string{v.Files[0].Name, v.Original, r.Rejects}, unused)

		again := f
		again.ID = there.ID
		err = s.CreateFeed(ctx, feedmill.NewFeed{Feed: again, Version: &v, Refresh: &r}, events, &response)
		want(t, err, feedmill.ErrConflict)
		found(t, s, there)
		f.Workspace = feedmill.NewID(feedmill.PrefixWorkspace)
		err = s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, &response)
		want(t, err, feedmill.ErrNotFound)
		noEvents(t, s, w.ID)
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "listed newest first in pages", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		makeFeed(t, s, newWorkspace(t, s).ID)
		var made, listed []feedmill.Feed
		for range 5 {
			made = append(made, makeFeed(t, s, w.ID))
		}
		slices.Reverse(made)
		for page := (feedmill.Page{Limit: 2}); ; page.Before = listed[len(listed)-1].ID {
			part, err := s.Feeds(ctx, w.ID, page)
			must(t, err)
			if len(part) == 0 {
				break
			}
			listed = append(listed, part...)
		}
		equal(t, "listed", made, listed)
	}},
	{name: "a change writes all but what never changes, tells of it and is answered", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, old := subscribe(t, s, w.ID, "datasource.updated"), makeFeed(t, s, w.ID)
		changed, _, _ := newFeed(newWorkspace(t, s).ID)
		changed.Name, changed.Description, changed.State, changed.Type = "new", "", feedmill.FeedPaused, feedmill.FeedREST
		changed.Version, changed.RowCount, changed.ByteSize, changed.ContentHash = 7, 1, 2, "other"
		changed.Columns, changed.Warnings, changed.Key = changed.Columns[:1], nil, nil
		changed.Mode, changed.Spec, changed.NextRefreshAt = feedmill.ModeAppend, []byte("{}"), time.Time{}
		changed.Schedule, changed.Failures, changed.Position = feedmill.Schedule{Every: time.Hour}, 0, nil
		changed.Rules, changed.Pins = 8, feedmill.Pins{}
		changed.LastError = &feedmill.FeedError{Type: "/problems/other", At: now()}
		changed.CreatedAt, changed.UpdatedAt = now().Add(time.Hour), now().Add(time.Hour)
		response, e := newOnce(w.ID, "k1"), told(old, "updated")
		got, err := s.ChangeFeed(ctx, w.ID, old.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			equal(t, "before", old, *f)
			*f = changed
			return &response, []feedmill.Event{e}, nil
		})
		must(t, err)
		changed.ID, changed.Workspace, changed.Source, changed.Type = old.ID, old.Workspace, old.Source, old.Type
		changed.Version, changed.LastRefresh, changed.CreatedAt = old.Version, old.LastRefresh, old.CreatedAt
		equal(t, "returned", changed, got)
		found(t, s, changed)
		delivered(t, s, e, sub, offered(s))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
	}},
	{name: "a change that is refused leaves everything as it was", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		old, taken, refusal := makeFeed(t, s, w.ID), newOnce(w.ID, "taken"), errors.New("no")
		must(t, s.KeepResponse(ctx, taken))
		for _, c := range []struct{ given, wanted error }{{refusal, refusal}, {nil, feedmill.ErrIdempotencyKeyUsed}} {
			change := func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				f.Name = "new"
				return &taken, []feedmill.Event{told(*f, "updated")}, c.given
			}
			v, r := nextVersion(old)
			_, err := s.ChangeFeed(ctx, w.ID, old.ID, change)
			want(t, err, c.wanted)
			equal(t, "due", nil, offered(s))
			_, err = s.SwitchVersion(ctx, w.ID, v, r, change)
			want(t, err, c.wanted)
			_, err = s.RecordRefresh(ctx, w.ID, newRefresh(old, feedmill.RefreshFailed), change)
			want(t, err, c.wanted)
			_, err = s.FeedVersion(ctx, w.ID, old.ID, 2)
			want(t, err, feedmill.ErrNotFound)
		}
		found(t, s, old)
		noEvents(t, s, w.ID)
		refreshes, err := s.Refreshes(ctx, w.ID, old.ID, feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "refreshes", []feedmill.Refresh{*old.LastRefresh}, refreshes)
	}},
	{name: "what is not there, or another workspace's, is not changed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, other, at := makeFeed(t, s, w.ID), newWorkspace(t, s).ID, now()
		change := func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			t.Error("a feed is changed")
			return nil, nil, nil
		}
		v, r := nextVersion(f)
		_, err := s.ChangeFeed(ctx, other, f.ID, change)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.SwitchVersion(ctx, other, v, r, change)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.RecordRefresh(ctx, other, r, change)
		want(t, err, feedmill.ErrNotFound)
		err = s.DeleteFeed(ctx, other, f.ID, at, []feedmill.Event{told(f, "deleted")})
		want(t, err, feedmill.ErrNotFound)
		found(t, s, f)
		noEvents(t, s, w.ID)
	}},
	{name: "changes at the same time are alone with the feed", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		f := makeFeed(t, s, w.ID)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				_, err := s.ChangeFeed(t.Context(), w.ID, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
					f.Key = append(f.Key, fmt.Sprint(i))
					return nil, []feedmill.Event{told(*f, "updated")}, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got, err := s.Feed(t.Context(), w.ID, f.ID)
		must(t, err)
		if len(got.Key) != len(f.Key)+8 {
			t.Errorf("the key is %q after eight changes", got.Key)
		}
	}},
	{name: "deleted, with all that belongs to it, and told", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, stays, sub := makeFeed(t, s, w.ID), makeFeed(t, s, w.ID), newSubscription(w.ID, "datasource.*")
		sub.ResourceID = feedmill.InternalFilter(f.Source, f.ID)
		must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{sub}, 0, nil))
		e := told(f, "deleted")
		err := s.DeleteFeed(ctx, w.ID, f.ID, now(), []feedmill.Event{e})
		must(t, err)
		delivered(t, s, e, sub, offered(s))
		noFeed(t, s, w.ID, f)
		found(t, s, stays)

		second := told(f, "deleted")
		err = s.DeleteFeed(ctx, w.ID, f.ID, now(), []feedmill.Event{second})
		want(t, err, feedmill.ErrNotFound)
		_, err = s.Event(ctx, w.ID, second.ID)
		want(t, err, feedmill.ErrNotFound)
		v, r := nextVersion(f)
		_, err = s.SwitchVersion(ctx, w.ID, v, r, telling("refreshed"))
		want(t, err, feedmill.ErrNotFound)
	}},
}

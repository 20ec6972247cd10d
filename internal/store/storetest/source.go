package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Sources are what feeds fetch from.
type Sources interface {
	// Source finds a source. Uploads have none.
	Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error)
	// ChangeSource changes a source and its feeds, alone with them, and writes
	// in the same transaction what the change says is to be written with it.
	// A version that is not the next of its feed is feedmill.ErrConflict, and
	// of a feed that the source does not have nothing can be written, which is
	// feedmill.ErrNotFound. A refresh that is not the LastRefresh of its feed
	// in the end is an older one. The ids, workspaces, types, CreatedAt, and
	// versions other than by Versions, stay as they are. Feeds that change
	// appends are new ones of the source; none can be taken away. An error of change is returned as it is, and leaves
	// everything as it was. Where the transaction is tried again change is
	// called again, with what it finds then, and the last time counts; it must
	// not call the store.
	ChangeSource(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error) error
	// DueSources are up to limit sources, in any workspace, that are due at now
	// and that no run has then, in the order in which they became due; at most
	// each of those of one workspace that ask the same host.
	DueSources(ctx context.Context, now time.Time, each, limit int) ([]feedmill.DueSource, error)
	// ReleaseSources ends all leases of a holder that is known to be gone, and counts
	// them.
	ReleaseSources(ctx context.Context, holder string) (int64, error)
	// RenewSource extends the lease of a run to a time, and notes the requests,
	// pages, bytes and rows of those of its refreshes that are running; no
	// feed is touched. A run that does not have the lease any more, because it
	// has ended or another has begun, gets feedmill.ErrConflict.
	RenewSource(ctx context.Context, workspace, id feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error
	// RefreshTrace is what was asked for in a refresh of a feed; none where
	// nothing was.
	RefreshTrace(ctx context.Context, workspace, feed, id feedmill.ID) ([]feedmill.TracedRequest, error)
}

// newSource is a source with every field set, which nobody has a lease of.
func newSource(w feedmill.ID) feedmill.Source {
	at := now()
	return feedmill.Source{
		ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: w, Type: feedmill.FeedREST, Host: "api.example.com",
		Spec: []byte(`{"url":"https://api.example.com"}`), Secrets: []byte{0, 1, 0xff},
		Schedule: feedmill.Schedule{Every: 90 * time.Minute, Cron: "0 3 * * *", Timezone: "Europe/Berlin"},
		DueAt:    at.Add(-time.Minute), Run: 1 << 40, CreatedAt: at, UpdatedAt: at,
	}
}

// fetched is a new feed of the source, with a refresh that is to come.
func fetched(s feedmill.Source) feedmill.NewFeed {
	at := now()
	n := feedmill.NewFeed{Feed: feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: s.Workspace, Source: s.ID, Name: "fetched", Type: feedmill.FeedREST,
		State: feedmill.FeedPending, Mode: feedmill.ModeReplace, Schedule: s.Schedule, NextRefreshAt: s.DueAt, CreatedAt: at, UpdatedAt: at,
	}}
	n.Refresh = &feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: n.Feed.ID, State: feedmill.RefreshPending, StartedAt: at}
	n.Feed.LastRefresh = n.Refresh
	return n
}

// makeSource creates a source with as many feeds as asked for, oldest first.
func makeSource(t *testing.T, s Store, w feedmill.ID, feeds int) (feedmill.Source, []feedmill.Feed) {
	t.Helper()
	source := newSource(w)
	return source, makeFeeds(t, s, source, feeds)
}

// makeFeeds creates the source with its feeds.
func makeFeeds(t *testing.T, s Store, source feedmill.Source, feeds int) (made []feedmill.Feed) {
	t.Helper()
	for i := range feeds {
		n := fetched(source)
		if i == 0 {
			n.Source = &source
		}
		err := s.CreateFeed(t.Context(), n, nil, nil)
		must(t, err)
		made = append(made, n.Feed)
	}
	return made
}

// foundSource holds that the store has the source as it is given.
func foundSource(t *testing.T, s Store, source feedmill.Source) {
	t.Helper()
	got, err := s.Source(t.Context(), source.Workspace, source.ID)
	must(t, err)
	equal(t, "the source", source, got)
}

// noSource holds that a source is not there for anybody.
func noSource(t *testing.T, s Store, w, id feedmill.ID) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Source(ctx, w, id)
	want(t, err, feedmill.ErrNotFound)
	err = s.ChangeSource(ctx, w, id, func(*feedmill.SourceChange) error {
		t.Error("a source is changed")
		return nil
	})
	want(t, err, feedmill.ErrNotFound)
	want(t, s.RenewSource(ctx, w, id, 1<<40, now(), nil), feedmill.ErrNotFound)
}

var sourceCases = []testCase{
	{name: "created with its first feed and found, in its workspace alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 1)
		foundSource(t, s, source)
		found(t, s, feeds[0])
		noSource(t, s, newWorkspace(t, s).ID, source.ID)
	}},
	{name: "created with nothing but what it must have", run: func(t *testing.T, open func(*testing.T) Store) {
		s, at := open(t), now()
		source := feedmill.Source{
			ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: newWorkspace(t, s).ID, Type: feedmill.FeedREST, CreatedAt: at, UpdatedAt: at,
		}
		makeFeeds(t, s, source, 1)
		foundSource(t, s, source)
	}},
	{name: "a creation is told and answered in one", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, source, response := subscribe(t, s, w.ID, "datasource.*"), newSource(w.ID), newOnce(w.ID, "k1")
		n := fetched(source)
		n.Source = &source
		e := told(n.Feed, "created")
		err := s.CreateFeed(ctx, n, []feedmill.Event{e}, &response)
		must(t, err)
		delivered(t, s, e, sub, offered(s))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
	}},
	{name: "a creation that is refused leaves no source", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		taken, source := newOnce(w.ID, "taken"), newSource(w.ID)
		must(t, s.KeepResponse(ctx, taken))
		there := makeFeed(t, s, w.ID)
		n := fetched(source)
		n.Source = &source
		err := s.CreateFeed(ctx, n, []feedmill.Event{told(n.Feed, "created")}, &taken)
		want(t, err, feedmill.ErrIdempotencyKeyUsed)
		n.Feed.ID = there.ID
		err = s.CreateFeed(ctx, n, []feedmill.Event{told(n.Feed, "created")}, nil)
		want(t, err, feedmill.ErrConflict)
		noSource(t, s, w.ID, source.ID)
		noEvents(t, s, w.ID)
		found(t, s, there)
	}},
	{name: "a source is created once", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, _ := makeSource(t, s, newWorkspace(t, s).ID, 1)
		n, other := fetched(source), source
		other.Host, n.Source = "another", &other
		err := s.CreateFeed(t.Context(), n, nil, nil)
		want(t, err, feedmill.ErrConflict)
		foundSource(t, s, source)
		noFeed(t, s, source.Workspace, n.Feed)
	}},
	{name: "a feed is made of a source that is there in its workspace, or not at all", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, _ := makeSource(t, s, newWorkspace(t, s).ID, 2)
		foundSource(t, s, source)
		for _, refused := range []feedmill.NewFeed{
			fetched(newSource(source.Workspace)),
			fetched(feedmill.Source{ID: source.ID, Workspace: newWorkspace(t, s).ID}),
		} {
			response := newOnce(refused.Feed.Workspace, "k1")
			err := s.CreateFeed(ctx, refused, []feedmill.Event{told(refused.Feed, "created")}, &response)
			want(t, err, feedmill.ErrNotFound)
			noFeed(t, s, refused.Feed.Workspace, refused.Feed)
			noEvents(t, s, refused.Feed.Workspace)
			_, err = s.KeptResponse(ctx, refused.Feed.Workspace, owner, "k1", now())
			want(t, err, feedmill.ErrNotFound)
		}
	}},
	{name: "a source stays with its feeds and goes with the last", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 2)
		other, _ := makeSource(t, s, source.Workspace, 1)
		err := s.DeleteFeed(ctx, source.Workspace, feeds[0].ID, now(), nil)
		must(t, err)
		foundSource(t, s, source)
		err = s.ChangeSource(ctx, source.Workspace, source.ID, func(c *feedmill.SourceChange) error {
			equal(t, "feeds", feeds[1:], c.Feeds)
			return nil
		})
		must(t, err)
		err = s.DeleteFeed(ctx, source.Workspace, feeds[1].ID, now(), nil)
		must(t, err)
		noSource(t, s, source.Workspace, source.ID)
		foundSource(t, s, other)
	}},
	{name: "a change of the feed alone leaves the source", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 1)
		f, err := s.ChangeFeed(t.Context(), source.Workspace, feeds[0].ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			f.Name = "new"
			return nil, nil, nil
		})
		must(t, err)
		found(t, s, f)
		foundSource(t, s, source)
	}},
}

package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Parents are the feeds that feeds are built from.
type Parents interface {
	// FeedParents lists the feeds that a feed is built from, also those that were deleted,
	// and FeedChildren the feeds that are built from a feed, newest first.
	FeedParents(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.ID, error)
	FeedChildren(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.FeedReference, error)
	// UnlinkedFeeds lists feeds of earlier releases that have no links to their parents
	// yet. MarkLinked takes one from the list.
	UnlinkedFeeds(ctx context.Context, limit int) ([]feedmill.Feed, error)
	MarkLinked(ctx context.Context, workspace, id feedmill.ID) error
}

// makeChild creates a source without a schedule whose only feed is built from others. The
// first refresh of the feed has ended.
func makeChild(t *testing.T, s Store, w feedmill.ID, parents ...feedmill.ID) feedmill.Feed {
	t.Helper()
	source := newSource(w)
	source.Schedule, source.DueAt, source.Run = feedmill.Schedule{}, time.Time{}, 0
	n := fetched(source)
	n.Source, n.Refresh = &source, new(newRefresh(n.Feed, feedmill.RefreshSucceeded))
	n.Feed.Record(*n.Refresh)
	for _, p := range parents {
		n.Parents = append(n.Parents, feedmill.ParentLink{Child: n.Feed.ID, Parent: p})
	}
	err := s.CreateFeed(t.Context(), n, nil, nil)
	must(t, err)
	return n.Feed
}

// switchVersion gives an upload its next version.
func switchVersion(t *testing.T, s Store, w, id feedmill.ID) {
	t.Helper()
	f, err := s.Feed(t.Context(), w, id)
	must(t, err)
	v, r := nextVersion(f)
	_, err = s.SwitchVersion(t.Context(), w, v, r, telling("refreshed"))
	must(t, err)
}

// requestedBy holds which feed a waiting refresh of a feed was requested by, empty for none,
// and that its source is due then.
func requestedBy(t *testing.T, s Store, child feedmill.Feed, parent feedmill.ID) {
	t.Helper()
	f, err := s.Feed(t.Context(), child.Workspace, child.ID)
	must(t, err)
	source, err := s.Source(t.Context(), child.Workspace, child.Source)
	must(t, err)
	by := ""
	if f.LastRefresh.State == feedmill.RefreshPending {
		by = f.LastRefresh.Trigger
	}
	if by != string(parent) || source.DueAt.IsZero() != (parent == "") {
		t.Errorf("the refresh %+v, due at %v, is not requested by %q", f.LastRefresh, source.DueAt, parent)
	}
}

// sourceOf is the source of a feed, as far as a change needs it.
func sourceOf(f feedmill.Feed) feedmill.Source {
	return feedmill.Source{Workspace: f.Workspace, ID: f.Source}
}

// begin begins a run of the source of a feed.
func begin(t *testing.T, s Store, f feedmill.Feed) {
	t.Helper()
	change(t, s, sourceOf(f), func(c *feedmill.SourceChange) {
		_, err := c.Begin(now(), now().Add(time.Minute))
		must(t, err)
	})
}

// end ends it.
func end(t *testing.T, s Store, f feedmill.Feed, o feedmill.FeedOutcome) {
	t.Helper()
	o.Feed = f.ID
	change(t, s, sourceOf(f), func(c *feedmill.SourceChange) {
		_, err := c.Finish(c.Source.Run, []feedmill.FeedOutcome{o}, now())
		must(t, err)
		c.CatchUp(now())
	})
}

var parentCases = []testCase{
	{name: "a new version has the feeds refreshed that are built from it, and no others", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w, other := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		first, second := makeFeed(t, s, w), makeFeed(t, s, w)
		child, both := makeChild(t, s, w, first.ID), makeChild(t, s, w, first.ID, second.ID)
		none, stranger := makeChild(t, s, w), makeChild(t, s, other, second.ID)
		switchVersion(t, s, w, second.ID)
		requestedBy(t, s, both, second.ID)
		for _, f := range []feedmill.Feed{child, none, stranger} {
			requestedBy(t, s, f, "")
		}
		switchVersion(t, s, w, first.ID)
		requestedBy(t, s, child, first.ID)
		requestedBy(t, s, both, second.ID) // which waits already
		refreshes, err := s.Refreshes(t.Context(), w, both.ID, feedmill.Page{Limit: 9})
		must(t, err)
		equal(t, "refreshes", 2, len(refreshes))
		// Children of children: a version that a run brings requests them, too.
		grandchild := makeChild(t, s, w, child.ID)
		begin(t, s, child)
		requestedBy(t, s, grandchild, "")
		kept, err := s.Feed(t.Context(), w, child.ID)
		must(t, err)
		v, r := nextVersion(kept)
		end(t, s, child, feedmill.FeedOutcome{Version: &v, Refresh: r})
		requestedBy(t, s, grandchild, child.ID)
		requestedBy(t, s, child, "")
	}},
	{name: "feeds with a schedule, paused ones and those that wait stay as they are", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s).ID
		parent := makeFeed(t, s, w)
		scheduled, paused := makeChild(t, s, w, parent.ID), makeChild(t, s, w, parent.ID)
		change(t, s, sourceOf(scheduled), func(c *feedmill.SourceChange) { c.Source.Schedule = feedmill.Schedule{Every: time.Hour} })
		change(t, s, sourceOf(paused), func(c *feedmill.SourceChange) {
			_, err := c.Pause(paused.ID, now())
			must(t, err)
		})
		switchVersion(t, s, w, parent.ID)
		requestedBy(t, s, scheduled, "")
		requestedBy(t, s, paused, "")
		change(t, s, sourceOf(paused), func(c *feedmill.SourceChange) {
			_, err := c.Resume(paused.ID, now())
			must(t, err)
			equal(t, "state", feedmill.FeedRefreshing, c.Feeds[0].State)
		})
	}},
	{name: "a version that comes during a run is followed by another run, unless the run has read it", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s).ID
		parent := makeFeed(t, s, w)
		child, reader, failing := makeChild(t, s, w, parent.ID), makeChild(t, s, w, parent.ID), makeChild(t, s, w, parent.ID)
		switchVersion(t, s, w, parent.ID) // its second
		for _, f := range []feedmill.Feed{child, reader, failing} {
			begin(t, s, f)
		}
		switchVersion(t, s, w, parent.ID)
		end(t, s, child, feedmill.FeedOutcome{Upstream: []feedmill.UpstreamVersion{{ID: parent.ID, Version: 2}}})
		end(t, s, reader, feedmill.FeedOutcome{Upstream: []feedmill.UpstreamVersion{{ID: parent.ID, Version: 3}}})
		end(t, s, failing, feedmill.FeedOutcome{Error: &feedmill.FeedError{Type: "/problems/x"}})
		requestedBy(t, s, child, parent.ID)
		requestedBy(t, s, reader, "")
		requestedBy(t, s, failing, parent.ID)
		begin(t, s, failing)
		end(t, s, failing, feedmill.FeedOutcome{Error: &feedmill.FeedError{Type: "/problems/x"}})
		requestedBy(t, s, failing, "")
	}},
	{name: "a feed that is deleted has the feeds refreshed that were built from it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s).ID
		parent, other := makeFeed(t, s, w), makeFeed(t, s, w)
		child, running := makeChild(t, s, w, parent.ID), makeChild(t, s, w, other.ID, parent.ID)
		switchVersion(t, s, w, other.ID)
		begin(t, s, running)
		err := s.DeleteFeed(ctx, w, parent.ID, now(), nil)
		must(t, err)
		requestedBy(t, s, child, parent.ID)
		end(t, s, running, feedmill.FeedOutcome{})
		requestedBy(t, s, running, parent.ID)
		begin(t, s, running)
		end(t, s, running, feedmill.FeedOutcome{})
		requestedBy(t, s, running, "")
		parents, err := s.FeedParents(ctx, w, child.ID)
		must(t, err)
		equal(t, "parents", []feedmill.ID{parent.ID}, parents)
	}},
	{name: "parents and children are listed, in their workspace alone, and can be replaced", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		first, second := makeFeed(t, s, w), makeFeed(t, s, w)
		child, both := makeChild(t, s, w, second.ID), makeChild(t, s, w, first.ID, second.ID)
		list := func(w, of feedmill.ID, wantParents []feedmill.ID, wantChildren ...feedmill.ID) {
			t.Helper()
			parents, err := s.FeedParents(ctx, w, of)
			must(t, err)
			equal(t, "parents", wantParents, parents)
			children, err := s.FeedChildren(ctx, w, of)
			must(t, err)
			var ids []feedmill.ID
			for _, c := range children {
				ids = append(ids, c.ID)
				equal(t, "name", child.Name, c.Name)
			}
			equal(t, "children", wantChildren, ids)
		}
		list(w, both.ID, []feedmill.ID{first.ID, second.ID})
		list(w, second.ID, nil, both.ID, child.ID)
		list(other, both.ID, nil)
		list(other, second.ID, nil)
		change(t, s, sourceOf(both), func(c *feedmill.SourceChange) {
			c.SetParents([]feedmill.FeedParent{{ID: first.ID}, {ID: child.ID}, {ID: first.ID}})
		})
		list(w, both.ID, []feedmill.ID{first.ID, child.ID})
		list(w, second.ID, nil, child.ID)
		err := s.DeleteFeed(ctx, w, child.ID, now(), nil)
		must(t, err)
		list(w, second.ID, nil)
		unlinked, err := s.UnlinkedFeeds(ctx, 9)
		must(t, err)
		equal(t, "feeds of earlier releases", 0, len(unlinked))
	}},
	{name: "no feed is built from its own rows, whoever changes feeds at the same time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s).ID
		feeds := []feedmill.Feed{makeChild(t, s, w), makeChild(t, s, w), makeChild(t, s, w)}
		var wg sync.WaitGroup
		errs := make([]error, len(feeds))
		for i, f := range feeds { // in a circle
			wg.Go(func() {
				errs[i] = s.ChangeSource(ctx, w, f.Source, func(c *feedmill.SourceChange) error {
					c.SetParents([]feedmill.FeedParent{{ID: feeds[(i+1)%len(feeds)].ID}})
					return nil
				})
			})
		}
		wg.Wait()
		refused := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
		if len(refused) != 1 || !errors.Is(refused[0], feedmill.ErrOwnParent) {
			t.Errorf("refused: %v", refused)
		}
	}},
	{name: "feeds of several generations get versions at the same time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s).ID
		top := makeFeed(t, s, w)
		first := makeChild(t, s, w, top.ID)
		second := makeChild(t, s, w, top.ID, first.ID)
		third := makeChild(t, s, w, top.ID, first.ID, second.ID)
		for range 8 {
			var wg sync.WaitGroup
			wg.Go(func() { switchVersion(t, s, w, top.ID) })
			for _, f := range []feedmill.Feed{third, second, first} {
				wg.Go(func() {
					err := s.ChangeSource(ctx, w, f.Source, func(c *feedmill.SourceChange) error {
						brings(c, &c.Feeds[0])
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
	}},
}

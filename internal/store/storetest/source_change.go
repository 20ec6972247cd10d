package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// change changes a source that is there.
func change(t *testing.T, s Store, source feedmill.Source, do func(*feedmill.SourceChange)) {
	t.Helper()
	err := s.ChangeSource(t.Context(), source.Workspace, source.ID, func(c *feedmill.SourceChange) error {
		do(c)
		return nil
	})
	must(t, err)
}

// claim gives a new run the source, with the refreshes of its feeds running.
func claim(t *testing.T, s Store, source feedmill.Source) (claimed feedmill.SourceChange) {
	t.Helper()
	change(t, s, source, func(c *feedmill.SourceChange) {
		c.Source.Run++
		c.Source.LeasedUntil = now().Add(time.Minute)
		for i := range c.Feeds {
			r := *c.Feeds[i].LastRefresh
			r.State, r.StartedAt = feedmill.RefreshRunning, now()
			c.Refreshes = append(c.Refreshes, r)
			c.Feeds[i].Record(r)
		}
		claimed = *c
	})
	return claimed
}

// brings adds to a change the next version of a feed, with the refresh that
// brings it and what was asked for.
func brings(c *feedmill.SourceChange, f *feedmill.Feed) {
	v, r := nextVersion(*f)
	r.Feed, r.Unchanged = f.ID, false
	f.Switch(v, r)
	c.Versions, c.Refreshes = append(c.Versions, v), append(c.Refreshes, r)
	c.Traces = append(c.Traces, feedmill.Trace{Refresh: r.ID, Feed: f.ID, Requests: newRequests(2)})
}

// unchanged holds that the store has a source and its feeds as they are given,
// and that they have no version and but their one refresh.
func unchanged(t *testing.T, s Store, source feedmill.Source, feeds []feedmill.Feed) {
	t.Helper()
	foundSource(t, s, source)
	for _, f := range feeds {
		found(t, s, f)
		_, err := s.FeedVersion(t.Context(), f.Workspace, f.ID, 1)
		want(t, err, feedmill.ErrNotFound)
		refreshes, err := s.Refreshes(t.Context(), f.Workspace, f.ID, feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "refreshes", []feedmill.Refresh{*f.LastRefresh}, refreshes)
	}
	noEvents(t, s, source.Workspace)
}

var sourceChangeCases = []testCase{
	{name: "it finds the source with its feeds, oldest first", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		makeFeed(t, s, w.ID)
		source, feeds := makeSource(t, s, w.ID, 3)
		makeSource(t, s, w.ID, 1)
		var got feedmill.SourceChange
		change(t, s, source, func(c *feedmill.SourceChange) { got = *c })
		equal(t, "found", feedmill.SourceChange{Source: source, Feeds: feeds}, got)
		equal(t, "due", nil, offered(s))
		unchanged(t, s, source, feeds)
	}},
	{name: "it writes the source and the feeds, all but what never changes", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 2)
		other := newSource(newWorkspace(t, s).ID)
		other.Type, other.Host, other.Spec, other.Secrets = feedmill.FeedUpload, "new", []byte("{}"), []byte("x")
		other.Schedule, other.DueAt, other.Run, other.LeasedUntil = feedmill.Schedule{Every: time.Hour}, time.Time{}, 7, now().Add(time.Minute)
		other.CreatedAt, other.UpdatedAt, other.Rules = now().Add(time.Hour), now().Add(2*time.Hour), 9
		f, _, _ := newFeed(other.Workspace)
		f.ID, f.Name, f.Version, f.Failures, f.CreatedAt = feeds[1].ID, "new", 9, 5, now().Add(time.Hour)
		f.LastRefresh = feeds[1].LastRefresh
		change(t, s, source, func(c *feedmill.SourceChange) { c.Source, c.Feeds[1] = other, f })
		other.ID, other.Workspace, other.Type, other.CreatedAt = source.ID, source.Workspace, source.Type, source.CreatedAt
		foundSource(t, s, other)
		f.Workspace, f.Source, f.Type, f.Version, f.CreatedAt = source.Workspace, source.ID, feedmill.FeedREST, 0, feeds[1].CreatedAt
		found(t, s, f)
		found(t, s, feeds[0])
	}},
	{name: "it switches versions, records refreshes, tells and is answered in one", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "datasource.refreshed")
		source, feeds := makeSource(t, s, w.ID, 2)
		claim(t, s, source)
		response, e := newOnce(w.ID, "k1"), told(feeds[0], "refreshed")
		var wrote feedmill.SourceChange
		change(t, s, source, func(c *feedmill.SourceChange) {
			for i := range c.Feeds {
				r := *c.Feeds[i].LastRefresh
				equal(t, "state", feedmill.RefreshRunning, r.State)
				brings(c, &c.Feeds[i])
			}
			c.Source.LeasedUntil, c.Source.DueAt, c.Feeds[0].Position = time.Time{}, now().Add(time.Hour), []byte(`{"cursor":8}`)
			c.Events, c.IdempotentResponse = []feedmill.Event{e}, &response
			wrote = *c
		})
		delivered(t, s, e, sub, offered(s))
		_, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		foundSource(t, s, wrote.Source)
		for i, f := range wrote.Feeds {
			found(t, s, f)
			v, err := s.FeedVersion(ctx, w.ID, f.ID, 1)
			must(t, err)
			equal(t, "version", wrote.Versions[i], v)
			r, err := s.Refresh(ctx, w.ID, f.ID, f.LastRefresh.ID)
			must(t, err)
			equal(t, "refresh", wrote.Refreshes[i], r)
			trace, err := s.RefreshTrace(ctx, w.ID, f.ID, r.ID)
			must(t, err)
			equal(t, "trace", wrote.Traces[i].Requests, trace)
		}
	}},
	{name: "it adds a feed, with its first data or before", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 1)
		var wrote feedmill.SourceChange
		change(t, s, source, func(c *feedmill.SourceChange) {
			waiting, bare, loaded := fetched(source), fetched(source), fetched(source)
			loaded.Feed.Workspace, loaded.Feed.Source, loaded.Feed.Type = "ws_other", "ds_other", feedmill.FeedUpload
			bare.Feed.LastRefresh, bare.Feed.Version = nil, 7
			c.Feeds = append(c.Feeds, waiting.Feed, bare.Feed, loaded.Feed)
			brings(c, &c.Feeds[3])
			c.Refreshes = append(c.Refreshes, *waiting.Refresh)
			c.Source.DueAt = now().Add(-time.Hour)
			wrote = *c
		})
		foundSource(t, s, wrote.Source)
		wrote.Feeds[2].Version = 0
		wrote.Feeds[3].Workspace, wrote.Feeds[3].Source, wrote.Feeds[3].Type = source.Workspace, source.ID, feedmill.FeedREST
		for _, f := range wrote.Feeds {
			found(t, s, f)
		}
		v, err := s.FeedVersion(ctx, source.Workspace, wrote.Feeds[3].ID, 1)
		must(t, err)
		equal(t, "version", wrote.Versions[0], v)

		err = s.ChangeSource(ctx, source.Workspace, source.ID, func(c *feedmill.SourceChange) error {
			again := feeds[0]
			again.LastRefresh = nil
			c.Source.Host, c.Feeds = "new", append(c.Feeds, again)
			return nil
		})
		want(t, err, feedmill.ErrConflict)
		foundSource(t, s, wrote.Source)
	}},
	{name: "one that fails writes nothing, and its error is returned as it is", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 2)
		// A store must not take these for errors of its own.
		for _, refusal := range []error{
			errors.New("no"), feedmill.ErrUnavailable, &feedmill.Error{Kind: feedmill.ErrConflict}, fmt.Errorf("read: %w", errors.ErrUnsupported),
		} {
			var others sync.WaitGroup
			for range 4 {
				others.Go(func() {
					if err := s.KeepResponse(ctx, newOnce(source.Workspace, string(feedmill.NewID(feedmill.PrefixEvent)))); err != nil {
						t.Errorf("another change fails with it: %v", err)
					}
				})
			}
			err := s.ChangeSource(ctx, source.Workspace, source.ID, func(c *feedmill.SourceChange) error {
				c.Source.Host = "new"
				brings(c, &c.Feeds[0])
				c.Events = []feedmill.Event{told(c.Feeds[0], "refreshed")}
				return refusal
			})
			others.Wait()
			if err != refusal {
				t.Errorf("error is %v, want %v itself", err, refusal)
			}
			equal(t, "due", nil, offered(s))
		}
		unchanged(t, s, source, feeds)
	}},
	{name: "what cannot be written leaves everything as it was", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 2)
		foreign, theirs := makeSource(t, s, source.Workspace, 1)
		taken := newOnce(source.Workspace, "taken")
		must(t, s.KeepResponse(ctx, taken))
		for _, c := range []struct {
			name  string
			spoil func(*feedmill.SourceChange)
			want  error
		}{
			{"a version after the next", func(c *feedmill.SourceChange) { c.Versions[1].Number = 2 }, feedmill.ErrConflict},
			{"a version before the next", func(c *feedmill.SourceChange) { c.Versions[1].Number = 0 }, feedmill.ErrConflict},
			{"the same version twice", func(c *feedmill.SourceChange) { c.Versions = append(c.Versions, c.Versions[0]) }, feedmill.ErrConflict},
			{"a version of another source's feed", func(c *feedmill.SourceChange) { c.Versions[1].Feed = theirs[0].ID }, feedmill.ErrNotFound},
			{"a refresh of another source's feed", func(c *feedmill.SourceChange) {
				c.Refreshes = append(c.Refreshes, newRefresh(theirs[0], feedmill.RefreshFailed))
			}, feedmill.ErrNotFound},
			{"a trace of another source's feed", func(c *feedmill.SourceChange) { c.Traces[1].Feed = theirs[0].ID }, feedmill.ErrNotFound},
			{"a trace of no refresh", func(c *feedmill.SourceChange) { c.Traces[1].Refresh = feedmill.NewID(feedmill.PrefixRefresh) }, feedmill.ErrNotFound},
			{"a key with a response", func(c *feedmill.SourceChange) { c.IdempotentResponse = &taken }, feedmill.ErrIdempotencyKeyUsed},
			{"a feed less", func(c *feedmill.SourceChange) { c.Feeds = c.Feeds[:1] }, nil},
			{"feeds in another order", func(c *feedmill.SourceChange) { c.Feeds[0], c.Feeds[1] = c.Feeds[1], c.Feeds[0] }, nil},
			{"a last refresh that is not written", func(c *feedmill.SourceChange) { c.Feeds[0].LastRefresh = &feedmill.Refresh{ID: "rf_1"} }, nil},
		} {
			err := s.ChangeSource(ctx, source.Workspace, source.ID, func(change *feedmill.SourceChange) error {
				change.Source.Host = "new"
				for i := range change.Feeds {
					brings(change, &change.Feeds[i])
				}
				change.Events = []feedmill.Event{told(change.Feeds[0], "refreshed")}
				c.spoil(change)
				return nil
			})
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: error is %v, want %v", c.name, err, c.want)
			}
		}
		unchanged(t, s, source, feeds)
		unchanged(t, s, foreign, theirs)
	}},
	{name: "the refresh that another takes the place of is forgotten, the last stays", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 1)
		first, second := newRefresh(feeds[0], feedmill.RefreshFailed), newRefresh(feeds[0], feedmill.RefreshFailed)
		change(t, s, source, func(c *feedmill.SourceChange) { // the pending one ends and two more were made, of which one is the last
			ended := *c.Feeds[0].LastRefresh
			ended.State, ended.Rejects = feedmill.RefreshFailed, "an older one"
			c.Refreshes = []feedmill.Refresh{ended, first, second}
			c.Feeds[0].Record(second)
		})
		files, _, err := s.ForgetRefreshes(ctx, now().Add(time.Hour), 10)
		must(t, err)
		equal(t, "forgotten", []string{"an older one", first.Rejects}, names(files))
		left, err := s.Refreshes(ctx, source.Workspace, feeds[0].ID, feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "left", []feedmill.Refresh{second}, left)
	}},
	{name: "a refresh that has not ended is kept while its feed is there", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 2)
		running := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: feeds[1].ID, State: feedmill.RefreshRunning, StartedAt: now()}
		last := newRefresh(feeds[1], feedmill.RefreshFailed)
		change(t, s, source, func(c *feedmill.SourceChange) {
			c.Refreshes = []feedmill.Refresh{running, last}
			c.Feeds[1].Record(last)
		})
		later := now().Add(time.Hour)
		_, _, err := s.ForgetRefreshes(ctx, later, 10)
		must(t, err)
		for _, kept := range []*feedmill.Refresh{feeds[0].LastRefresh, feeds[1].LastRefresh, &running, &last} {
			_, err := s.Refresh(ctx, source.Workspace, kept.Feed, kept.ID)
			must(t, err)
		}
		for _, f := range feeds {
			err := s.DeleteFeed(ctx, source.Workspace, f.ID, now(), nil)
			must(t, err)
		}
		files, _, err := s.ForgetRefreshes(ctx, later, 10)
		must(t, err)
		equal(t, "files of deleted feeds", []string{last.Rejects}, names(files))
		_, more, err := s.ForgetRefreshes(ctx, later, 1)
		must(t, err)
		if more {
			t.Error("a refresh of a deleted feed is left")
		}
	}},
}

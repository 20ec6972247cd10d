package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

var refreshCases = []testCase{
	{name: "a failed refresh leaves the version, and is told", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, f, response := subscribe(t, s, w.ID, "datasource.refresh_failed"), makeFeed(t, s, w.ID), newOnce(w.ID, "k1")
		r, e := newRefresh(f, feedmill.RefreshFailed), told(f, "refresh_failed")
		wanted := f
		wanted.Record(r)
		wanted.NextRefreshAt = now().Add(5 * time.Minute)
		got, err := s.RecordRefresh(ctx, w.ID, r, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			f.NextRefreshAt = wanted.NextRefreshAt
			equal(t, "the feed to change", wanted, *f)
			return &response, []feedmill.Event{e}, nil
		})
		must(t, err)
		if got.State != feedmill.FeedFailed || got.Version != 1 || got.LastError == nil {
			t.Errorf("the feed is %+v", got)
		}
		equal(t, "returned", wanted, got)
		found(t, s, wanted)
		delivered(t, s, e, sub, offered(s))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		kept(t, s, f, 1)
	}},
	{name: "a refresh is written over as it goes on", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f := makeFeed(t, s, w.ID)
		v, ended := nextVersion(f)
		running := feedmill.Refresh{ID: ended.ID, Feed: f.ID, State: feedmill.RefreshRunning, StartedAt: now()}
		f, err := s.RecordRefresh(ctx, w.ID, running, telling("updated"))
		must(t, err)
		if f.State != feedmill.FeedRefreshing {
			t.Errorf("the feed is %s", f.State)
		}
		found(t, s, f)
		f, err = s.SwitchVersion(ctx, w.ID, v, ended, telling("refreshed"))
		must(t, err)
		found(t, s, f)
		got, err := s.Refresh(ctx, w.ID, f.ID, ended.ID)
		must(t, err)
		equal(t, "the refresh", ended, got)
	}},
	{name: "listed newest first in pages, of one feed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, other := makeFeed(t, s, w.ID), makeFeed(t, s, w.ID)
		made := []feedmill.Refresh{*f.LastRefresh}
		for range 4 {
			r := newRefresh(f, feedmill.RefreshFailed)
			_, err := s.RecordRefresh(ctx, w.ID, r, telling("refresh_failed"))
			must(t, err)
			made = append(made, r)
		}
		slices.Reverse(made)
		var listed []feedmill.Refresh
		for page := (feedmill.Page{Limit: 2}); ; page.Before = listed[len(listed)-1].ID {
			part, err := s.Refreshes(ctx, w.ID, f.ID, page)
			must(t, err)
			if len(part) == 0 {
				break
			}
			listed = append(listed, part...)
		}
		equal(t, "listed", made, listed)
		_, err := s.Refresh(ctx, w.ID, other.ID, made[0].ID)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "refreshes are forgotten a few at a time, but for the last of a feed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		gone, f := makeFeed(t, s, w.ID), makeFeed(t, s, w.ID)
		old := []string{f.LastRefresh.Rejects}
		for range 3 {
			r := newRefresh(f, feedmill.RefreshFailed)
			var err error
			f, err = s.RecordRefresh(ctx, w.ID, r, telling("refresh_failed"))
			must(t, err)
			old = append(old, r.Rejects)
		}
		_, _, err := s.ForgetRefreshes(ctx, f.ID.Time(), 10)
		must(t, err)
		later := now().Add(time.Hour)
		for _, c := range []struct {
			files []string
			more  bool
		}{{old[:2], true}, {old[2:3], false}, {nil, false}} {
			files, more, err := s.ForgetRefreshes(ctx, later, 2)
			must(t, err)
			equal(t, "files to delete", c.files, names(files))
			if more != c.more {
				t.Errorf("more is %v, want %v", more, c.more)
			}
		}
		found(t, s, f)
		err = s.DeleteFeed(ctx, w.ID, gone.ID, now(), nil)
		must(t, err)
		files, _, err := s.ForgetRefreshes(ctx, later, 2)
		must(t, err)
		equal(t, "files of a deleted feed", []string{gone.LastRefresh.Rejects}, names(files))
	}},
}

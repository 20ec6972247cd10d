package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// dueSource creates a source of the workspace that asks the host and became due
// so long ago; never where that is zero.
func dueSource(t *testing.T, s Store, w feedmill.ID, host string, ago time.Duration) feedmill.DueSource {
	t.Helper()
	source := newSource(w)
	source.Host, source.DueAt = host, now().Add(-ago)
	if ago == 0 {
		source.DueAt = time.Time{}
	}
	makeFeeds(t, s, source, 1)
	return feedmill.DueSource{ID: source.ID, Workspace: w, Host: host, DueAt: source.DueAt}
}

// areDue holds which sources are due.
func areDue(t *testing.T, s Store, at time.Time, each, limit int, want ...feedmill.DueSource) {
	t.Helper()
	got, err := s.DueSources(t.Context(), at, each, limit)
	must(t, err)
	equal(t, fmt.Sprintf("due, %d each and %d at most", each, limit), want, got)
}

var dueSourceCases = []testCase{
	{name: "those whose time has come, in the order of their times", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		one, two := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		areDue(t, s, now(), 10, 10)
		dueSource(t, s, one, "a", 0)
		dueSource(t, s, one, "a", -time.Hour)
		third := dueSource(t, s, one, "a", time.Minute)
		first := dueSource(t, s, two, "a", time.Hour)
		second := dueSource(t, s, one, "b", 2*time.Minute)
		areDue(t, s, now(), 10, 10, first, second, third)
		areDue(t, s, now(), 10, 2, first, second)
		areDue(t, s, third.DueAt, 10, 10, first, second, third)
		areDue(t, s, third.DueAt.Add(-time.Millisecond), 10, 10, first, second)
		areDue(t, s, first.DueAt.Add(-time.Millisecond), 10, 10)
	}},
	{name: "so many of one workspace and host, however many are due before others", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		one, two := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		var crowd []feedmill.DueSource
		for i := range 5 {
			crowd = append(crowd, dueSource(t, s, one, "a", time.Hour-time.Duration(i)*time.Minute))
		}
		otherHost, otherWorkspace := dueSource(t, s, one, "b", 2*time.Minute), dueSource(t, s, two, "a", time.Minute)
		areDue(t, s, now(), 1, 10, crowd[0], otherHost, otherWorkspace)
		areDue(t, s, now(), 2, 10, crowd[0], crowd[1], otherHost, otherWorkspace)
		areDue(t, s, now(), 2, 3, crowd[0], crowd[1], otherHost)
		areDue(t, s, now(), 9, 10, append(crowd, otherHost, otherWorkspace)...)
	}},
	{name: "those of the same time in the order of their ids, none left out", run: func(t *testing.T, open func(*testing.T) Store) {
		s, at := open(t), now().Add(-time.Minute)
		w := newWorkspace(t, s).ID
		var all []feedmill.DueSource
		for i := range 7 {
			source := newSource(w)
			source.Host, source.DueAt = fmt.Sprint(max(i-3, 0)), at
			makeFeeds(t, s, source, 1)
			all = append(all, feedmill.DueSource{ID: source.ID, Workspace: w, Host: source.Host, DueAt: at})
		}
		areDue(t, s, at, 9, 3, all[:3]...)
		areDue(t, s, at, 1, 2, all[0], all[4])
		areDue(t, s, at, 1, 4, all[0], all[4], all[5], all[6])
		areDue(t, s, at, 2, 9, all[0], all[1], all[4], all[5], all[6])
		areDue(t, s, at, 0, 9)
		areDue(t, s, at, 9, 0)
	}},
	{name: "one that a run has is due when the lease ends", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s).ID
		due, next := dueSource(t, s, w, "a", time.Hour), dueSource(t, s, w, "a", time.Minute)
		until := now().Add(time.Minute)
		source, err := s.Source(t.Context(), w, due.ID)
		must(t, err)
		change(t, s, source, func(c *feedmill.SourceChange) { c.Source.LeasedUntil = until })
		areDue(t, s, until.Add(-time.Millisecond), 1, 10, next)
		areDue(t, s, until, 1, 10, due)
		change(t, s, source, func(c *feedmill.SourceChange) { c.Source.LeasedUntil, c.Source.DueAt = time.Time{}, time.Time{} })
		areDue(t, s, until, 1, 10, next)
	}},
	{name: "leases of a holder that is gone are released, and no others", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s).ID
		due, other := dueSource(t, s, w, "a", time.Hour), dueSource(t, s, newWorkspace(t, s).ID, "a", time.Minute)
		for _, d := range []feedmill.DueSource{due, other} {
			source, err := s.Source(t.Context(), d.Workspace, d.ID)
			must(t, err)
			change(t, s, source, func(c *feedmill.SourceChange) {
				c.Source.LeasedUntil, c.Source.LeasedBy = now().Add(time.Minute), "of "+string(d.Workspace)
			})
		}
		areDue(t, s, now(), 1, 10)
		for _, want := range []int64{1, 0} {
			n, err := s.ReleaseSources(t.Context(), "of "+string(w))
			must(t, err)
			equal(t, "released", want, n)
			areDue(t, s, now(), 1, 10, due)
		}
	}},
	{name: "one without feeds is not due", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 1)
		err := s.DeleteFeed(t.Context(), source.Workspace, feeds[0].ID, now(), nil)
		must(t, err)
		areDue(t, s, now(), 1, 10)
	}},
	{name: "a run renews its lease and says how far it is, and touches nothing else", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, _ := makeSource(t, s, newWorkspace(t, s).ID, 3)
		claimed := claim(t, s, source)
		until := now().Add(time.Hour)
		progress := []feedmill.Refresh{
			{ID: claimed.Refreshes[0].ID, Feed: claimed.Feeds[0].ID, Requests: 5, Pages: 4, BytesIn: 1 << 40, RowsIn: 3, RowsStored: 9, Version: 9, State: feedmill.RefreshFailed, Stage: feedmill.StageModelling, Trace: []feedmill.TracedRequest{{Method: "GET", URL: "/1"}}},
			{ID: claimed.Refreshes[1].ID, Feed: claimed.Feeds[1].ID, Requests: 6},
			{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: claimed.Feeds[1].ID, Requests: 6, Trace: []feedmill.TracedRequest{{Method: "GET"}}},
		}
		must(t, s.RenewSource(ctx, source.Workspace, source.ID, claimed.Source.Run, until, progress))
		claimed.Source.LeasedUntil = until
		foundSource(t, s, claimed.Source)
		first := claimed.Feeds[0].LastRefresh
		first.Requests, first.Pages, first.BytesIn, first.RowsIn, first.Stage = 5, 4, 1<<40, 3, feedmill.StageModelling
		claimed.Feeds[1].LastRefresh.Requests = 6
		for _, f := range claimed.Feeds {
			found(t, s, f)
		}
		trace, err := s.RefreshTrace(ctx, source.Workspace, claimed.Feeds[0].ID, first.ID)
		must(t, err)
		equal(t, "the trace so far", progress[0].Trace, trace)
		_, err = s.Refresh(ctx, source.Workspace, claimed.Feeds[1].ID, progress[2].ID)
		want(t, err, feedmill.ErrNotFound)
		must(t, s.RenewSource(ctx, source.Workspace, source.ID, claimed.Source.Run, until.Add(time.Hour), nil))
	}},
	{name: "a run that has lost its lease, or has ended, renews nothing", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, _ := makeSource(t, s, newWorkspace(t, s).ID, 1)
		lost := claim(t, s, source)
		progress := []feedmill.Refresh{{ID: lost.Refreshes[0].ID, Feed: lost.Feeds[0].ID, Requests: 5}}
		claimed := claim(t, s, source)
		refuse := func(run int64) {
			t.Helper()
			want(t, s.RenewSource(ctx, source.Workspace, source.ID, run, now().Add(time.Hour), progress), feedmill.ErrConflict)
			foundSource(t, s, claimed.Source)
			found(t, s, claimed.Feeds[0])
		}
		refuse(lost.Source.Run)
		change(t, s, source, func(c *feedmill.SourceChange) {
			c.Source.LeasedUntil = time.Time{}
			claimed = *c
		})
		refuse(claimed.Source.Run)
	}},
	{name: "a refresh that has ended does not go on", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, _ := makeSource(t, s, newWorkspace(t, s).ID, 1)
		claimed := claim(t, s, source)
		change(t, s, source, func(c *feedmill.SourceChange) {
			r := newRefresh(c.Feeds[0], feedmill.RefreshFailed)
			r.ID = claimed.Refreshes[0].ID
			c.Refreshes = []feedmill.Refresh{r}
			c.Feeds[0].Record(r)
			claimed = *c
		})
		progress := []feedmill.Refresh{{ID: claimed.Refreshes[0].ID, Feed: claimed.Feeds[0].ID, Requests: 5}}
		must(t, s.RenewSource(t.Context(), source.Workspace, source.ID, claimed.Source.Run, now().Add(time.Hour), progress))
		found(t, s, claimed.Feeds[0])
	}},
}

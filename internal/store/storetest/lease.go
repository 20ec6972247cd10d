package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Leases are counted for the operator.
type Leases interface {
	// HeldLeases counts the leases of each kind and holder that have not ended, but for slots.
	HeldLeases(ctx context.Context, now time.Time) ([]feedmill.HeldLease, error)
	// FileStatus counts the stored files.
	FileStatus(ctx context.Context) (feedmill.FileStatus, error)
}

var leaseCases = []testCase{
	{name: "leases are counted by holder until they end", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		held := func(what string, at time.Time, want ...feedmill.HeldLease) {
			t.Helper()
			got, err := s.HeldLeases(ctx, at)
			must(t, err)
			slices.SortFunc(got, func(a, b feedmill.HeldLease) int {
				return strings.Compare(string(a.Kind)+a.Holder, string(b.Kind)+b.Holder)
			})
			equal(t, what, want, got)
		}
		held("none", at)
		_, err := s.StoreID(ctx, "me")
		must(t, err)
		for i, name := range []string{"df_1/a", "df_1/b", "df_2/c"} {
			must(t, s.BeginObject(ctx, name, []string{"one", "one", "two"}[i], ""))
		}
		for i, until := range []time.Time{at.Add(time.Minute), at.Add(time.Minute), at.Add(-time.Second), {}} {
			source, _ := makeSource(t, s, newWorkspace(t, s).ID, 1)
			change(t, s, source, func(c *feedmill.SourceChange) {
				c.Source.LeasedUntil, c.Source.LeasedBy = until, []string{"two", "one", "two", ""}[i]
			})
		}
		must(t, s.Pin(ctx, "backup", time.Hour))
		must(t, s.CloseFiles(ctx, "move", "l1", time.Hour))
		all := []feedmill.HeldLease{
			{Kind: feedmill.LeaseFiles, Holder: "one", Count: 2},
			{Kind: feedmill.LeaseFiles, Holder: "two", Count: 1},
			{Kind: feedmill.LeaseMove, Count: 1},
			{Kind: feedmill.LeasePins, Count: 1},
			{Kind: feedmill.LeaseRefreshes, Holder: "one", Count: 1},
			{Kind: feedmill.LeaseRefreshes, Holder: "two", Count: 1},
		}
		held("all", at, all...)
		held("after a lease of sources has ended", at.Add(time.Hour), all[:4]...)
		must(t, s.Unpin(ctx, "backup"))
		must(t, s.OpenFiles(ctx, "move", "l1"))
		held("after the ends of a pin and a move", at.Add(time.Hour), all[:2]...)
	}},
	{name: "stored files are counted by their state", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		status := func(what string, want feedmill.FileStatus) {
			t.Helper()
			got, err := s.FileStatus(ctx)
			must(t, err)
			equal(t, what, want, got)
		}
		status("of an empty store", feedmill.FileStatus{})
		f, other := makeFeed(t, s, newWorkspace(t, s).ID), makeFeed(t, s, newWorkspace(t, s).ID)
		var want feedmill.FileStatus
		for _, of := range []feedmill.Feed{f, other} {
			v, err := s.FeedVersion(ctx, of.Workspace, of.ID, 1)
			must(t, err)
			for i := range v.Files {
				want.Files, want.Verified = want.Files+1, want.Verified+1
				want.Bytes, want.VerifiedBytes = want.Bytes+v.Files[i].Bytes, want.VerifiedBytes+v.Files[i].Bytes
			}
		}
		status("of two feeds", want)
		must(t, s.BeginObject(ctx, "df_1/a", "one", ""))
		must(t, s.MarkUnreferenced(ctx, []feedmill.UnreferencedFile{{Name: "df_1/b", Bytes: 7}, {Name: "df_2/c", Bytes: 8}}))
		want.Writing, want.Unreferenced, want.UnreferencedBytes = 1, 2, 15
		status("with others", want)
		nextMillisecond()
		_, err := s.BeginDeleting(ctx, 0, 0, 1)
		must(t, err)
		want.Unreferenced, want.UnreferencedBytes, want.Deleting = 1, 8, 1
		status("with one that is deleted", want)
	}},
}

package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Tables are feeds as tables that other programs read.
type Tables interface {
	// DueTables lists feeds with a version that have changed since their tables were written,
	// without those that are claimed.
	DueTables(ctx context.Context, limit int) ([]feedmill.Table, error)
	// ClaimTable claims such a table. If it is claimed, or the feed has not changed, it is
	// feedmill.ErrNotFound.
	ClaimTable(ctx context.Context, workspace, feed feedmill.ID) (feedmill.TableClaim, error)
	// CommitTable ends a claim. Its files are live then, and those that it returns are of the
	// table no more. If the claim is lost or a file is being deleted, it is
	// feedmill.ErrConflict.
	CommitTable(ctx context.Context, c feedmill.TableClaim, files feedmill.TableFiles) (gone []string, err error)
	FeedTable(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Table, error)
	TableFeed(ctx context.Context, workspace feedmill.ID, name string) (feedmill.ID, error)
	NamedTables(ctx context.Context, workspace feedmill.ID, after string, limit int) ([]feedmill.NamedTable, error)
	ForgetTables(ctx context.Context) (forgot bool, err error)
}

var tableCases = []testCase{
	{name: "a table is due after each change of its feed's data or columns", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now().Add(time.Minute)
		f := makeVersions(t, s, at, 1)
		due := func(want int) {
			t.Helper()
			tables, err := s.DueTables(ctx, 10)
			must(t, err)
			equal(t, "tables that are due", want, len(tables))
		}
		write := func() {
			t.Helper()
			due(1)
			c, err := s.ClaimTable(ctx, f.Workspace, f.ID)
			must(t, err)
			due(0)
			_, err = s.ClaimTable(ctx, f.Workspace, f.ID)
			want(t, err, feedmill.ErrNotFound)
			_, err = s.CommitTable(ctx, c, feedmill.TableFiles{})
			must(t, err)
			due(0)
		}
		change := func(do func(*feedmill.Feed)) {
			t.Helper()
			_, err := s.ChangeFeed(ctx, f.Workspace, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				do(f)
				return nil, nil, nil
			})
			must(t, err)
		}
		write()
		change(func(f *feedmill.Feed) { f.Name = "other" })
		due(0)
		change(func(f *feedmill.Feed) { f.Columns[0].Name = "other" })
		write()
		f, _ = switchTo(t, s, f, at)
		c, err := s.ClaimTable(ctx, f.Workspace, f.ID)
		must(t, err)
		change(func(f *feedmill.Feed) { f.Columns[0].Name = "another" })
		_, err = s.CommitTable(ctx, c, feedmill.TableFiles{})
		must(t, err)
		write() // what changed after the claim
		change(func(f *feedmill.Feed) { f.Keep, f.UpdatedAt = feedmill.Keep{Versions: 1}, at })
		_, _, err = s.ForgetVersions(ctx, at, 10)
		must(t, err)
		write()
	}},
	{name: "the files of a table stay while it has them", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f, g := makeVersions(t, s, now(), 1), makeVersions(t, s, now(), 1)
		var gone []string
		commit := func(f feedmill.Feed, names ...string) feedmill.TableClaim {
			t.Helper()
			c, err := s.ClaimTable(ctx, f.Workspace, f.ID)
			must(t, err)
			for _, name := range names {
				if err := s.BeginObject(ctx, name, "me", ""); err != nil {
					want(t, err, feedmill.ErrConflict) // it has one already
				}
			}
			gone, err = s.CommitTable(ctx, c, feedmill.TableFiles{Metadata: names[0], Version: f.Version, Names: names})
			must(t, err)
			_, err = s.ChangeFeed(ctx, f.Workspace, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				f.Columns[0].Name += "x"
				return nil, nil, nil
			})
			must(t, err)
			return c
		}
		a, b, other := string(f.ID)+"/a", string(f.ID)+"/b", string(g.ID)+"/a"
		first := commit(f, a, b)
		commit(g, other)
		unused, err := s.UnusedFiles(ctx, []string{a, b, other, "x"})
		must(t, err)
		equal(t, "unused", []string{"x"}, unused)
		second := commit(f, b)
		equal(t, "gone", []string{a}, gone)
		if second.Sequence <= first.Sequence || second.Metadata != a || second.At.IsZero() {
			t.Errorf("the second claim is %+v", second)
		}
		_, err = s.CommitTable(ctx, first, feedmill.TableFiles{Metadata: a, Names: []string{a}})
		want(t, err, feedmill.ErrConflict)
		must(t, s.MarkUnreferenced(ctx, []feedmill.UnreferencedFile{{Name: a, Bytes: 1}, {Name: b, Bytes: 1}}))
		deleting, err := s.BeginDeleting(ctx, 0, 0, 10)
		must(t, err)
		if !slices.Contains(deleting, a) || slices.Contains(deleting, b) {
			t.Errorf("deleting %v", deleting)
		}
		c, err := s.ClaimTable(ctx, f.Workspace, f.ID)
		must(t, err)
		_, err = s.CommitTable(ctx, c, feedmill.TableFiles{Metadata: b, Names: []string{a, b}})
		want(t, err, feedmill.ErrConflict)
		must(t, s.DeleteFeed(ctx, f.Workspace, f.ID, now(), nil))
		unused, err = s.UnusedFiles(ctx, []string{b, other})
		must(t, err)
		equal(t, "unused", []string{b}, unused)
		_, err = s.CommitTable(ctx, c, feedmill.TableFiles{Metadata: b, Names: []string{b}})
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "tables are found by their names in their workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f := makeFeed(t, s, newWorkspace(t, s).ID)
		_, err := s.NameTables(ctx, 10)
		must(t, err)
		listed := func(workspace feedmill.ID, after string) int {
			t.Helper()
			tables, err := s.NamedTables(ctx, workspace, after, 10)
			must(t, err)
			return len(tables)
		}
		equal(t, "tables without metadata", 0, listed(f.Workspace, ""))
		c, err := s.ClaimTable(ctx, f.Workspace, f.ID)
		must(t, err)
		_, err = s.CommitTable(ctx, c, feedmill.TableFiles{Metadata: "m", Version: 1, Names: []string{"m"}})
		must(t, err)
		got, err := s.FeedTable(ctx, f.Workspace, f.ID)
		must(t, err)
		equal(t, "table", feedmill.Table{Workspace: f.Workspace, Feed: f.ID, Metadata: "m", Version: 1}, got)
		equal(t, "tables", 1, listed(f.Workspace, ""))
		equal(t, "tables behind it", 0, listed(f.Workspace, "orders_ü"))
		id, err := s.TableFeed(ctx, f.Workspace, "orders_ü")
		must(t, err)
		equal(t, "feed", f.ID, id)
		other := newWorkspace(t, s).ID
		equal(t, "tables of another workspace", 0, listed(other, ""))
		_, err = s.TableFeed(ctx, other, "orders_ü")
		want(t, err, feedmill.ErrNotFound)
		_, err = s.FeedTable(ctx, other, f.ID)
		want(t, err, feedmill.ErrNotFound)
		for _, want := range []bool{true, false} {
			forgot, err := s.ForgetTables(ctx)
			must(t, err)
			equal(t, "forgot", want, forgot)
		}
		equal(t, "tables that were forgotten", 0, listed(f.Workspace, ""))
	}},
}

package storetest

import (
	"context"
	"testing"

	"github.com/feedmill/feedmill"
)

// TableNames are the names of feeds as tables, each unique in its workspace.
type TableNames interface {
	// TableNames lists the names that are base, or begin with it and an underscore.
	TableNames(ctx context.Context, workspace feedmill.ID, base string) ([]string, error)
	// NameTables gives up to limit feeds without a name theirs, and counts them.
	NameTables(ctx context.Context, limit int) (named int, err error)
}

var tableNameCases = []testCase{
	{name: "a table name is unique in its workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		one, two := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		create := func(w feedmill.ID, table string) (feedmill.Feed, error) {
			f, v, r := newFeed(w)
			f.TableName = table
			return f, s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
		}
		f, err := create(one, "orders")
		must(t, err)
		found(t, s, f)
		_, err = create(two, "orders")
		must(t, err)
		_, err = create(one, "orders")
		want(t, err, feedmill.ErrConflict)
		g, err := create(one, "orders_2")
		must(t, err)
		rename := func(f feedmill.Feed, table string) error {
			_, err := s.ChangeFeed(ctx, one, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				f.TableName = table
				return nil, nil, nil
			})
			return err
		}
		want(t, rename(g, "orders"), feedmill.ErrConflict)
		must(t, rename(f, "ordersx"))
		must(t, rename(g, "orders"))
		names, err := s.TableNames(ctx, one, "orders")
		must(t, err)
		equal(t, "names", []string{"orders"}, names)
	}},
	{name: "a feed without a table name gets one, once", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		one, two := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		feeds := []feedmill.Feed{makeFeed(t, s, one), makeFeed(t, s, one), makeFeed(t, s, two)}
		for _, want := range []int{2, 1, 0} {
			n, err := s.NameTables(ctx, 2)
			must(t, err)
			equal(t, "named", want, n)
		}
		for i, want := range []string{"orders_ü", "orders_ü_2", "orders_ü"} {
			f, err := s.Feed(ctx, feeds[i].Workspace, feeds[i].ID)
			must(t, err)
			equal(t, "name", want, f.TableName)
		}
	}},
}

package storetest

import (
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
)

// newConnection is a connection with every field set.
func newConnection(w feedmill.ID, service string) feedmill.Connection {
	at := now()
	return feedmill.Connection{
		ID: feedmill.NewID(feedmill.PrefixConnection), Workspace: w, ServiceName: service, Connector: "postgres",
		Config: []byte(`{"host":"db.example","password":"***"}`), Secrets: []byte{0, 1, 0xff}, CreatedAt: at, UpdatedAt: at,
	}
}

// queried is a new feed of a query over a connection.
func queried(c feedmill.Connection) feedmill.NewFeed {
	source := newSource(c.Workspace)
	source.Type, source.Host = feedmill.FeedQuery, string(c.ID)
	n := fetched(source)
	n.Feed.Type, n.Source = feedmill.FeedQuery, &source
	return n
}

const manyConnections = 100

var connectionCases = []testCase{
	{name: "created, found and listed, in its workspace alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		var made []feedmill.Connection
		for _, name := range []string{"warehouse", "Shop 2", "ü"} {
			c := newConnection(w.ID, name)
			must(t, s.CreateConnection(ctx, c, manyConnections, nil))
			made = append([]feedmill.Connection{c}, made...)
			got, err := s.Connection(ctx, w.ID, c.ID)
			must(t, err)
			equal(t, "by id", c, got)
			got, err = s.ConnectionOf(ctx, w.ID, name)
			must(t, err)
			equal(t, "by service", c, got)
			_, err = s.Connection(ctx, other.ID, c.ID)
			want(t, err, feedmill.ErrNotFound)
			_, err = s.ConnectionOf(ctx, other.ID, name)
			want(t, err, feedmill.ErrNotFound)
		}
		first, err := s.Connections(ctx, w.ID, feedmill.Page{Limit: 2})
		must(t, err)
		rest, err := s.Connections(ctx, w.ID, feedmill.Page{Limit: 2, Before: first[1].ID})
		must(t, err)
		equal(t, "listed", made, append(first, rest...))
		none, err := s.Connections(ctx, other.ID, feedmill.Page{Limit: 2})
		must(t, err)
		equal(t, "of another workspace", 0, len(none))
	}},
	{name: "the name of a service is taken once in a workspace, and there is a quota", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		must(t, s.CreateConnection(ctx, newConnection(w.ID, "warehouse"), 2, nil))
		response := newOnce(w.ID, "k")
		want(t, s.CreateConnection(ctx, newConnection(w.ID, "warehouse"), 2, &response), feedmill.ErrConflict)
		_, err := s.KeptResponse(ctx, w.ID, owner, "k", now())
		want(t, err, feedmill.ErrNotFound)
		must(t, s.CreateConnection(ctx, newConnection(other.ID, "warehouse"), 2, nil))
		second := newConnection(w.ID, "shop")
		must(t, s.CreateConnection(ctx, second, 2, &response))
		if _, full := errors.AsType[*feedmill.QuotaError](s.CreateConnection(ctx, newConnection(w.ID, "third"), 2, nil)); !full {
			t.Error("there are more than may be")
		}
		_, err = s.ChangeConnection(ctx, w.ID, second.ID, func(c *feedmill.Connection, _ []feedmill.FeedReference) error {
			c.ServiceName = "warehouse"
			return nil
		})
		want(t, err, feedmill.ErrConflict)
	}},
	{name: "changed, but for what never changes", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		c := newConnection(w.ID, "warehouse")
		must(t, s.CreateConnection(ctx, c, manyConnections, nil))
		broken := errors.New("no")
		_, err := s.ChangeConnection(ctx, w.ID, c.ID, func(c *feedmill.Connection, _ []feedmill.FeedReference) error {
			c.ServiceName = "gone"
			return broken
		})
		want(t, err, broken)
		changed, err := s.ChangeConnection(ctx, w.ID, c.ID, func(c *feedmill.Connection, users []feedmill.FeedReference) error {
			equal(t, "users", 0, len(users))
			*c = newConnection("ws_other", "shop")
			c.Connector, c.Config, c.Secrets = "mysql", []byte(`{}`), []byte{7}
			return nil
		})
		must(t, err)
		equal(t, "what stays", []any{c.ID, c.Workspace, c.Connector, c.CreatedAt}, []any{changed.ID, changed.Workspace, changed.Connector, changed.CreatedAt})
		equal(t, "what changes", []any{"shop", []byte(`{}`), []byte{7}}, []any{changed.ServiceName, changed.Config, changed.Secrets})
		got, err := s.Connection(ctx, w.ID, c.ID)
		must(t, err)
		equal(t, "read again", changed, got)
		_, err = s.ChangeConnection(ctx, newWorkspace(t, s).ID, c.ID, func(*feedmill.Connection, []feedmill.FeedReference) error { return nil })
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "deleted where no feed uses it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		c, other := newConnection(w.ID, "warehouse"), newConnection(w.ID, "shop")
		must(t, s.CreateConnection(ctx, c, manyConnections, nil))
		must(t, s.CreateConnection(ctx, other, manyConnections, nil))
		n := queried(c)
		_, err := s.CreateFeed(ctx, n, nil, maxAttempts, nil)
		must(t, err)
		users, err := s.DeleteConnection(ctx, w.ID, c.ID)
		want(t, err, feedmill.ErrConflict)
		equal(t, "users", []feedmill.FeedReference{{ID: n.Feed.ID, Name: n.Feed.Name}}, users)
		_, err = s.DeleteConnection(ctx, newWorkspace(t, s).ID, other.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.DeleteConnection(ctx, w.ID, other.ID)
		must(t, err)
		_, err = s.Connection(ctx, w.ID, other.ID)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.CreateFeed(ctx, queried(other), nil, maxAttempts, nil)
		want(t, err, feedmill.ErrConflict)
		_, err = s.DeleteFeed(ctx, w.ID, n.Feed.ID, now(), nil, maxAttempts)
		must(t, err)
		_, err = s.DeleteConnection(ctx, w.ID, c.ID)
		must(t, err)
	}},
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Connections are what a store does with connections.
type Connections interface {
	// CreateConnection adds a connection. A name of a service that is taken in
	// the workspace is feedmill.ErrConflict. With most connections there are no
	// more; one too many is a feedmill.QuotaError.
	CreateConnection(ctx context.Context, c feedmill.Connection, most int, response *feedmill.IdempotentResponse) error
	Connection(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, error)
	// ConnectionOf finds the connection of a service.
	ConnectionOf(ctx context.Context, workspace feedmill.ID, service string) (feedmill.Connection, error)
	// Connections lists connections, newest first.
	Connections(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Connection, error)
	// ChangeConnection changes a connection, alone with it: its name, config,
	// secrets and UpdatedAt. The change is told up to 100 feeds that use it: those of
	// type queryBuilder whose source's host is its id. An error of change leaves
	// everything as it was.
	ChangeConnection(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Connection, []feedmill.FeedReference) error) (feedmill.Connection, error)
	// DeleteConnection deletes a connection that no feed uses; those that do come
	// with feedmill.ErrConflict. CreateFeed with a source of one that is gone is
	// feedmill.ErrConflict too.
	DeleteConnection(ctx context.Context, workspace, id feedmill.ID) (users []feedmill.FeedReference, err error)
	// TakeRenewal lets a holder exchange the refresh token of a connection until a time,
	// where nobody else does, and EndRenewal says that it is done.
	TakeRenewal(ctx context.Context, workspace, id feedmill.ID, holder string, at, until time.Time) (taken bool, received []byte, err error)
	EndRenewal(ctx context.Context, workspace, id feedmill.ID, holder string, received []byte) error
}

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
	{name: "one at a time exchanges the token of a connection", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		c := newConnection(newWorkspace(t, s).ID, "crm")
		must(t, s.CreateConnection(ctx, c, manyConnections, nil))
		at := now()
		take := func(holder string, at time.Time) (bool, string) {
			t.Helper()
			taken, received, err := s.TakeRenewal(ctx, c.Workspace, c.ID, holder, at, at.Add(time.Minute))
			must(t, err)
			return taken, string(received)
		}
		for _, step := range []struct {
			holder string
			at     time.Time
			taken  bool
		}{{"a", at, true}, {"b", at, false}, {"a", at.Add(time.Second), true}, {"b", at.Add(time.Minute), false}, {"b", at.Add(2 * time.Minute), true}, {"a", at, false}} {
			if taken, _ := take(step.holder, step.at); taken != step.taken {
				t.Errorf("%s at %s: %v", step.holder, step.at.Sub(at), taken)
			}
		}
		must(t, s.EndRenewal(ctx, c.Workspace, c.ID, "a", []byte("too late")))
		must(t, s.EndRenewal(ctx, c.Workspace, c.ID, "b", []byte("sealed")))
		for range 2 {
			taken, received := take("c", at)
			equal(t, "received", "true sealed", fmt.Sprint(taken, " ", received))
			must(t, s.EndRenewal(ctx, c.Workspace, c.ID, "c", nil))
		}
		_, _, err := s.TakeRenewal(ctx, c.Workspace, feedmill.NewID(feedmill.PrefixConnection), "a", at, at)
		want(t, err, feedmill.ErrNotFound)
		got, err := s.Connection(ctx, c.Workspace, c.ID)
		must(t, err)
		equal(t, "the connection itself", c, got)
	}},
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
		err := s.CreateFeed(ctx, n, nil, nil)
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
		err = s.CreateFeed(ctx, queried(other), nil, nil)
		want(t, err, feedmill.ErrConflict)
		err = s.DeleteFeed(ctx, w.ID, n.Feed.ID, now(), nil)
		must(t, err)
		_, err = s.DeleteConnection(ctx, w.ID, c.ID)
		must(t, err)
	}},
}

package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// SQLViews are what a store does with the views that users write in SQL.
type SQLViews interface {
	// CreateSQLView adds a SQL view to a connection, which must exist. A name that the
	// connection has already is feedmill.ErrConflict. With most views there are no more;
	// one too many is a feedmill.QuotaError.
	CreateSQLView(ctx context.Context, v feedmill.SQLView, most int, response *feedmill.IdempotentResponse) error
	SQLView(ctx context.Context, workspace, connection feedmill.ID, name string) (feedmill.SQLView, error)
	// SQLViews lists the SQL views of a connection, or of all if it is empty, newest first.
	SQLViews(ctx context.Context, workspace, connection feedmill.ID, p feedmill.Page) ([]feedmill.SQLView, error)
	// ChangeSQLView writes the SQL and UpdatedAt of a view. A view that was deleted is
	// feedmill.ErrNotFound.
	ChangeSQLView(ctx context.Context, v feedmill.SQLView, response *feedmill.IdempotentResponse) error
	// DeleteSQLView deletes a SQL view that no feed uses. It passes the spec of the source of
	// each feed of the connection to uses. Feeds that use the view come with feedmill.ErrConflict.
	DeleteSQLView(ctx context.Context, v feedmill.SQLView, uses func(spec []byte) bool) (users []feedmill.FeedReference, err error)
}

const manySQLViews = 100

func newSQLView(c feedmill.Connection, name string) feedmill.SQLView {
	at := now()
	return feedmill.SQLView{
		ID: feedmill.NewID(feedmill.PrefixSQLView), Workspace: c.Workspace, Connection: c.ID, Name: name,
		SQL: "SELECT 'ü' AS name\nFROM t", Fields: []string{"name"}, CreatedAt: at, UpdatedAt: at,
	}
}

func connected(t *testing.T, s Store, workspace feedmill.ID, service string) feedmill.Connection {
	t.Helper()
	c := newConnection(workspace, service)
	must(t, s.CreateConnection(t.Context(), c, manyConnections, nil))
	return c
}

var sqlViewCases = []testCase{
	{name: "created, found, listed and changed, in its connection alone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		c, second, foreign := connected(t, s, w.ID, "a"), connected(t, s, w.ID, "b"), connected(t, s, other.ID, "a")
		var made []feedmill.SQLView
		for _, of := range []feedmill.Connection{c, c, second, foreign} {
			v := newSQLView(of, []string{"paid", "open", "paid", "paid"}[len(made)])
			must(t, s.CreateSQLView(ctx, v, manySQLViews, nil))
			got, err := s.SQLView(ctx, v.Workspace, v.Connection, v.Name)
			must(t, err)
			equal(t, "by name", v, got)
			made = append(made, v)
		}
		for _, of := range [][2]feedmill.ID{{w.ID, foreign.ID}, {other.ID, c.ID}} {
			_, err := s.SQLView(ctx, of[0], of[1], "paid")
			want(t, err, feedmill.ErrNotFound)
		}
		lists := func(workspace, connection feedmill.ID, p feedmill.Page, wanted ...feedmill.SQLView) {
			t.Helper()
			all, err := s.SQLViews(ctx, workspace, connection, p)
			must(t, err)
			equal(t, "listed", wanted, all)
		}
		lists(w.ID, c.ID, feedmill.Page{Limit: 5}, made[1], made[0])
		lists(w.ID, "", feedmill.Page{Limit: 2}, made[2], made[1])
		lists(w.ID, "", feedmill.Page{Limit: 2, Before: made[1].ID}, made[0])
		lists(other.ID, "", feedmill.Page{Limit: 5}, made[3])
		lists(other.ID, c.ID, feedmill.Page{Limit: 5})

		changed := made[0]
		changed.SQL, changed.Fields, changed.UpdatedAt = `SELECT 2 AS n, 3 AS "ü"""`, []string{"n", `ü"`}, changed.UpdatedAt.Add(time.Second)
		response := newOnce(w.ID, "change")
		must(t, s.ChangeSQLView(ctx, changed, &response))
		want(t, s.ChangeSQLView(ctx, changed, &response), feedmill.ErrIdempotencyKeyUsed)
		lists(w.ID, c.ID, feedmill.Page{Limit: 5}, made[1], changed)
		gone := newSQLView(c, "gone")
		want(t, s.ChangeSQLView(ctx, gone, nil), feedmill.ErrNotFound)
		gone = changed
		gone.Workspace = other.ID
		want(t, s.ChangeSQLView(ctx, gone, nil), feedmill.ErrNotFound)
	}},
	{name: "a name is taken once, there is a quota, and the connection must exist", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		c := connected(t, s, w.ID, "a")
		must(t, s.CreateSQLView(ctx, newSQLView(c, "paid"), 2, nil))
		response := newOnce(w.ID, "k")
		want(t, s.CreateSQLView(ctx, newSQLView(c, "paid"), 2, &response), feedmill.ErrConflict)
		_, err := s.KeptResponse(ctx, w.ID, owner, "k", now())
		want(t, err, feedmill.ErrNotFound)
		must(t, s.CreateSQLView(ctx, newSQLView(c, "Paid"), 2, &response))
		want(t, s.CreateSQLView(ctx, newSQLView(c, "x"), 2, &response), feedmill.ErrIdempotencyKeyUsed)
		if _, full := errors.AsType[*feedmill.QuotaError](s.CreateSQLView(ctx, newSQLView(c, "third"), 2, nil)); !full {
			t.Error("there are more than may be")
		}
		stranger := newSQLView(c, "stranger")
		stranger.Workspace = other.ID
		want(t, s.CreateSQLView(ctx, stranger, 2, nil), feedmill.ErrNotFound)
	}},
	{name: "deleted unless a feed uses it, and with its connection", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		c, second := connected(t, s, w.ID, "a"), connected(t, s, w.ID, "b")
		paid, kept := newSQLView(c, "paid"), newSQLView(second, "paid")
		under := func(action string, h *feedmill.Handle) context.Context {
			return feedmill.WithHandle(feedmill.WithAudit(ctx, &feedmill.AuditEntry{Workspace: w.ID, Action: action, At: now()}), h)
		}
		handle := feedmill.Handle{Workspace: w.ID, Kind: feedmill.DefinedSQLView, Object: paid.ID, Name: "paid"}
		must(t, s.CreateSQLView(under("sql_view.create", &handle), paid, manySQLViews, nil))
		must(t, s.CreateSQLView(ctx, kept, manySQLViews, nil))
		n := queried(c)
		n.Source.Spec = []byte(`{"viewName":"paid"}`)
		must(t, s.CreateFeed(ctx, n, nil, nil))
		must(t, s.CreateFeed(ctx, queried(second), nil, nil))
		asked := 0
		uses := func(spec []byte) bool { asked++; return bytes.Contains(spec, []byte("paid")) }
		users, err := s.DeleteSQLView(ctx, paid, uses)
		want(t, err, feedmill.ErrConflict)
		equal(t, "users", []feedmill.FeedReference{{ID: n.Feed.ID, Name: n.Feed.Name}}, users)
		equal(t, "specs", 1, asked)
		_, err = s.DeleteSQLView(under("sql_view.delete", nil), paid, func([]byte) bool { return false })
		must(t, err)
		_, err = s.DeleteSQLView(ctx, paid, uses)
		want(t, err, feedmill.ErrNotFound)
		handles, err := s.Handles(ctx, w.ID, "")
		must(t, err)
		equal(t, "handles", 0, len(handles))

		third := connected(t, s, w.ID, "c")
		last := newSQLView(third, "paid")
		handle.Object = last.ID
		must(t, s.CreateSQLView(under("sql_view.create", &handle), last, manySQLViews, nil))
		_, err = s.DeleteConnection(ctx, w.ID, third.ID)
		must(t, err)
		all, err := s.SQLViews(ctx, w.ID, "", feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "views", []feedmill.SQLView{kept}, all)
		handles, err = s.Handles(ctx, w.ID, "")
		must(t, err)
		equal(t, "handles", 0, len(handles))
	}},
}

package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Handles are the names under which configuration files know objects.
type Handles interface {
	// Handles lists the handles of a workspace, of one kind or of all.
	Handles(ctx context.Context, workspace feedmill.ID, kind feedmill.DefinitionKind) ([]feedmill.Handle, error)
	// AssignHandles adds handles. One whose object or name has a handle already changes nothing.
	AssignHandles(ctx context.Context, handles []feedmill.Handle) error
	// SetHandle gives an object a handle, in place of the one that it has. A name that another
	// object of the kind has is feedmill.ErrConflict.
	SetHandle(ctx context.Context, h feedmill.Handle) error
	// BeginApply reserves the configuration of a workspace for a holder, or renews the
	// reservation. While another holder has it, that is feedmill.ErrConflict.
	BeginApply(ctx context.Context, workspace feedmill.ID, holder string, at, until time.Time) error
	// EndApply releases the configuration of a workspace, if the holder has it.
	EndApply(ctx context.Context, workspace feedmill.ID, holder string) error
}

var handleCases = []testCase{
	{name: "a handle is created, changed and deleted with its object", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		under := func(action string, h *feedmill.Handle) context.Context {
			return feedmill.WithHandle(feedmill.WithAudit(ctx, &feedmill.AuditEntry{Workspace: w.ID, Action: action, At: now()}), h)
		}
		handles := func(workspace feedmill.ID, kind feedmill.DefinitionKind) []feedmill.Handle {
			t.Helper()
			all, err := s.Handles(ctx, workspace, kind)
			must(t, err)
			return all
		}
		c := newConnection(w.ID, "warehouse")
		want := feedmill.Handle{Workspace: w.ID, Kind: feedmill.DefinedConnection, Object: c.ID, Name: "warehouse", Set: "shop", Secrets: []byte("sealed")}
		must(t, s.CreateConnection(under("connection.create", &want), c, 10, nil))
		equal(t, "handles", []feedmill.Handle{want}, handles(w.ID, feedmill.DefinedConnection))
		equal(t, "handles of another kind", nil, handles(w.ID, feedmill.DefinedFeed))
		equal(t, "handles of another workspace", nil, handles(other.ID, ""))

		// Another object cannot be created under the name, and leaves nothing.
		second := newConnection(w.ID, "second")
		taken := feedmill.Handle{Kind: feedmill.DefinedConnection, Name: "warehouse"}
		if err := s.CreateConnection(under("connection.create", &taken), second, 10, nil); !errors.Is(err, feedmill.ErrConflict) {
			t.Errorf("a name that is taken: %v", err)
		}
		if _, err := s.Connection(ctx, w.ID, second.ID); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("the object of a handle that is taken: %v", err)
		}

		// A change that does not come from configuration files forgets the digest of secrets.
		_, err := s.ChangeConnection(under("connection.update", nil), w.ID, c.ID, func(*feedmill.Connection, []feedmill.FeedReference) error { return nil })
		must(t, err)
		want.Secrets = nil
		equal(t, "a handle after a change", []feedmill.Handle{want}, handles(w.ID, ""))
		want.Name, want.Set, want.Secrets = "store", "", []byte("again")
		_, err = s.ChangeConnection(under("connection.update", &want), w.ID, c.ID, func(*feedmill.Connection, []feedmill.FeedReference) error { return nil })
		must(t, err)
		equal(t, "a handle after an apply", []feedmill.Handle{want}, handles(w.ID, ""))

		_, err = s.DeleteConnection(under("connection.delete", nil), w.ID, c.ID)
		must(t, err)
		equal(t, "handles after a delete", nil, handles(w.ID, ""))
	}},
	{name: "handles are assigned once", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		one := feedmill.Handle{Workspace: w.ID, Kind: feedmill.DefinedFeed, Object: feedmill.NewID(feedmill.PrefixDataFeed), Name: "orders"}
		two := feedmill.Handle{Workspace: w.ID, Kind: feedmill.DefinedFeed, Object: feedmill.NewID(feedmill.PrefixDataFeed), Name: "orders"}
		must(t, s.AssignHandles(ctx, []feedmill.Handle{one, two}))
		again := one
		again.Name = "others"
		must(t, s.AssignHandles(ctx, []feedmill.Handle{again}))
		all, err := s.Handles(ctx, w.ID, feedmill.DefinedFeed)
		must(t, err)
		equal(t, "handles", []feedmill.Handle{one}, all)
		if err := s.SetHandle(ctx, two); !errors.Is(err, feedmill.ErrConflict) {
			t.Errorf("a name that is taken: %v", err)
		}
		two.Name = "orders-2"
		must(t, s.SetHandle(ctx, two))
		again.Set = "shop"
		must(t, s.SetHandle(ctx, again))
		all, err = s.Handles(ctx, w.ID, "")
		must(t, err)
		equal(t, "handles", []feedmill.Handle{again, two}, all)
	}},
	{name: "one apply at a time has the configuration of a workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		at := now()
		until := at.Add(time.Minute)
		must(t, s.BeginApply(ctx, w.ID, "one", at, until))
		must(t, s.BeginApply(ctx, w.ID, "one", at, until))
		must(t, s.BeginApply(ctx, other.ID, "two", at, until))
		if err := s.BeginApply(ctx, w.ID, "two", at, until); !errors.Is(err, feedmill.ErrConflict) {
			t.Errorf("a second apply: %v", err)
		}
		must(t, s.EndApply(ctx, w.ID, "two"))
		if err := s.BeginApply(ctx, w.ID, "two", at, until); !errors.Is(err, feedmill.ErrConflict) {
			t.Errorf("a second apply after its end: %v", err)
		}
		must(t, s.BeginApply(ctx, w.ID, "two", until, until.Add(time.Minute))) // the first has expired
		must(t, s.EndApply(ctx, w.ID, "two"))
		must(t, s.BeginApply(ctx, w.ID, "one", at, until))
	}},
}

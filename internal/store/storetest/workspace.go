package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// Workspaces are the workspaces of a store.
type Workspaces interface {
	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	WorkspaceByName(context.Context, string) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)
	// ChangeWorkspace changes a workspace, alone with it.
	ChangeWorkspace(ctx context.Context, id feedmill.ID, change func(*feedmill.Workspace) error) (feedmill.Workspace, error)
	// WorkspaceUsage adds up what workspaces use, with their events since a time.
	WorkspaceUsage(ctx context.Context, ids []feedmill.ID, since time.Time) (map[feedmill.ID]feedmill.Usage, error)
}

var workspaceCases = []testCase{
	{name: "created, found and listed newest first in pages", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		var made []feedmill.Workspace
		for range 5 {
			made = append(made, newWorkspace(t, s))
		}
		for _, w := range made {
			got, err := s.WorkspaceByID(ctx, w.ID)
			must(t, err)
			if diff := cmp.Diff(w, got); diff != "" {
				t.Errorf("by id (-want +got):\n%s", diff)
			}
			got, err = s.WorkspaceByName(ctx, w.Name)
			must(t, err)
			if diff := cmp.Diff(w, got); diff != "" {
				t.Errorf("by name (-want +got):\n%s", diff)
			}
		}
		var listed []feedmill.Workspace
		page := feedmill.Page{Limit: 2}
		for {
			part, err := s.Workspaces(ctx, page)
			must(t, err)
			if len(part) == 0 {
				break
			}
			listed = append(listed, part...)
			page.Before = part[len(part)-1].ID
		}
		slices.Reverse(listed)
		if diff := cmp.Diff(made, listed); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
	}},
	{name: "a name is taken once", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		again := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: w.Name, CreatedAt: now()}
		want(t, s.CreateWorkspace(t.Context(), again, nil), feedmill.ErrConflict)
		_, err := s.WorkspaceByID(t.Context(), again.ID)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "changed alone, with an external id that is taken once", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		used := now()
		must(t, s.TouchKeys(ctx, map[feedmill.ID]time.Time{w.ID: used}))
		w.Name, w.ExternalID, w.Metadata = w.Name+" 2", "shop-1", `{"a":1}`
		w.Quotas = feedmill.Quotas{StoredBytes: new(int64(1 << 40)), Subscriptions: new(0), ConcurrentUploads: new(2)}
		changed, err := s.ChangeWorkspace(ctx, w.ID, func(c *feedmill.Workspace) error {
			c.Name, c.ExternalID, c.Metadata, c.Quotas = w.Name, w.ExternalID, w.Metadata, w.Quotas
			return nil
		})
		must(t, err)
		w.LastRequestAt = used
		if diff := cmp.Diff(w, changed); diff != "" {
			t.Errorf("changed (-want +got):\n%s", diff)
		}
		got, err := s.WorkspaceByID(ctx, w.ID)
		must(t, err)
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
		for _, take := range []func(*feedmill.Workspace){func(c *feedmill.Workspace) { c.ExternalID = "shop-1" }, func(c *feedmill.Workspace) { c.Name = w.Name }} {
			_, err := s.ChangeWorkspace(ctx, other.ID, func(c *feedmill.Workspace) error { take(c); return nil })
			want(t, err, feedmill.ErrConflict)
		}
		_, err = s.ChangeWorkspace(ctx, other.ID, func(*feedmill.Workspace) error { return feedmill.ErrForbidden })
		want(t, err, feedmill.ErrForbidden)
		got, err = s.WorkspaceByID(ctx, other.ID)
		must(t, err)
		if diff := cmp.Diff(other, got); diff != "" {
			t.Errorf("the other one (-want +got):\n%s", diff)
		}
		_, err = s.ChangeWorkspace(ctx, feedmill.NewID(feedmill.PrefixWorkspace), func(*feedmill.Workspace) error { return nil })
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "usage is added up", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other, empty := newWorkspace(t, s), newWorkspace(t, s), newWorkspace(t, s)
		for _, in := range []feedmill.ID{w.ID, other.ID, other.ID} {
			makeFeed(t, s, in)
			subscribe(t, s, in, "metric.*")
			if in == w.ID {
				must(t, s.DeleteSubscription(ctx, in, subscribe(t, s, in, "metric.*").ID, now()))
			}
		}
		all, err := s.WorkspaceUsage(ctx, []feedmill.ID{w.ID, other.ID, empty.ID}, now().Add(-time.Hour))
		must(t, err)
		bytes, _, err := s.StoredFiles(ctx, w.ID)
		must(t, err)
		if got := all[w.ID]; got.Feeds != 1 || got.Subscriptions != 1 || got.StoredBytes != bytes || bytes == 0 {
			t.Errorf("one feed: %+v, %d bytes stored", got, bytes)
		}
		if got := all[other.ID]; got.Feeds != 2 || got.Subscriptions != 2 || got.StoredBytes != 2*bytes {
			t.Errorf("two feeds: %+v", got)
		}
		if got := all[empty.ID]; got != (feedmill.Usage{}) {
			t.Errorf("nothing: %+v", got)
		}
	}},
	{name: "what is not there is not found", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		_, err := s.WorkspaceByID(t.Context(), feedmill.NewID(feedmill.PrefixWorkspace))
		want(t, err, feedmill.ErrNotFound)
		_, err = s.WorkspaceByName(t.Context(), "nobody")
		want(t, err, feedmill.ErrNotFound)
	}},
}

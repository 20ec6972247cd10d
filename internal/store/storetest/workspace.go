package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// Workspaces are the workspaces of a store.
type Workspaces interface {
	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	WorkspaceByName(context.Context, string) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)
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
	{name: "what is not there is not found", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		_, err := s.WorkspaceByID(t.Context(), feedmill.NewID(feedmill.PrefixWorkspace))
		want(t, err, feedmill.ErrNotFound)
		_, err = s.WorkspaceByName(t.Context(), "nobody")
		want(t, err, feedmill.ErrNotFound)
	}},
}

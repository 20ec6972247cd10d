package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
)

var lifecycleCases = []testCase{
	{name: "records outlive the handle", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		must(t, s.Ping(t.Context()))
		must(t, s.Close())
		_, err := open(t).WorkspaceByID(t.Context(), w.ID)
		must(t, err)
	}},
	{name: "an ended context changes nothing", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "never", CreatedAt: now()}
		if err := s.CreateWorkspace(ctx, w, nil); err == nil {
			return // it had been committed before anybody looked at the context
		}
		_, err := s.WorkspaceByName(t.Context(), "never")
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "writers in a crowd: each change is there or reported", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				w := newWorkspace(t, s)
				// Half of the crowd fails, and takes nobody with it.
				again := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: w.Name, CreatedAt: now()}
				if err := s.CreateWorkspace(t.Context(), again, nil); !errors.Is(err, feedmill.ErrConflict) {
					t.Errorf("error is %v, want a conflict", err)
				}
				if _, err := s.WorkspaceByID(t.Context(), w.ID); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := s.Workspaces(t.Context(), feedmill.Page{Limit: 500})
		must(t, err)
		if len(all) != 50 {
			t.Errorf("%d workspaces are there, want 50", len(all))
		}
	}},
	{name: "replicas that start at once on an empty database", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := open(t).Ping(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}},
}

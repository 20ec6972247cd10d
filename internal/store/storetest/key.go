package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// Keys are the API keys of a store.
type Keys interface {
	CreateKey(context.Context, feedmill.Key, *feedmill.IdempotentResponse) error
	Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error)
	KeyByHash(context.Context, feedmill.KeyHash) (feedmill.Key, error)
	Keys(context.Context, feedmill.KeyQuery) ([]feedmill.Key, error)
	RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	TouchKeys(context.Context, map[feedmill.ID]time.Time) error
	// KeyByID finds a key, revoked or not.
	KeyByID(context.Context, feedmill.ID) (feedmill.Key, error)
}

var keyCases = []testCase{
	{name: "created and found by its hash", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		k := newKey(newWorkspace(t, s).ID)
		k.ExpiresAt = now().Add(time.Hour)
		must(t, s.CreateKey(t.Context(), k, nil))
		got, err := s.KeyByHash(t.Context(), k.Hash)
		must(t, err)
		if diff := cmp.Diff(k, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, err = s.KeyByHash(t.Context(), feedmill.HashKey("another"))
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "needs a workspace that exists", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		k := newKey(feedmill.NewID(feedmill.PrefixWorkspace))
		want(t, s.CreateKey(t.Context(), k, nil), feedmill.ErrNotFound)
	}},
	{name: "listed newest first, of one workspace or of all, without the revoked unless asked", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		var keys []feedmill.Key
		for _, w := range []feedmill.ID{a.ID, b.ID, a.ID, a.ID} {
			k := newKey(w)
			must(t, s.CreateKey(ctx, k, nil))
			keys = append(keys, k)
		}
		keys[2].RevokedAt = now()
		must(t, s.RevokeKey(ctx, a.ID, keys[2].ID, keys[2].RevokedAt))
		for _, c := range []struct {
			workspace feedmill.ID
			page      feedmill.Page
			revoked   bool
			want      []feedmill.Key
		}{
			{a.ID, feedmill.Page{Limit: 9}, false, []feedmill.Key{keys[3], keys[0]}},
			{b.ID, feedmill.Page{Limit: 9}, false, []feedmill.Key{keys[1]}},
			{"", feedmill.Page{Limit: 2}, false, []feedmill.Key{keys[3], keys[1]}},
			{"", feedmill.Page{Limit: 2, Before: keys[1].ID}, false, []feedmill.Key{keys[0]}},
			{a.ID, feedmill.Page{Limit: 9}, true, []feedmill.Key{keys[3], keys[2], keys[0]}},
		} {
			got, err := s.Keys(ctx, feedmill.KeyQuery{Workspace: c.workspace, Page: c.page, Revoked: c.revoked})
			must(t, err)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("keys of %q, %+v (-want +got):\n%s", c.workspace, c.page, diff)
			}
		}
	}},
	{name: "revoked once, by its own workspace or by one who may cross", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		k1, k2 := newKey(a.ID), newKey(a.ID)
		must(t, s.CreateKey(ctx, k1, nil))
		must(t, s.CreateKey(ctx, k2, nil))
		at := now()
		want(t, s.RevokeKey(ctx, b.ID, k1.ID, at), feedmill.ErrNotFound)
		must(t, s.RevokeKey(ctx, a.ID, k1.ID, at))
		want(t, s.RevokeKey(ctx, a.ID, k1.ID, at), feedmill.ErrNotFound)
		must(t, s.RevokeKey(ctx, "", k2.ID, at))
		got, err := s.KeyByHash(ctx, k1.Hash)
		must(t, err)
		if !got.RevokedAt.Equal(at) {
			t.Errorf("revoked at %v, want %v", got.RevokedAt, at)
		}
	}},
	{name: "the last admin of the default workspace is not revoked", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: feedmill.DefaultWorkspace, CreatedAt: now()}
		must(t, s.CreateWorkspace(ctx, w, nil))
		other := newWorkspace(t, s)
		keys := make([]feedmill.Key, 6)
		for i := range keys {
			keys[i] = newKey(w.ID)
			keys[i].Scopes = []feedmill.Scope{feedmill.ScopeAdmin}
		}
		keys[3].Scopes = []feedmill.Scope{feedmill.ScopeRead}
		keys[4].ExpiresAt = now().Add(-time.Hour)
		keys[5].Workspace = other.ID
		for _, k := range keys {
			must(t, s.CreateKey(ctx, k, nil))
		}
		// Of those that are revoked together, one is left.
		var all sync.WaitGroup
		var left atomic.Int32
		for _, k := range keys[:3] {
			all.Go(func() {
				if err := s.RevokeKey(ctx, w.ID, k.ID, now()); err != nil {
					want(t, err, feedmill.ErrConflict)
					left.Add(1)
				}
			})
		}
		all.Wait()
		if left.Load() != 1 {
			t.Errorf("%d admin keys are left, want 1", left.Load())
		}
		for _, k := range keys[3:] {
			must(t, s.RevokeKey(ctx, "", k.ID, now()))
		}
		good, err := s.Keys(ctx, feedmill.KeyQuery{Workspace: w.ID, Page: feedmill.Page{Limit: 9}})
		if err != nil || len(good) != 1 {
			t.Errorf("%d keys are left, %v", len(good), err)
		}
	}},
	{name: "last use is kept and never goes back", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		k := newKey(newWorkspace(t, s).ID)
		must(t, s.CreateKey(ctx, k, nil))
		at := now()
		for _, used := range []time.Time{at.Add(-time.Hour), at, at.Add(-time.Minute)} {
			must(t, s.TouchKeys(ctx, map[feedmill.ID]time.Time{k.ID: used, feedmill.NewID(feedmill.PrefixKey): used}))
		}
		got, err := s.KeyByHash(ctx, k.Hash)
		must(t, err)
		if !got.LastUsedAt.Equal(at) {
			t.Errorf("last used at %v, want %v", got.LastUsedAt, at)
		}
	}},
	{name: "the first key is made once", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		var wg sync.WaitGroup
		var added atomic.Int32
		for range 8 {
			wg.Go(func() {
				w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: feedmill.DefaultWorkspace, CreatedAt: now()}
				ok, err := s.Bootstrap(t.Context(), w, newKey(""), true)
				if err != nil {
					t.Error(err)
				}
				if ok {
					added.Add(1)
				}
			})
		}
		wg.Wait()
		keys, err := s.Keys(t.Context(), feedmill.KeyQuery{Page: feedmill.Page{Limit: 10}})
		must(t, err)
		if added.Load() != 1 || len(keys) != 1 {
			t.Errorf("%d starts made the first key and %d keys are there, want one of each", added.Load(), len(keys))
		}
	}},
	{name: "a bootstrap key is added when new and stays revoked when revoked", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: feedmill.DefaultWorkspace, CreatedAt: now()}
		first, second := newKey(""), newKey("")
		for i, c := range []struct {
			key   feedmill.Key
			added bool
		}{{first, true}, {first, false}, {second, true}} {
			c.key.ID = feedmill.NewID(feedmill.PrefixKey)
			added, err := s.Bootstrap(ctx, w, c.key, false)
			must(t, err)
			if added != c.added {
				t.Errorf("start %d: added is %v, want %v", i, added, c.added)
			}
		}
		got, err := s.KeyByHash(ctx, first.Hash)
		must(t, err)
		must(t, s.RevokeKey(ctx, "", got.ID, now()))
		first.ID = feedmill.NewID(feedmill.PrefixKey)
		added, err := s.Bootstrap(ctx, w, first, false)
		must(t, err)
		if added {
			t.Error("a revoked bootstrap key came back")
		}
	}},
}

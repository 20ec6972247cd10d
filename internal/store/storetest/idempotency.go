package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// Responses are those that are kept for idempotency keys.
type Responses interface {
	KeepResponse(context.Context, feedmill.IdempotentResponse) error
	// KeptResponse finds the response kept for an idempotency key of an owner,
	// or one without an owner. While a request with the key has its permit,
	// that is feedmill.ErrIdempotencyKeyInProgress.
	KeptResponse(ctx context.Context, workspace feedmill.ID, owner, key string, now time.Time) (feedmill.IdempotentResponse, error)
	ForgetResponses(ctx context.Context, now time.Time, limit int) (int64, error)
}

// owner is whose requests the tests are.
const owner = "key_1"

func newOnce(w feedmill.ID, key string) feedmill.IdempotentResponse {
	return feedmill.IdempotentResponse{
		Workspace: w, Owner: owner, Key: key, Fingerprint: feedmill.HashKey(key),
		Answer: []byte("sealed answer"), ExpiresAt: now().Add(feedmill.IdempotencyLifetime),
	}
}

var onceCases = []testCase{
	{name: "in progress until it is kept or its permit ends", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		ok, err := s.TakePermit(ctx, feedmill.IdempotencyPool(w.ID, owner, "k1"), 0, 0, "one", "t1", time.Hour)
		must(t, err)
		equal(t, "taken", true, ok)
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		want(t, err, feedmill.ErrIdempotencyKeyInProgress)
		for _, other := range [][2]string{{owner, "k2"}, {"key_2", "k1"}} {
			_, err := s.KeptResponse(ctx, w.ID, other[0], other[1], now())
			want(t, err, feedmill.ErrNotFound)
		}
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		got, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		equal(t, "answer", string(response.Answer), string(got.Answer))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", response.ExpiresAt)
		want(t, err, feedmill.ErrIdempotencyKeyInProgress)
		must(t, s.ReleasePermit(ctx, "t1"))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", response.ExpiresAt)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "kept with its effect and found again until it expires", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		response := newOnce(w.ID, "k1")
		k := newKey(w.ID)
		must(t, s.CreateKey(ctx, k, &response))
		got, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		if diff := cmp.Diff(response, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", response.ExpiresAt)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.KeptResponse(ctx, newWorkspace(t, s).ID, owner, "k1", now())
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "kept for its owner alone, and without one for everybody", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		must(t, s.KeepResponse(ctx, newOnce(w.ID, "k1")))
		_, err := s.KeptResponse(ctx, w.ID, "key_2", "k1", now())
		want(t, err, feedmill.ErrNotFound)
		others := newOnce(w.ID, "k1")
		others.Owner, others.Answer = "key_2", []byte("another")
		must(t, s.KeepResponse(ctx, others))
		nobodys := newOnce(w.ID, "k1")
		nobodys.Owner, nobodys.Answer = "", []byte("from before")
		must(t, s.KeepResponse(ctx, nobodys))
		for who, answer := range map[string]string{owner: "sealed answer", "key_2": "another", "key_3": "from before"} {
			got, err := s.KeptResponse(ctx, w.ID, who, "k1", now())
			must(t, err)
			if string(got.Answer) != answer {
				t.Errorf("%s is given %q, want %q", who, got.Answer, answer)
			}
		}
	}},
	{name: "a second effect under the same key is undone", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		want(t, s.KeepResponse(ctx, response), feedmill.ErrIdempotencyKeyUsed)
		k := newKey(w.ID)
		want(t, s.CreateKey(ctx, k, &response), feedmill.ErrIdempotencyKeyUsed)
		_, err := s.KeyByHash(ctx, k.Hash)
		want(t, err, feedmill.ErrNotFound)
		other := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "other", CreatedAt: now()}
		want(t, s.CreateWorkspace(ctx, other, &response), feedmill.ErrIdempotencyKeyUsed)
		_, err = s.WorkspaceByID(ctx, other.ID)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "an effect that fails keeps no response", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		response := newOnce(w.ID, "k1")
		want(t, s.CreateKey(ctx, newKey(feedmill.NewID(feedmill.PrefixWorkspace)), &response), feedmill.ErrNotFound)
		_, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "of concurrent effects under one key exactly one happens", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		var wg sync.WaitGroup
		var done atomic.Int32
		for range 16 {
			wg.Go(func() {
				response := newOnce(w.ID, "k1")
				switch err := s.CreateKey(ctx, newKey(w.ID), &response); {
				case err == nil:
					done.Add(1)
				case !errors.Is(err, feedmill.ErrIdempotencyKeyUsed):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		keys, err := s.Keys(ctx, feedmill.KeyQuery{Workspace: w.ID, Page: feedmill.Page{Limit: 100}})
		must(t, err)
		if done.Load() != 1 || len(keys) != 1 {
			t.Errorf("%d effects succeeded and %d keys are there, want one of each", done.Load(), len(keys))
		}
	}},
	{name: "an expired key is free again", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		old := newOnce(w.ID, "k1")
		old.ExpiresAt = now().Add(-time.Second)
		must(t, s.KeepResponse(ctx, old))
		fresh := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, fresh))
		got, err := s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		if diff := cmp.Diff(fresh, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
	{name: "expired responses are forgotten in bounded steps", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		for _, key := range []string{"a", "b", "c"} {
			old := newOnce(w.ID, key)
			old.ExpiresAt = now().Add(-time.Second)
			must(t, s.KeepResponse(ctx, old))
		}
		must(t, s.KeepResponse(ctx, newOnce(w.ID, "fresh")))
		for _, n := range []int64{2, 1, 0} {
			got, err := s.ForgetResponses(ctx, now(), 2)
			must(t, err)
			if got != n {
				t.Errorf("forgot %d responses, want %d", got, n)
			}
		}
		_, err := s.KeptResponse(ctx, w.ID, owner, "fresh", now())
		must(t, err)
	}},
}

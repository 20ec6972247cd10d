package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Bodies are those of previews.
type Bodies interface {
	// HoldBody records a body, and removes those that drop chooses of all of them, oldest
	// first. Its file is live from then on.
	HoldBody(ctx context.Context, b feedmill.HeldBody, drop func([]feedmill.HeldBody) []feedmill.HeldBody) (dropped []feedmill.HeldBody, err error)
	HeldBody(ctx context.Context, workspace feedmill.ID, owner string, id feedmill.ID, now time.Time) (feedmill.HeldBody, error)
	// ForgetBody reports whether the body was held.
	ForgetBody(ctx context.Context, id feedmill.ID) (bool, error)
	ExpiredBodies(ctx context.Context, now time.Time, limit int) ([]feedmill.HeldBody, error)
	HeldBodies(ctx context.Context) (n, bytes int64, err error)
}

var bodyCases = []testCase{
	{name: "held for its owner until it is forgotten or expires", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		at := now()
		var held []feedmill.HeldBody
		hold := func(workspace feedmill.ID, drop ...feedmill.HeldBody) {
			t.Helper()
			b := feedmill.HeldBody{ID: feedmill.NewID(feedmill.PrefixPreview), Workspace: workspace, Owner: owner, ContentType: "text/csv", Disposition: "d", Bytes: 7, ExpiresAt: at.Add(time.Duration(len(held)+1) * time.Minute)}
			b.File = "private/" + string(b.ID)
			held = append(held, b)
			must(t, s.BeginObject(ctx, b.File, "one", ""))
			dropped, err := s.HoldBody(ctx, b, func(all []feedmill.HeldBody) []feedmill.HeldBody {
				equal(t, "the newest", b, all[len(all)-1])
				return drop
			})
			must(t, err)
			equal(t, "dropped", drop, dropped)
		}
		one, two := newWorkspace(t, s).ID, newWorkspace(t, s).ID
		hold(one)
		hold(two)
		hold(one, held[0])
		found := func(i int, workspace feedmill.ID, owner string, at time.Time, is bool) {
			t.Helper()
			got, err := s.HeldBody(ctx, workspace, owner, held[i].ID, at)
			if !is {
				want(t, err, feedmill.ErrNotFound)
				return
			}
			must(t, err)
			equal(t, "held", held[i], got)
		}
		found(0, one, owner, at, false)
		found(1, two, owner, at, true)
		found(1, one, owner, at, false)
		found(1, two, "key_2", at, false)
		found(1, two, owner, held[1].ExpiresAt, false)
		found(2, one, owner, at, true)
		n, bytes, err := s.HeldBodies(ctx)
		must(t, err)
		equal(t, "bodies", [2]int64{2, 14}, [2]int64{n, bytes})
		expired, err := s.ExpiredBodies(ctx, held[1].ExpiresAt, 9)
		must(t, err)
		equal(t, "expired", held[1:2], expired)
		// Their files are live until then.
		unknown, err := s.UnknownObjects(ctx, []string{held[0].File, held[1].File, held[2].File})
		must(t, err)
		equal(t, "unknown files", []string{held[0].File}, unknown)
		must(t, s.MarkUnreferenced(ctx, []feedmill.UnreferencedFile{{Name: held[2].File}}))
		names, err := s.BeginDeleting(ctx, 0, 0, 9)
		must(t, err)
		equal(t, "to delete", 0, len(names))
		for _, is := range []bool{true, false} {
			got, err := s.ForgetBody(ctx, held[1].ID)
			must(t, err)
			equal(t, "forgotten", is, got)
		}
		found(1, two, owner, at, false)
	}},
}

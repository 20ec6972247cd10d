package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// Sessions are the sessions of browsers.
type Sessions interface {
	CreateSession(context.Context, feedmill.Session) error
	// SessionByToken finds the session whose token, present or former, has the
	// hash.
	SessionByToken(context.Context, feedmill.KeyHash) (feedmill.Session, error)
	// RotateSession gives a session another token, unless it has another than
	// from already, and reports whether it did.
	RotateSession(ctx context.Context, id feedmill.ID, from, to feedmill.KeyHash, at time.Time) (bool, error)
	// TouchSession moves when a session was seen last forward, never back.
	TouchSession(ctx context.Context, id feedmill.ID, at time.Time) error
	MoveSession(ctx context.Context, id, workspace feedmill.ID) error
	DeleteSession(ctx context.Context, id feedmill.ID) error
	// ForgetSessions removes up to limit sessions from before a time and
	// reports how many.
	ForgetSessions(ctx context.Context, before time.Time, limit int) (int64, error)
	// AddSignInLink adds a link that signs in with a key, once and until a time. UseSignInLink
	// returns its key, or [feedmill.ErrNotFound] if it was used or has expired.
	AddSignInLink(ctx context.Context, hash feedmill.KeyHash, key feedmill.ID, now, until time.Time) error
	UseSignInLink(ctx context.Context, hash feedmill.KeyHash, now time.Time) (feedmill.ID, error)
}

var sessionCases = []testCase{
	{name: "a sign-in link works once and until it expires", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		first, second, at := feedmill.HashKey("first"), feedmill.HashKey("second"), now()
		must(t, s.AddSignInLink(ctx, first, "key_1", at, at.Add(time.Hour)))
		must(t, s.AddSignInLink(ctx, second, "key_2", at, at.Add(time.Minute)))
		_, err := s.UseSignInLink(ctx, second, at.Add(time.Minute))
		want(t, err, feedmill.ErrNotFound)
		key, err := s.UseSignInLink(ctx, second, at.Add(time.Second))
		must(t, err)
		equal(t, "key", "key_2", key)
		for _, hash := range []feedmill.KeyHash{second, feedmill.HashKey("third")} {
			_, err := s.UseSignInLink(ctx, hash, at)
			want(t, err, feedmill.ErrNotFound)
		}
		// A new link removes those that have expired, and no other.
		must(t, s.AddSignInLink(ctx, second, "key_2", at.Add(time.Minute), at.Add(3*time.Minute)))
		key, err = s.UseSignInLink(ctx, first, at)
		must(t, err)
		equal(t, "key", "key_1", key)
		must(t, s.AddSignInLink(ctx, first, "key_1", at.Add(3*time.Minute), at.Add(time.Hour)))
		_, err = s.UseSignInLink(ctx, second, at)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "found by its token and by the one before", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		k := newKey(w.ID)
		must(t, s.CreateKey(ctx, k, nil))
		got, err := s.KeyByID(ctx, k.ID)
		must(t, err)
		if diff := cmp.Diff(k, got); diff != "" {
			t.Errorf("the key (-want +got):\n%s", diff)
		}
		first, second := feedmill.HashKey("first"), feedmill.HashKey("second")
		session := feedmill.Session{ID: feedmill.NewID(feedmill.PrefixSession), Workspace: w.ID, Key: k.ID, Token: first, CreatedAt: now(), RotatedAt: now(), SeenAt: now()}
		session.Person = feedmill.SessionPerson{Subject: "https://issuer.example|u1", Name: "Mara", Scopes: []feedmill.Scope{feedmill.ScopeRead, feedmill.ScopeAdmin}, Home: w.ID}
		must(t, s.CreateSession(ctx, session))
		at := session.SeenAt.Add(time.Minute)
		for i, want := range []bool{true, false} {
			rotated, err := s.RotateSession(ctx, session.ID, first, second, at)
			must(t, err)
			if rotated != want {
				t.Errorf("rotation %d: %v, want %v", i+1, rotated, want)
			}
		}
		session.Token, session.Former, session.RotatedAt, session.SeenAt = second, first, at, at
		must(t, s.TouchSession(ctx, session.ID, at.Add(-time.Second)))
		for _, token := range []feedmill.KeyHash{first, second} {
			found, err := s.SessionByToken(ctx, token)
			must(t, err)
			if diff := cmp.Diff(session, found); diff != "" {
				t.Errorf("the session (-want +got):\n%s", diff)
			}
		}
		other := newWorkspace(t, s)
		must(t, s.MoveSession(ctx, session.ID, other.ID))
		must(t, s.TouchSession(ctx, session.ID, at.Add(time.Hour)))
		found, err := s.SessionByToken(ctx, second)
		must(t, err)
		if found.Workspace != other.ID || !found.SeenAt.Equal(at.Add(time.Hour)) {
			t.Errorf("after a move and a touch it is %+v", found)
		}
		must(t, s.DeleteSession(ctx, session.ID))
		want(t, s.DeleteSession(ctx, session.ID), feedmill.ErrNotFound)
		_, err = s.SessionByToken(ctx, second)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "forgotten when it is old", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		for i, name := range []string{"a", "b", "c"} {
			at := now().Add(time.Duration(i) * time.Hour)
			must(t, s.CreateSession(ctx, feedmill.Session{ID: feedmill.NewID(feedmill.PrefixSession), Workspace: w.ID, Key: "key_1", Token: feedmill.HashKey(name), CreatedAt: at, RotatedAt: at, SeenAt: at}))
		}
		for _, want := range []int64{1, 1, 0} {
			n, err := s.ForgetSessions(ctx, now().Add(90*time.Minute), 1)
			must(t, err)
			if n != want {
				t.Errorf("%d are forgotten, want %d", n, want)
			}
		}
		_, err := s.SessionByToken(ctx, feedmill.HashKey("c"))
		must(t, err)
	}},
}

package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// memSessions keeps sessions in memory.
type memSessions struct {
	sessions map[feedmill.ID]feedmill.Session
	links    map[feedmill.KeyHash]signInLink
}

// signInLink is a link in the store.
type signInLink struct {
	key   feedmill.ID
	until time.Time
}

func (m *memSessions) AddSignInLink(_ context.Context, hash feedmill.KeyHash, key feedmill.ID, _, until time.Time) error {
	if m.links == nil {
		m.links = make(map[feedmill.KeyHash]signInLink)
	}
	m.links[hash] = signInLink{key, until}
	return nil
}

func (m *memSessions) UseSignInLink(_ context.Context, hash feedmill.KeyHash, now time.Time) (feedmill.ID, error) {
	found, ok := m.links[hash]
	if !ok || !found.until.After(now) {
		return "", feedmill.ErrNotFound
	}
	delete(m.links, hash)
	return found.key, nil
}

func (m *memSessions) CreateSession(_ context.Context, s feedmill.Session) error {
	if m.sessions == nil {
		m.sessions = make(map[feedmill.ID]feedmill.Session)
	}
	m.sessions[s.ID] = s
	return nil
}

func (m *memSessions) SessionByToken(_ context.Context, hash feedmill.KeyHash) (feedmill.Session, error) {
	for _, s := range m.sessions {
		if s.Token == hash || s.Former == hash {
			return s, nil
		}
	}
	return feedmill.Session{}, feedmill.ErrNotFound
}

func (m *memSessions) change(id feedmill.ID, change func(*feedmill.Session)) error {
	s, ok := m.sessions[id]
	if !ok {
		return feedmill.ErrNotFound
	}
	change(&s)
	m.sessions[id] = s
	return nil
}

func (m *memSessions) RotateSession(_ context.Context, id feedmill.ID, from, to feedmill.KeyHash, at time.Time) (rotated bool, err error) {
	err = m.change(id, func(s *feedmill.Session) {
		if rotated = s.Token == from; rotated {
			s.Token, s.Former, s.RotatedAt, s.SeenAt = to, from, at, at
		}
	})
	return rotated, err
}

func (m *memSessions) TouchSession(_ context.Context, id feedmill.ID, at time.Time) error {
	return m.change(id, func(s *feedmill.Session) { s.SeenAt = at })
}

func (m *memSessions) MoveSession(_ context.Context, id, workspace feedmill.ID) error {
	return m.change(id, func(s *feedmill.Session) { s.Workspace = workspace })
}

func (m *memSessions) DeleteSession(_ context.Context, id feedmill.ID) error {
	delete(m.sessions, id)
	return nil
}

func (s *memStore) KeyByID(_ context.Context, id feedmill.ID) (feedmill.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.keys {
		if k.ID == id {
			return k, nil
		}
	}
	return feedmill.Key{}, feedmill.ErrNotFound
}

// signedIn makes a session for a new key.
func signedIn(t *testing.T, a *Authenticator, store *memStore, workspace string) (secret, token string) {
	t.Helper()
	secret = feedmill.NewKeySecret()
	store.add(secret, workspace, feedmill.Scopes...)
	token, _, err := a.BeginSession(t.Context(), wantPrincipal(t, a, "Bearer "+secret))
	if err != nil {
		t.Fatal(err)
	}
	return secret, token
}

func wantSession(t *testing.T, a *Authenticator, token string, good bool) {
	t.Helper()
	_, err := a.AuthenticateSession(t.Context(), token)
	if good && err != nil || !good && !errors.Is(err, feedmill.ErrUnauthenticated) {
		t.Errorf("good is %v, the error %v", good, err)
	}
}

func TestSessionsEnd(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(t *testing.T, a *Authenticator, store *memStore, secret, token string)
	}{
		{"two hours without a request", func(*testing.T, *Authenticator, *memStore, string, string) { time.Sleep(feedmill.SessionIdle) }},
		{"twelve hours in all", func(t *testing.T, a *Authenticator, _ *memStore, _, token string) {
			for range 23 {
				time.Sleep(30 * time.Minute)
				wantSession(t, a, token, true)
			}
			time.Sleep(30 * time.Minute)
		}},
		{"signing out", func(t *testing.T, a *Authenticator, _ *memStore, _, token string) {
			if err := a.EndSession(t.Context(), token); err != nil {
				t.Error(err)
			}
		}},
		{"a revoked key, a second later in another process", func(_ *testing.T, _ *Authenticator, store *memStore, secret, _ string) {
			store.revoke(secret)
			time.Sleep(time.Second)
		}},
		{"a revoked key, at once in this process", func(_ *testing.T, a *Authenticator, store *memStore, secret, _ string) {
			store.revoke(secret)
			a.Forget(store.keys[feedmill.HashKey(secret)].ID)
		}},
		{"a key that expires", func(_ *testing.T, _ *Authenticator, store *memStore, secret, _ string) {
			store.expire(secret, time.Second)
			time.Sleep(2 * time.Second)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newStore()
				a := newAuthenticator(t, store, Options{})
				secret, token := signedIn(t, a, store, "other")
				wantSession(t, a, token, true)
				test.end(t, a, store, secret, token)
				wantSession(t, a, token, false)
			})
		})
	}
}

func TestSessionTokensRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{})
		_, token := signedIn(t, a, store, "other")
		if renewed, _, err := a.RenewSession(t.Context(), token); err != nil || renewed != "" {
			t.Errorf("a new session is renewed to %q (%v)", renewed, err)
		}
		time.Sleep(feedmill.SessionRotation)
		renewed, _, err := a.RenewSession(t.Context(), token)
		if err != nil || renewed == "" || renewed == token {
			t.Fatalf("renewed to %q (%v)", renewed, err)
		}
		if again, _, err := a.RenewSession(t.Context(), token); err != nil || again != "" {
			t.Errorf("a request that was under way is renewed to %q (%v)", again, err)
		}
		wantSession(t, a, token, true)
		time.Sleep(feedmill.SessionGrace + time.Millisecond)
		wantSession(t, a, token, false)
		wantSession(t, a, renewed, true)
	})
}

func TestSessionsMove(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	_, token := signedIn(t, a, store, feedmill.DefaultWorkspace)
	wantSession(t, a, token, true)
	if err := a.MoveSession(t.Context(), token, store.workspace("other")); err != nil {
		t.Fatal(err)
	}
	who, err := a.AuthenticateSession(t.Context(), token)
	if err != nil || who.Workspace != store.workspace("other") || !who.AllWorkspaces {
		t.Errorf("after the move it is %+v (%v)", who, err)
	}
}

func TestLinksWorkOnce(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	id := store.add(feedmill.NewKeySecret(), feedmill.DefaultWorkspace, feedmill.Scopes...)
	link, err := a.NewLink(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	// Another replica on the same store takes it too.
	other := newAuthenticator(t, store, Options{})
	who, err := other.AuthenticateLink(t.Context(), link)
	if err != nil || who.Subject != string(id) {
		t.Errorf("the link is of %+v (%v)", who, err)
	}
	for _, used := range []string{link, "", "another"} {
		if _, err := a.AuthenticateLink(t.Context(), used); !errors.Is(err, feedmill.ErrUnauthenticated) {
			t.Errorf("%q: %v", used, err)
		}
	}
}

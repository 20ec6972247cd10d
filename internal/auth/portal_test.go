package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// memPortals keeps portal links in memory.
type memPortals struct {
	portals map[feedmill.KeyHash]feedmill.PortalLink
}

func (m *memPortals) PortalLinkByHash(_ context.Context, link feedmill.KeyHash) (feedmill.PortalLink, error) {
	l, ok := m.portals[link]
	if !ok {
		return l, feedmill.ErrNotFound
	}
	return l, nil
}

func (m *memPortals) PortalLinkBySession(_ context.Context, session feedmill.KeyHash) (feedmill.PortalLink, error) {
	for _, l := range m.portals {
		if l.Session == session && !l.OpenedAt.IsZero() {
			return l, nil
		}
	}
	return feedmill.PortalLink{}, feedmill.ErrNotFound
}

func (m *memPortals) OpenPortalLink(ctx context.Context, link, session feedmill.KeyHash, at time.Time) (feedmill.PortalLink, error) {
	l, err := m.PortalLinkByHash(ctx, link)
	if err != nil || l.State(at) != feedmill.PortalLinkUnused {
		return l, feedmill.ErrNotFound
	}
	l.Session, l.OpenedAt = session, at
	m.portals[link] = l
	return l, nil
}

// addPortal adds a link to the workspace other that the key created.
func (s *memStore) addPortal(secret string, key feedmill.ID, access feedmill.PortalAccess) feedmill.ID {
	if s.portals == nil {
		s.portals = make(map[feedmill.KeyHash]feedmill.PortalLink)
	}
	l := feedmill.PortalLink{
		ID: feedmill.NewID(feedmill.PrefixPortalLink), Workspace: s.workspace("other"), Key: key, Link: feedmill.HashKey(secret),
		Pages: []feedmill.PortalPage{feedmill.PortalEvents}, Access: access, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
	}
	s.portals[l.Link] = l
	return l.ID
}

func TestPortalLinkOpensOnce(t *testing.T) {
	s := newStore()
	key := s.add("fm_admin", feedmill.DefaultWorkspace, feedmill.ScopeAdmin)
	one, two := s.addPortal("one", key, feedmill.PortalWrite), s.addPortal("two", "", feedmill.PortalRead)
	a := newAuthenticator(t, s, Options{})
	for range 3 { // reading uses nothing up
		if l, w, err := a.PortalLink(t.Context(), "one"); err != nil || l.ID != one || w.Name != "other" {
			t.Fatalf("the link is %+v of %+v, %v", l, w, err)
		}
	}
	tokens := make(map[string]feedmill.ID)
	for secret, id := range map[string]feedmill.ID{"one": one, "two": two} {
		token, l, err := a.OpenPortal(t.Context(), secret, "")
		if err != nil || l.ID != id {
			t.Fatalf("opening %s: %+v, %v", secret, l, err)
		}
		tokens[token] = id
		for _, again := range []func() error{
			func() error { _, _, err := a.PortalLink(t.Context(), secret); return err },
			func() error { _, _, err := a.OpenPortal(t.Context(), secret, ""); return err },
		} {
			if err := again(); !errors.Is(err, feedmill.ErrUnauthenticated) {
				t.Errorf("opening %s again: %v", secret, err)
			}
		}
	}
	for token, id := range tokens {
		for range 2 { // from the store, then from the cache
			who, err := a.AuthenticatePortal(t.Context(), token)
			if err != nil || who.Workspace != s.workspace("other") || who.Subject != string(id) || who.Portal == nil || who.AllWorkspaces || who.Has(feedmill.ScopeAdmin) || who.Has(feedmill.ScopePublish) {
				t.Fatalf("the principal is %+v, %v", who, err)
			}
			if who.Has(feedmill.ScopeWrite) != (id == one) {
				t.Errorf("%s has the scopes %v", id, who.Scopes)
			}
		}
		// Nothing else takes the token, not even while it is cached.
		wantRefused(t, a, "Bearer "+token, "")
		if _, err := a.AuthenticateSession(t.Context(), token); !errors.Is(err, feedmill.ErrUnauthenticated) {
			t.Errorf("the token is that of a session: %v", err)
		}
	}
	for _, other := range []string{"", "one", "fm_admin"} {
		if _, err := a.AuthenticatePortal(t.Context(), other); !errors.Is(err, feedmill.ErrUnauthenticated) {
			t.Errorf("%q is a session of the portal: %v", other, err)
		}
	}
}

// TestPortalSessionEnds ends sessions in every way: with the time, the link, the key that created
// it and the workspace.
func TestPortalSessionEnds(t *testing.T) {
	for name, end := range map[string]func(s *memStore, a *Authenticator, link, key feedmill.ID){
		"the time": func(*memStore, *Authenticator, feedmill.ID, feedmill.ID) { time.Sleep(time.Hour) },
		"the link": func(s *memStore, a *Authenticator, link, _ feedmill.ID) {
			delete(s.portals, feedmill.HashKey("one"))
			a.Forget(link)
		},
		"the link, on another replica": func(s *memStore, _ *Authenticator, _, _ feedmill.ID) {
			delete(s.portals, feedmill.HashKey("one"))
			time.Sleep(defaultCacheTTL)
		},
		"the key": func(s *memStore, a *Authenticator, _, key feedmill.ID) {
			s.revoke("fm_admin")
			a.Forget(key)
		},
		"the key's time": func(s *memStore, _ *Authenticator, _, _ feedmill.ID) {
			s.expire("fm_admin", time.Minute)
			time.Sleep(time.Minute)
		},
		"the workspace": func(s *memStore, a *Authenticator, _, _ feedmill.ID) {
			s.workspaces[1].Deleting = new(feedmill.Deletion)
			a.Forget(s.workspaces[1].ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				key := s.add("fm_admin", feedmill.DefaultWorkspace, feedmill.ScopeAdmin)
				link := s.addPortal("one", key, feedmill.PortalWrite)
				a := newAuthenticator(t, s, Options{})
				token, _, err := a.OpenPortal(t.Context(), "one", "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := a.AuthenticatePortal(t.Context(), token); err != nil {
					t.Fatal(err)
				}
				end(s, a, link, key)
				if _, err := a.AuthenticatePortal(t.Context(), token); !errors.Is(err, feedmill.ErrUnauthenticated) {
					t.Errorf("the session goes on: %v", err)
				}
				if _, _, err := a.PortalSession(t.Context(), token); !errors.Is(err, feedmill.ErrUnauthenticated) {
					t.Errorf("the pages go on: %v", err)
				}
			})
		})
	}
}

// TestPortalLinkOfAnotherAdmin opens no link of a key that is not an admin of the default
// workspace.
func TestPortalLinkOfAnotherAdmin(t *testing.T) {
	s := newStore()
	for name, key := range map[string]feedmill.ID{
		"an admin of a tenant": s.add("fm_tenant", "other", feedmill.ScopeAdmin), "no admin": s.add("fm_reader", feedmill.DefaultWorkspace, feedmill.ScopeRead),
	} {
		s.addPortal(name, key, feedmill.PortalRead)
		if _, _, err := newAuthenticator(t, s, Options{}).OpenPortal(t.Context(), name, ""); !errors.Is(err, feedmill.ErrUnauthenticated) {
			t.Errorf("the link of %s opens: %v", name, err)
		}
	}
}

// TestCredentialsAreApart accepts the token of a session only as a session, and a key only as a
// key, also while they are cached.
func TestCredentialsAreApart(t *testing.T) {
	s := newStore()
	s.add("fm_admin", feedmill.DefaultWorkspace, feedmill.ScopeAdmin)
	a := newAuthenticator(t, s, Options{})
	who := wantPrincipal(t, a, "Bearer fm_admin")
	token, _, err := a.BeginSession(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.AuthenticateSession(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, a, "Bearer "+token, "")
	if _, err := a.AuthenticateSession(t.Context(), "fm_admin"); !errors.Is(err, feedmill.ErrUnauthenticated) {
		t.Errorf("a key is a session: %v", err)
	}
}

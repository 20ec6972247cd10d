package auth

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
)

// ofIssuer makes a session of a person of the workspace other.
func ofIssuer(t *testing.T, a *Authenticator, store *memStore) (token string) {
	t.Helper()
	text := a.links.add(link{expires: time.Now().Add(issuerLinkAge), who: feedmill.Principal{
		Workspace: store.workspace("other"), Subject: a.issuer.url + "|mara", Scopes: []feedmill.Scope{feedmill.ScopeRead}, SignedIn: true,
	}})
	who, err := a.AuthenticateLink(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err = a.BeginSession(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestSessionsOfPeopleEnd(t *testing.T) {
	options := Options{OIDCIssuer: "https://issuer.example", OIDCAudience: testAudience, Client: feedmill.OAuthClient{ID: "c", Secret: "s"}, HTTPClient: new(http.Client)}
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, options)
		idle := ofIssuer(t, a, store)
		wantSession(t, a, idle, true)
		time.Sleep(feedmill.SessionIdle)
		wantSession(t, a, idle, false)

		old := ofIssuer(t, a, store)
		for range 23 {
			time.Sleep(30 * time.Minute)
			wantSession(t, a, old, true)
		}
		time.Sleep(30 * time.Minute)
		wantSession(t, a, old, false)

		// Rotation and signing out take effect immediately, although the session is cached.
		first := ofIssuer(t, a, store)
		time.Sleep(feedmill.SessionRotation)
		second, _, err := a.RenewSession(t.Context(), first)
		if err != nil || second == "" {
			t.Fatalf("renewed to %q (%v)", second, err)
		}
		wantSession(t, a, first, true)
		time.Sleep(feedmill.SessionGrace + time.Millisecond)
		wantSession(t, a, first, false)
		wantSession(t, a, second, true)
		if err := a.EndSession(t.Context(), second); err != nil {
			t.Fatal(err)
		}
		wantSession(t, a, second, false)

		// A session that was moved to a workspace without access is not valid.
		moved := ofIssuer(t, a, store)
		if err := a.MoveSession(t.Context(), moved, store.workspace(feedmill.DefaultWorkspace)); err != nil {
			t.Fatal(err)
		}
		wantSession(t, a, moved, false)

		// The operator takes the client away, or has another issuer.
		kept := ofIssuer(t, a, store)
		without, other := options, options
		without.Client, other.OIDCIssuer = feedmill.OAuthClient{}, "https://issuer.example.org"
		for _, o := range []Options{{}, without, other} {
			wantSession(t, newAuthenticator(t, store, o), kept, false)
		}
		wantSession(t, newAuthenticator(t, store, options), kept, true)
		for id := range a.used.takePending() {
			if !feedmill.IsID(feedmill.PrefixWorkspace, string(id)) {
				t.Errorf("a key was used that is none: %v", id)
			}
		}
	})
}

// A token of the issuer begins no session, which would outlast it.
func TestATokenBeginsNoSession(t *testing.T) {
	key := newSigner(t, jwt.SigningMethodES256, "")
	a, is := onLoopback(t, newStore(), key)
	a.client = feedmill.OAuthClient{ID: testAudience, Secret: "s"}
	who := wantPrincipal(t, a, key.sign(t, is.claims(nil)))
	if _, _, err := a.BeginSession(t.Context(), who); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("the error is %v", err)
	}
}

// Users cannot sign in at an issuer without endpoints for it, or at one whose endpoints
// use plain http.
func TestAnIssuerWithoutASignIn(t *testing.T) {
	for name, configuration := range map[string]map[string]string{
		"none":      {},
		"in clear":  {"authorization_endpoint": "https://issuer.example/a", "token_endpoint": "http://issuer.example/t"},
		"no server": {"authorization_endpoint": "javascript:alert(1)", "token_endpoint": "https://issuer.example/t"},
	} {
		a, is := inBubble(t, newStore(), newSigner(t, jwt.SigningMethodES256, ""))
		a.client = feedmill.OAuthClient{ID: "c", Secret: "s"}
		for field, value := range configuration {
			is.configuration[field] = value
		}
		if _, to, err := a.BeginAtIssuer(t.Context(), "https://here.example/back"); !errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("%s: leads to %q (%v)", name, to, err)
		}
	}
}

package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/connect/connecttest"
)

// withIssuer is a service at whose issuer people can sign in.
func withIssuer(t *testing.T) (*service, *connecttest.Provider) {
	t.Helper()
	p := connecttest.New()
	t.Cleanup(p.Close)
	return start(t, setup{env: append(slices.Clone(webhooks.env),
		"FEEDMILL_OIDC_ISSUER="+p.URL, "FEEDMILL_OIDC_AUDIENCE=feedmill-api",
		"FEEDMILL_OIDC_CLIENT_ID="+connecttest.ClientID, "FEEDMILL_OIDC_CLIENT_SECRET="+connecttest.ClientSecret,
	)}), p
}

// atIssuer goes to the issuer for a page and gives an answer there. It returns the address
// to which the issuer sends the browser back.
func (p *person) atIssuer(next, answer string) string {
	p.t.Helper()
	begun := p.send("/ui/sign-in/issuer?next="+url.QueryEscape(next), nil)
	cookie := begun.header.Get("Set-Cookie")
	if begun.status != http.StatusSeeOther || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "Max-Age=600") {
		p.t.Fatalf("%d %v %s", begun.status, begun.header, begun.body)
	}
	back := p.send(begun.header.Get("Location"), url.Values{"answer": {answer}})
	if back.status != http.StatusFound {
		p.t.Fatalf("%d %s", back.status, back.body)
	}
	return back.header.Get("Location")
}

// cookie is what the browser holds for the server under a name.
func (p *person) cookie(name string) string {
	u, _ := url.Parse(p.s.url + "/ui/sign-in")
	for _, c := range p.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (p *person) hold(name, value string) {
	u, _ := url.Parse(p.s.url)
	p.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

const (
	sessionCookieName = "feedmill_session"
	signInCookieName  = "feedmill_sign_in"
)

// wantOutside checks that a sign-in was refused with a reason, and that nobody is in.
func (p *person) wantOutside(got reply, status int, why string) {
	p.t.Helper()
	if got.status != status || !strings.Contains(got.body, why) || p.cookie(sessionCookieName) != "" {
		p.t.Errorf("%d, the session %q, want %d and %q in %s", got.status, p.cookie(sessionCookieName), status, why, got.body)
	}
	if p.cookie(signInCookieName) != "" {
		p.t.Error("the sign-in can be tried again")
	}
}

// TestSignInAtTheIssuer goes all the way of a person without a key, and shows what the
// session is good for.
func TestSignInAtTheIssuer(t *testing.T) {
	t.Parallel()
	s, provider := withIssuer(t)
	p := newPerson(t, s)
	page := p.send("/ui/sign-in?next=/ui/keys", nil)
	if !strings.Contains(page.body, `href="/ui/sign-in/issuer?next=%2Fui%2Fkeys">Continue with `+strings.TrimPrefix(provider.URL, "http://")) {
		t.Fatal(page.body)
	}
	// Whoever knows the cookies of a browser before it signs in knows nothing after.
	p.hold(sessionCookieName, "planted")
	back := p.atIssuer("/ui/subscriptions?state=active", "yes")
	held := p.cookie(signInCookieName)
	done := p.send(back, nil)
	session := p.cookie(sessionCookieName)
	if done.status != http.StatusSeeOther || done.header.Get("Location") != "/ui/subscriptions?state=active" || session == "" || session == "planted" {
		t.Fatalf("%d %v %s", done.status, done.header, done.body)
	}
	cookie := strings.Join(done.header.Values("Set-Cookie"), "\n")
	if !strings.Contains(cookie, sessionCookieName+"="+session+"; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax") || p.cookie(signInCookieName) != "" {
		t.Error(cookie)
	}
	me := p.send("/me", nil)
	if want := `"subject":"` + provider.URL + "|" + connecttest.Subject + `","name":"Mara","scopes":["api:read"]`; !strings.Contains(me.body, want) || strings.Contains(me.body, `"key"`) || strings.Contains(me.body, `"session":null`) {
		t.Error(me.body)
	}
	if page := p.send("/ui/subscriptions", nil); page.status != 200 || !strings.Contains(page.body, "As <b>Mara</b>") {
		t.Errorf("%d %s", page.status, page.body)
	}
	// A reader stays a reader, and stays in the workspace.
	for _, path := range []string{"/keys", "/workspaces", "/audit"} {
		if got := p.send(path, nil); got.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if audit := s.send(t, request{method: "GET", path: "/audit?action=session.create"}); !strings.Contains(audit.body, connecttest.Subject) {
		t.Error(audit.body)
	}

	// The same answer again is refused here, and by the issuer where the browser still has
	// its secret.
	thief := newPerson(t, s)
	thief.wantOutside(thief.send(back, nil), http.StatusUnprocessableEntity, "started in another browser")
	thief.hold(signInCookieName, held)
	thief.wantOutside(thief.send(back, nil), http.StatusUnprocessableEntity, "already used")

	if out := p.send("/ui/sign-out", url.Values{}); out.status != http.StatusSeeOther {
		t.Errorf("%d %s", out.status, out.body)
	}
	p.hold(sessionCookieName, session)
	if got := p.send("/me", nil); got.status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d %s", got.status, got.body)
	}

	// An admin of default goes to every workspace, as with a key.
	provider.Lock()
	provider.Claims = map[string]any{"scope": []string{"openid", "admin", "api:read"}}
	provider.Unlock()
	var other struct{ ID string }
	s.send(t, request{method: "POST", path: "/workspaces", body: `{"name":"other"}`}).data(t, &other)
	admin := newPerson(t, s)
	admin.send(admin.atIssuer("", "yes"), nil)
	admin.send("/ui/workspaces/"+other.ID, url.Values{})
	if me := admin.send("/me", nil); !strings.Contains(me.body, `"name":"other"`) || !strings.Contains(me.body, `"allWorkspaces":true`) {
		t.Error(me.body)
	}
	for _, secret := range []string{connecttest.ClientSecret, held, session} {
		if strings.Contains(s.log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

func TestSignInAtTheIssuerIsRefused(t *testing.T) {
	t.Parallel()
	s, provider := withIssuer(t)
	published := provider.Signer
	for _, test := range []struct {
		name   string
		claims map[string]any
		forged bool
		why    string
	}{
		{"no nonce", map[string]any{"nonce": nil}, false, "another sign-in"},
		{"another nonce", map[string]any{"nonce": "of another sign-in"}, false, "another sign-in"},
		{"another issuer", map[string]any{"iss": "https://evil.example"}, false, "iss claim"},
		{"another audience", map[string]any{"aud": "feedmill-api"}, false, "issued for another service"},
		{"another client", map[string]any{"aud": []string{connecttest.ClientID, "x"}, "azp": "x"}, false, "another client"},
		{"expired", map[string]any{"exp": time.Now().Add(-time.Second).Unix()}, false, "expired"},
		{"no expiry", map[string]any{"exp": nil}, false, "exp claim is missing"},
		{"nobody", map[string]any{"sub": nil}, false, "no sub claim"},
		{"no workspace", map[string]any{"feedmill_workspace": nil}, false, "no feedmill_workspace claim"},
		{"another's workspace", map[string]any{"feedmill_workspace": "nowhere"}, false, "does not name a workspace"},
		{"no scope of ours", map[string]any{"scope": "openid everything"}, false, "contains no scope of Feedmill"},
		{"another key", nil, true, "signature does not match the keys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			provider.Lock()
			provider.Claims, provider.Signer = test.claims, published
			if test.forged {
				provider.Signer = connecttest.NewSigner()
			}
			provider.Unlock()
			p := newPerson(t, s)
			p.wantOutside(p.send(p.atIssuer("", "yes"), nil), http.StatusUnprocessableEntity, test.why)
		})
	}
	provider.Lock()
	provider.Claims, provider.Signer = nil, published
	exchanges := provider.Exchanges
	provider.Unlock()

	for _, test := range []struct{ name, parameter, value, why string }{
		{"a state of somebody else", "state", "x", "does not belong"},
		{"no state", "state", "", "does not belong"},
		{"an answer of another issuer", "iss", "https://evil.example", "another issuer"},
		{"no code", "code", "", "has no authorization code"},
		{"an error", "error", "server_error\x1b<script>", "the error &#34;server_error&lt;script&gt;&#34;"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPerson(t, s)
			back, err := url.Parse(p.atIssuer("", "yes"))
			if err != nil {
				t.Fatal(err)
			}
			q := back.Query()
			q.Set(test.parameter, test.value)
			back.RawQuery = q.Encode()
			p.wantOutside(p.send(back.String(), nil), http.StatusUnprocessableEntity, test.why)
		})
	}
	p := newPerson(t, s)
	p.wantOutside(p.send(p.atIssuer("", "no"), nil), http.StatusUnprocessableEntity, "denied access")
	// What somebody else's browser has begun ends in no other.
	back := newPerson(t, s).atIssuer("", "yes")
	p.atIssuer("", "yes")
	p.wantOutside(p.send(back, nil), http.StatusUnprocessableEntity, "does not belong")
	provider.Lock()
	if provider.Exchanges != exchanges {
		t.Error("a code was sent to the issuer that did not belong to the browser")
	}
	provider.Down = true
	provider.Unlock()
	p.wantOutside(p.send(p.atIssuer("", "yes"), nil), http.StatusServiceUnavailable, "unavailable or returns an invalid response")
	provider.Lock()
	provider.Down = false
	provider.Unlock()

	for _, next := range []string{"https://evil.example/", "//evil.example/ui/", `/ui/\evil.example`, "javascript:alert(1)", "/ui/" + strings.Repeat("x", 4096)} {
		p := newPerson(t, s)
		if done := p.send(p.atIssuer(next, "yes"), nil); done.header.Get("Location") != "/ui/" {
			t.Errorf("%.30s leads to %.60s", next, done.header.Get("Location"))
		}
		// Neither where the cookie was changed on the way.
		back := p.atIssuer("", "yes")
		secret, _, _ := strings.Cut(p.cookie(signInCookieName), ".")
		p.hold(signInCookieName, secret+".aHR0cHM6Ly9ldmlsLmV4YW1wbGUv")
		if done := p.send(back, nil); done.header.Get("Location") != "/ui/" {
			t.Errorf("the cookie leads to %s", done.header.Get("Location"))
		}
	}
}

// TestWithoutAClientNobodySignsInAtTheIssuer: an issuer alone changes nothing of the pages.
func TestWithoutAClientNobodySignsInAtTheIssuer(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_OIDC_ISSUER=https://issuer.example", "FEEDMILL_OIDC_AUDIENCE=feedmill-api"}})
	p := newPerson(t, s)
	if page := p.send("/ui/sign-in", nil); page.status != 200 || strings.Contains(page.body, "issuer") {
		t.Error(page.body)
	}
	for _, path := range []string{"/ui/sign-in/issuer", "/ui/sign-in/callback?code=x&state=x"} {
		if got := p.send(path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

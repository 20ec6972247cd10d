package connect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// provider is an authorization server that keeps to RFC 6749, 7636 and OpenID
// Connect.
type provider struct {
	*httptest.Server
	mu sync.Mutex
	// codes are those that were given out and not redeemed.
	codes map[string]url.Values
	// answer changes what the token endpoint says.
	answer  func(map[string]any)
	status  int
	revoked []string
}

func newProvider(t *testing.T) *provider {
	p := &provider{codes: map[string]url.Values{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// consent is what the browser of somebody who says yes is sent back with.
func (p *provider) consent(t *testing.T, to string) feedmill.SignInAnswer {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != "our-client" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("scope") != "read offline" ||
		q.Get("redirect_uri") != "https://feeds.example/ui/connect/callback/crm" || q.Get("prompt") != "consent" {
		t.Fatalf("the provider is asked with %s", to)
	}
	code, _ := feedmill.NewToken()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = q
	return feedmill.SignInAnswer{Service: "crm", State: q.Get("state"), Code: code}
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/revoke" {
		p.revoked = append(p.revoked, r.PostForm.Get("token"))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if p.status != 0 {
		w.WriteHeader(p.status)
		return
	}
	f := r.PostForm
	asked, ok := p.codes[f.Get("code")]
	delete(p.codes, f.Get("code"))
	if !ok || f.Get("grant_type") != "authorization_code" || f.Get("client_id") != "our-client" || f.Get("client_secret") != "our-secret" ||
		f.Get("redirect_uri") != asked.Get("redirect_uri") || challenge(f.Get("code_verifier")) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	claims, _ := json.Marshal(map[string]string{"nonce": asked.Get("nonce")})
	said := map[string]any{"access_token": "at", "refresh_token": "rt-1", "token_type": "bearer", "id_token": "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".sig"}
	if p.answer != nil {
		p.answer(said)
	}
	_ = json.NewEncoder(w).Encode(said)
}

// plainVault turns texts round: this test is not about how secrets are sealed.
type plainVault struct{}

func (plainVault) Seal(plain []byte, record string) ([]byte, error) {
	return append([]byte(record+"|"), plain...), nil
}

func (plainVault) Unseal(_ context.Context, sealed []byte, record string) ([]byte, error) {
	text, ok := strings.CutPrefix(string(sealed), record+"|")
	if !ok {
		return nil, errors.New("of another record")
	}
	return []byte(text), nil
}

// TestLeavingGivesBack is somebody who signs in, and goes away before a feed is made.
func TestLeavingGivesBack(t *testing.T) {
	p := newProvider(t)
	c, ws := newConnect(t, p)
	visit, to, err := c.Begin(t.Context(), offered(t, c, ws))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Return(t.Context(), visit, p.consent(t, to)); err != nil {
		t.Fatal(err)
	}
	made := c.services.(*services)
	if n, err := c.GiveBack(t.Context(), now(), 10); n != 0 || err != nil || made.deleted {
		t.Fatalf("%d are given back while there is time to choose: %v", n, err)
	}
	for _, want := range []int64{1, 0} {
		if n, err := c.GiveBack(t.Context(), now().Add(feedmill.SignInVisit+time.Second), 10); n != want || err != nil || !made.deleted {
			t.Fatalf("%d are given back, want %d: %v", n, want, err)
		}
	}
	_, err = c.Granted(t.Context(), visit, "")
	wantType(t, err, "sign-in-over")
}

// services takes what is granted, and has nothing behind it.
type services struct {
	Services
	token   string
	made    feedmill.Connection
	deleted bool
}

func (s *services) Grant(_ context.Context, workspace feedmill.ID, service, token string) (feedmill.Connection, error) {
	s.token = token
	s.made = feedmill.Connection{ID: feedmill.NewID(feedmill.PrefixConnection), Workspace: workspace, ServiceName: service + "-1", Connector: service}
	return s.made, nil
}

// Regrant fails: the connection was deleted in the meantime.
func (s *services) Regrant(context.Context, feedmill.ID, feedmill.ID, string) error {
	return feedmill.ErrNotFound
}

func (s *services) Asked(context.Context, feedmill.ID, feedmill.ID) (feedmill.Connection, []feedmill.ConnectorSetting, feedmill.ConnectionConfig, error) {
	return s.made, nil, nil, nil
}

func (s *services) Views(context.Context, feedmill.ID, string, bool) ([]feedmill.ServiceView, error) {
	return []feedmill.ServiceView{{Name: "contacts"}}, nil
}

func (s *services) Fields(context.Context, feedmill.ID, string, string, bool) ([]feedmill.ServiceField, error) {
	return nil, nil
}

func (s *services) Delete(context.Context, feedmill.ID, feedmill.ID) error {
	s.deleted = true
	return nil
}

func newConnect(t *testing.T, p *provider) (*Connect, feedmill.ID) {
	t.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "f.db"), feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c := New(NewLinks(Options{
		Store: store, Vault: plainVault{}, HTTP: http.DefaultClient, PublicURL: "https://feeds.example/", Redirects: []string{"https://app.example"},
		Clients: map[string]feedmill.OAuthClient{"crm": {ID: "our-client", Secret: "our-secret"}},
		Provider: func(service string) (*feedmill.Provider, string, bool) {
			switch service {
			case "crm", "unconfigured":
				return &feedmill.Provider{
					AuthorizeURL: p.URL + "/authorize?audience=x", TokenURL: p.URL + "/token", RevokeURL: p.URL + "/revoke", Issuer: "https://provider.example",
					Scopes: []string{"read", "offline"}, Parameters: map[string]string{"prompt": "consent"},
				}, "A CRM", true
			case "plain":
				return nil, "Plain", true
			}
			return nil, "", false
		},
	}), &services{}, nil)
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "north", CreatedAt: now()}
	if err := store.CreateWorkspace(context.Background(), w, nil); err != nil {
		t.Fatal(err)
	}
	return c, w.ID
}

// wantType holds an error to the type of its problem.
func wantType(t *testing.T, err error, kind string) {
	t.Helper()
	if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Type != kind {
		t.Errorf("the error is %v, want %s", err, kind)
	}
}

func offered(t *testing.T, c *Connect, ws feedmill.ID) string {
	t.Helper()
	link, err := c.Offer(t.Context(), ws, "crm", "https://app.example/done?x=1")
	if err != nil {
		t.Fatal(err)
	}
	token, ok := strings.CutPrefix(link.URL, "https://feeds.example/ui/connect/")
	if !ok || len(token) != 43 || time.Until(link.ExpiresAt) > 15*time.Minute {
		t.Fatalf("the link is %+v", link)
	}
	return token
}

// TestSignIn goes all the way, and tries every step twice.
func TestSignIn(t *testing.T) {
	p := newProvider(t)
	c, ws := newConnect(t, p)
	token := offered(t, c, ws)
	for range 2 { // looking at it does not use it up
		if in, err := c.Offered(t.Context(), token); err != nil || in.Workspace != ws || in.Service != "crm" || in.WorkspaceName != "north" || in.Title != "A CRM" {
			t.Fatal(in, err)
		}
	}
	visit, to, err := c.Begin(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Offered(t.Context(), token)
	wantType(t, err, "link-used")
	_, _, err = c.Begin(t.Context(), token)
	wantType(t, err, "link-used")
	_, err = c.Granted(t.Context(), visit, "")
	wantType(t, err, "sign-in-over")

	answer := p.consent(t, to)
	if _, err := c.Return(t.Context(), visit, answer); err != nil {
		t.Fatal(err)
	}
	_, err = c.Return(t.Context(), visit, answer)
	wantType(t, err, "sign-in-over")
	o, err := c.Granted(t.Context(), visit, "")
	made := c.services.(*services)
	if err != nil || made.token != "rt-1" || o.Connection != made.made.ID || o.RedirectURI != "https://app.example/done?x=1" {
		t.Fatal(o, err)
	}
	if kept, _ := c.Store.SignInByVisit(t.Context(), feedmill.HashToken(visit)); strings.Contains(string(kept.Secrets), "rt-1") {
		t.Error("what was granted is kept besides the connection")
	}
	if err := c.Cancel(t.Context(), o); err != nil || !made.deleted {
		t.Fatal(err)
	}
	_, err = c.Granted(t.Context(), visit, "")
	wantType(t, err, "sign-in-over")
	if err := c.Revoke(t.Context(), "crm", "rt-1"); err != nil || len(p.revoked) != 1 {
		t.Error(p.revoked, err)
	}
}

// TestFailedRegrantIsRevoked signs in again for connections that are deleted in the meantime.
// What was granted is given back to the provider.
func TestFailedRegrantIsRevoked(t *testing.T) {
	p := newProvider(t)
	c, ws := newConnect(t, p)
	for n := range 2 {
		token := offered(t, c, ws)
		_, err := c.Store.ChangeSignIn(t.Context(), feedmill.HashToken(token), func(in *feedmill.SignIn) error {
			in.Connection = feedmill.NewID(feedmill.PrefixConnection)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		visit, to, err := c.Begin(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Return(t.Context(), visit, p.consent(t, to)); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("the sign-in ends with %v", err)
		}
		if len(p.revoked) != n+1 {
			t.Errorf("%q were revoked, want %d", p.revoked, n+1)
		}
	}
}

func TestOffersThatAreRefused(t *testing.T) {
	c, ws := newConnect(t, newProvider(t))
	_, err := c.Offer(t.Context(), ws, "plain", "")
	wantType(t, err, "no-personal-service")
	_, err = c.Offer(t.Context(), ws, "unconfigured", "")
	wantType(t, err, "service-not-configured")
	if _, err := c.Offer(t.Context(), ws, "nothing", ""); !errors.Is(err, feedmill.ErrInvalid) {
		t.Error(err)
	}
	for _, redirect := range []string{
		"https://evil.example/", "https://app.example.evil.example/", "https://app.example@evil.example/", "//app.example/", "/ui/", "javascript:alert(1)", "https://app.example\\@evil.example",
		"http://app.example/", "https://app.example:444/", "https://app.example/#x", "https://user:x@app.example/",
	} {
		if _, err := c.Offer(t.Context(), ws, "crm", redirect); !errors.Is(err, feedmill.ErrInvalid) {
			t.Errorf("%s is let through: %v", redirect, err)
		}
	}
}

// TestAttacksOnASignIn has others and the provider do what they should not.
func TestAttacksOnASignIn(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(p *provider, a *feedmill.SignInAnswer)
	}{
		{"another state", func(_ *provider, a *feedmill.SignInAnswer) { a.State, _ = feedmill.NewToken() }},
		{"no state", func(_ *provider, a *feedmill.SignInAnswer) { a.State = "" }},
		{"a code that was given to somebody else", func(p *provider, a *feedmill.SignInAnswer) {
			a.Code = "stolen"
			p.codes["stolen"] = url.Values{"redirect_uri": {"https://feeds.example/ui/connect/callback/crm"}, "code_challenge": {challenge("another verifier")}}
		}},
		{"no code", func(_ *provider, a *feedmill.SignInAnswer) { a.Code = "" }},
		{"consent denied", func(_ *provider, a *feedmill.SignInAnswer) { a.Code, a.Error = "", "access_denied" }},
		{"an error of the provider", func(_ *provider, a *feedmill.SignInAnswer) { a.Code, a.Error = "", "server_error<script>" }},
		{"an answer of another provider", func(_ *provider, a *feedmill.SignInAnswer) { a.Issuer = "https://other.example" }},
		{"an answer at the address of another provider", func(_ *provider, a *feedmill.SignInAnswer) { a.Service = "other" }},
		{"an ID token of another sign-in", func(p *provider, _ *feedmill.SignInAnswer) {
			p.answer = func(said map[string]any) {
				said["id_token"] = "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"nonce":"x"}`)) + ".s"
			}
		}},
		{"no refresh token", func(p *provider, _ *feedmill.SignInAnswer) {
			p.answer = func(said map[string]any) { delete(said, "refresh_token") }
		}},
		{"the token endpoint is down", func(p *provider, _ *feedmill.SignInAnswer) { p.status = http.StatusServiceUnavailable }},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProvider(t)
			c, ws := newConnect(t, p)
			visit, to, err := c.Begin(t.Context(), offered(t, c, ws))
			if err != nil {
				t.Fatal(err)
			}
			a := p.consent(t, to)
			test.spoil(p, &a)
			_, err = c.Return(t.Context(), visit, a)
			wantType(t, err, "sign-in-refused")
			if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b") {
				t.Errorf("%q", err)
			}
			if _, err := c.Granted(t.Context(), visit, ""); err == nil || c.services.(*services).token != "" {
				t.Error("it is granted all the same")
			}
		})
	}
	t.Run("another browser", func(t *testing.T) {
		p := newProvider(t)
		c, ws := newConnect(t, p)
		_, to, err := c.Begin(t.Context(), offered(t, c, ws))
		if err != nil {
			t.Fatal(err)
		}
		mine, _, err := c.Begin(t.Context(), offered(t, c, ws))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Return(t.Context(), mine, p.consent(t, to))
		wantType(t, err, "sign-in-refused")
		if _, err := c.Return(t.Context(), "guessed", p.consent(t, to)); !errors.Is(err, feedmill.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestLinksEnd lets time pass.
func TestLinksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ws := newConnect(t, &provider{Server: &httptest.Server{URL: "https://provider.example"}})
		token, later := offered(t, c, ws), offered(t, c, ws)
		visit, _, err := c.Begin(t.Context(), later)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(feedmill.SignInOffer)
		_, _, err = c.Begin(t.Context(), token)
		wantType(t, err, "link-expired")
		time.Sleep(feedmill.SignInVisit)
		_, err = c.Return(t.Context(), visit, feedmill.SignInAnswer{State: "x"})
		wantType(t, err, "link-expired")
	})
}

// Package connecttest has a provider for tests: an authorization server that keeps to
// RFC 6749, 7636, 7009, 9207 and OpenID Connect, with the API that it guards.
package connecttest

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The client that is registered at the provider.
const (
	ClientID     = "our-client"
	ClientSecret = "s3cret-of-our-client"
)

// Provider is the provider. Its fields may be changed under Lock.
type Provider struct {
	*httptest.Server
	sync.Mutex
	codes  map[string]url.Values
	access map[string]bool
	// Refresh are the refresh tokens that are good. Each is good once.
	Refresh map[string]bool
	revoked []string
	// Reused are those that were sent again after their end, and Renewed counts those
	// that were exchanged.
	Reused  []string
	Renewed int
	// Hold, where it is there, is what the API waits for before it answers, and Asked is
	// told then that it has been asked.
	Hold, Asked chan struct{}
	// Down has the token endpoint answer 503, and Gone refuse every grant.
	Down, Gone bool
	// Claims are put into ID tokens in place of the usual ones; nil takes one away.
	Claims map[string]any
	// Signer signs ID tokens. Its public half was published when the provider began.
	Signer    *ecdsa.PrivateKey
	published ecdsa.PublicKey
	// Exchanges counts what was asked of the token endpoint.
	Exchanges int
}

// New starts a provider.
func New() *Provider {
	p := &Provider{codes: map[string]url.Values{}, access: map[string]bool{}, Refresh: map[string]bool{}}
	p.Signer = NewSigner()
	p.published = p.Signer.PublicKey
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.configuration)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /authorize", p.decide)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", p.revoke)
	mux.HandleFunc("GET /api/{team}/contacts", p.contacts)
	p.Server = httptest.NewServer(mux)
	return p
}

// Manifest is that of the service.
func (p *Provider) Manifest(service string) string {
	return `service: ` + service + `
title: Ledgerly
baseUrl: ` + p.URL + `/api/{{config.team}}
config:
  team: {title: Team, description: "The name of your team, such as north."}
auth:
  kind: oauth2AuthorizationCode
  authorizeUrl: ` + p.URL + `/authorize
  tokenUrl: ` + p.URL + `/token
  revokeUrl: ` + p.URL + `/revoke
  issuer: ` + p.URL + `
  scopes: [contacts.read, offline_access]
response: {path: "$.contacts[*]"}
pagination: {kind: cursor, path: $.next, param: after}
views:
  contacts:
    title: Contacts
    description: People and companies.
    request: {path: contacts}
    key: [id]
    incremental: {field: since}
    fields:
      id: {type: integer}
      name: {}
      email: {}
      city: {filters: {eq: {param: city}}}
      since: {type: date}
`
}

func (p *Provider) new(into map[string]bool) string {
	token := rand.Text()
	into[token] = true
	return token
}

// authorize shows the page on which somebody allows the access.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != ClientID || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "The request lacks PKCE, a state or a nonce, or the client is not known.", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Sign in</title><link rel="icon" href="data:,"><h1>Allow access?</h1><form method="post" action="/authorize?%s"><button id="allow" name="answer" value="yes">Allow</button><button id="deny" name="answer" value="no">Deny</button></form>`,
		html.EscapeString(r.URL.RawQuery))
}

// decide sends the browser back with a code, or with the refusal.
func (p *Provider) decide(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	u, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, "no redirect_uri", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {p.URL}}
	if r.PostFormValue("answer") == "yes" {
		back.Set("code", p.Code(q))
	} else {
		back.Set("error", "access_denied")
	}
	u.RawQuery = back.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound)
}

// Code gives out a code for what the authorization was asked with.
func (p *Provider) Code(asked url.Values) string {
	p.Lock()
	defer p.Unlock()
	code := rand.Text()
	p.codes[code] = asked
	return code
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	p.Exchanges++
	w.Header().Set("Content-Type", "application/json")
	refuse := func(status int, why string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q}`, why)
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	said := map[string]any{"token_type": "Bearer", "expires_in": 3600}
	switch {
	case p.Down:
		refuse(http.StatusServiceUnavailable, "temporarily_unavailable")
		return
	case id != ClientID || secret != ClientSecret:
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	case p.Gone:
		refuse(http.StatusBadRequest, "invalid_grant")
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		asked, ok := p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !ok || asked.Get("redirect_uri") != r.PostFormValue("redirect_uri") || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		said["id_token"] = p.idToken(asked.Get("nonce"))
	case "refresh_token":
		old := r.PostFormValue("refresh_token")
		if !p.Refresh[old] {
			// Whoever sends a token again may have stolen it: the whole grant ends.
			p.Reused = append(p.Reused, old)
			clear(p.Refresh)
			clear(p.access)
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		delete(p.Refresh, old)
		p.Renewed++
	default:
		refuse(http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	said["access_token"], said["refresh_token"] = p.new(p.access), p.new(p.Refresh)
	_ = json.NewEncoder(w).Encode(said)
}

func (p *Provider) revoke(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	p.revoked = append(p.revoked, r.PostFormValue("token"))
	delete(p.Refresh, r.PostFormValue("token"))
}

// Forget has the provider refuse all access tokens that it has given out.
func (p *Provider) Forget() {
	p.Lock()
	defer p.Unlock()
	clear(p.access)
}

// Good are the refresh tokens that are good.
func (p *Provider) Good() (all []string) {
	p.Lock()
	defer p.Unlock()
	for token := range p.Refresh {
		all = append(all, token)
	}
	slices.Sort(all)
	return all
}

// GivenBack are the refresh tokens that were given back.
func (p *Provider) GivenBack() []string {
	p.Lock()
	defer p.Unlock()
	return slices.Clone(p.revoked)
}

// contacts is the API: seven contacts, three to a page.
func (p *Provider) contacts(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	good := p.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if hold, asked := p.Hold, p.Asked; hold != nil && good {
		p.Unlock()
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		p.Lock()
	}
	w.Header().Set("Content-Type", "application/json")
	if !good {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"expired"}`)
		return
	}
	const all, page = 7, 3
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	city := r.URL.Query().Get("city")
	said := map[string]any{"next": nil}
	contacts := []map[string]any{}
	for i := after + 1; i <= min(after+page, all); i++ {
		c := map[string]any{"id": i, "name": fmt.Sprint("Contact ", i), "email": fmt.Sprintf("c%d@example.com", i), "city": []string{"Oslo", "Bergen"}[i%2], "since": fmt.Sprintf("2026-01-%02d", i)}
		if city == "" || c["city"] == city {
			contacts = append(contacts, c)
		}
	}
	if after+page < all {
		said["next"] = after + page
	}
	said["contacts"] = contacts
	_ = json.NewEncoder(w).Encode(said)
}

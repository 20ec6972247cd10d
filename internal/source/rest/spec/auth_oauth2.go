package spec

import (
	"net/url"
	"slices"
	"strings"
)

// Where a client of OAuth sends its secrets.
const (
	placementBasic = "basic"
	PlacementBody  = "body"
)

// TokenEndpoint is where tokens are asked for.
type TokenEndpoint struct {
	URL   *url.URL
	Scope string
}

func (e *TokenEndpoint) places() []NamedURL {
	if e.URL == nil {
		return []NamedURL{{"/auth/tokenUrl", nil}}
	}
	return []NamedURL{{"/auth/tokenUrl", origin(e.URL)}}
}

// fingerprintEndpoint adds what distinguishes endpoints.
func (e *TokenEndpoint) fingerprintEndpoint(add func(...string)) {
	if add(e.Scope); e.URL != nil {
		add(e.URL.String())
	}
}

// readTokenURL reads where tokens are asked for.
func (o *object) readTokenURL() (e TokenEndpoint) {
	if text := o.needText("tokenUrl"); text != "" {
		t, _, err := parseURL(text)
		u, _ := url.Parse(text)
		switch {
		case err != nil:
			o.unreadable("tokenUrl", UpperFirst(err.Error())+".")
		case !t.plain() || u == nil:
			o.Fault("tokenUrl", "url cannot contain tokens.")
		case slices.ContainsFunc(queryNames(u), looksSecret):
			o.Fault("tokenUrl", "The query of the URL must not contain a secret. Use clientSecret.")
		default:
			e.URL = u
		}
	}
	e.Scope, _ = o.text("scope")
	return e
}

func queryNames(u *url.URL) (names []string) {
	for name := range u.Query() {
		names = append(names, name)
	}
	return names
}

// OAuthClient is a client that is given tokens. One that is known to everybody has no secret.
// Without a placement, what the source takes is found out.
type OAuthClient struct {
	TokenEndpoint
	ID, Secret, Placement string
}

func (c *OAuthClient) hide(m *Mask) { m.Add(c.Secret, joined(c.ID, c.Secret)) }

// ClientCredentials is a client that is given tokens for its secret.
type ClientCredentials struct {
	OAuthClient
	Audience   string
	Parameters []Param
}

func readClientCredentials(o *object) Auth {
	a := &ClientCredentials{OAuthClient: OAuthClient{TokenEndpoint: o.readTokenURL(), ID: o.needText("clientId"), Secret: o.needText("clientSecret")}}
	o.secret("clientSecret")
	o.readTokenParameters(a)
	return a
}

// readTokenParameters reads what the request for a token has besides the secrets of the client.
func (o *object) readTokenParameters(a *ClientCredentials) {
	a.Audience, _ = o.text("audience")
	a.Placement = o.choice("placement", "", placementBasic, PlacementBody)
	a.Parameters = o.params("parameters", func(name string) string {
		if slices.Contains([]string{"grant_type", "client_id", "client_secret", "scope", "audience"}, strings.ToLower(name)) {
			return name + " is not a parameter of its own: clientId, clientSecret, scope and audience of auth are sent by these names."
		}
		return ""
	})
	for _, p := range a.Parameters {
		if slices.ContainsFunc(p.Values, func(t Template) bool { return !t.plain() }) {
			o.Fault("parameters", "The parameters of a token request must not have tokens such as {{today}}.")
		}
	}
}

func (a *ClientCredentials) fingerprint(add func(...string)) {
	add("oauth2ClientCredentials", a.ID, a.Secret, a.Audience, a.Placement)
	a.fingerprintEndpoint(add)
	fingerprintParams(add, a.Parameters)
}

func (a *ClientCredentials) hide(m *Mask) {
	a.OAuthClient.hide(m)
	for _, p := range a.Parameters {
		if p.secret {
			m.addTemplates(p.Values)
		}
	}
}

// RefreshToken is a client that is given tokens for one that it was given when somebody signed
// in.
type RefreshToken struct {
	OAuthClient
	Value string
}

func readRenewal(o *object) Auth {
	a := &RefreshToken{OAuthClient: OAuthClient{TokenEndpoint: o.readTokenURL(), ID: o.needText("clientId")}}
	if a.Secret, _ = o.text("clientSecret"); o.Has("clientSecret") {
		o.secret("clientSecret")
	}
	a.Value = o.needText("refreshToken")
	o.secret("refreshToken")
	return a
}

// fingerprint leaves the token out: it changes, and the credential stays the same.
func (a *RefreshToken) fingerprint(add func(...string)) {
	add("oauth2RefreshToken", a.ID, a.Secret)
	a.fingerprintEndpoint(add)
}

func (a *RefreshToken) hide(m *Mask) {
	a.OAuthClient.hide(m)
	m.Add(a.Value)
}

package rest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// Where a client of OAuth sends its secrets.
const (
	placementBasic = "basic"
	placementBody  = "body"
)

// tokenEndpoint is where tokens are asked for.
type tokenEndpoint struct {
	url   *url.URL
	scope string
}

func (e *tokenEndpoint) places() []NamedURL {
	if e.url == nil {
		return []NamedURL{{"/auth/tokenUrl", nil}}
	}
	return []NamedURL{{"/auth/tokenUrl", origin(e.url)}}
}

// tellEndpoint adds what tells endpoints apart.
func (e *tokenEndpoint) tellEndpoint(add func(...string)) {
	if add(e.scope); e.url != nil {
		add(e.url.String())
	}
}

// readTokenURL reads where tokens are asked for.
func (o *object) readTokenURL() (e tokenEndpoint) {
	if text := o.needText("tokenUrl"); text != "" {
		t, _, err := parseURL(text)
		u, _ := url.Parse(text)
		switch {
		case err != nil:
			o.unreadable("tokenUrl", upperFirst(err.Error())+".")
		case !t.plain() || u == nil:
			o.Fault("tokenUrl", "url cannot contain tokens.")
		case slices.ContainsFunc(queryNames(u), looksSecret):
			o.Fault("tokenUrl", "The query of the URL must not contain a secret. Use clientSecret.")
		default:
			e.url = u
		}
	}
	e.scope, _ = o.text("scope")
	return e
}

func queryNames(u *url.URL) (names []string) {
	for name := range u.Query() {
		names = append(names, name)
	}
	return names
}

// oauthClient is a client that is given tokens. One that is known to everybody has no secret.
// Without a placement, what the source takes is found out.
type oauthClient struct {
	tokenEndpoint
	id, secret, placement string
}

func (c *oauthClient) hide(m *mask) { m.add(c.secret, joined(c.id, c.secret)) }

// askClientToken asks for a token with the secrets of a client. They are sent in
// the header, as the standard wants it, and where that is refused in the body.
func (r *run) askClientToken(ctx context.Context, c *oauthClient, slot *tokenSlot, traced *[]feedmill.TracedRequest, grant url.Values) (receivedToken, error) {
	public := c.secret == ""
	if c.placement != "" {
		slot.inBody = c.placement == placementBody
	}
	ask := func() ([]value, error) {
		build := func(ctx context.Context) (*http.Request, error) {
			form := maps.Clone(grant)
			if c.scope != "" {
				form.Set("scope", c.scope)
			}
			if slot.inBody || public {
				form.Set("client_id", c.id)
			}
			if slot.inBody && !public {
				form.Set("client_secret", c.secret)
			}
			request, err := newRequest(ctx, http.MethodPost, c.url, form.Encode(), "application/x-www-form-urlencoded")
			if err == nil && !slot.inBody && !public {
				request.SetBasicAuth(url.QueryEscape(c.id), url.QueryEscape(c.secret))
			}
			return request, err
		}
		return r.askToken(ctx, build, r.spec.request.timeout, traced, nil, accessTokenPath, expiresInPath, refreshTokenPath)
	}
	found, err := ask()
	if errors.Is(err, ErrAuth) && !public && !errors.Is(err, errGrant) && c.placement == "" {
		slot.inBody = !slot.inBody
		if found, err = ask(); err != nil {
			slot.inBody = !slot.inBody
		}
	}
	if err != nil {
		return receivedToken{}, err
	}
	t, err := r.received(found[0], found[1])
	t.rotated, _ = found[2].text()
	return t, err
}

// clientCredentials is a client that is given tokens for its secret.
type clientCredentials struct {
	oauthClient
	audience   string
	parameters []param
}

func readClientCredentials(o *object) auth {
	a := &clientCredentials{oauthClient: oauthClient{tokenEndpoint: o.readTokenURL(), id: o.needText("clientId"), secret: o.needText("clientSecret")}}
	o.secret("clientSecret")
	o.readTokenParameters(a)
	return a
}

// readTokenParameters reads what the request for a token has besides the secrets of the client.
func (o *object) readTokenParameters(a *clientCredentials) {
	a.audience, _ = o.text("audience")
	a.placement = o.choice("placement", "", placementBasic, placementBody)
	a.parameters = o.params("parameters", func(name string) string {
		if slices.Contains([]string{"grant_type", "client_id", "client_secret", "scope", "audience"}, strings.ToLower(name)) {
			return name + " is not a parameter of its own: clientId, clientSecret, scope and audience of auth are sent by these names."
		}
		return ""
	})
	for _, p := range a.parameters {
		if slices.ContainsFunc(p.values, func(t template) bool { return !t.plain() }) {
			o.Fault("parameters", "The parameters of a token request must not have tokens such as {{today}}.")
		}
	}
}

type clientSigner struct {
	tokenSigner
	*clientCredentials
}

func (a clientSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	grant := url.Values{"grant_type": {"client_credentials"}}
	if a.audience != "" {
		grant.Set("audience", a.audience)
	}
	for _, p := range a.parameters {
		for _, v := range p.values {
			grant.Add(p.name, v.text)
		}
	}
	return func(ctx context.Context, slot *tokenSlot) (receivedToken, error) {
		return r.askClientToken(ctx, &a.oauthClient, slot, traced, grant)
	}
}

func (a *clientCredentials) tell(add func(...string)) {
	add("oauth2ClientCredentials", a.id, a.secret, a.audience, a.placement)
	a.tellEndpoint(add)
	tellParams(add, a.parameters)
}

func (a *clientCredentials) hide(m *mask) {
	a.oauthClient.hide(m)
	for _, p := range a.parameters {
		if p.secret {
			m.addTemplates(p.values)
		}
	}
}

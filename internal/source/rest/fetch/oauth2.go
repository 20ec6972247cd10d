package fetch

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// askClientToken asks for a token with the secrets of a client. They are sent in
// the header, as the standard wants it, and where that is refused in the body.
func (r *run) askClientToken(ctx context.Context, c *spec.OAuthClient, slot *tokenSlot, traced *[]feedmill.TracedRequest, grant url.Values) (receivedToken, error) {
	public := c.Secret == ""
	if c.Placement != "" {
		slot.inBody = c.Placement == spec.PlacementBody
	}
	ask := func() ([]find.Value, error) {
		build := func(ctx context.Context) (*http.Request, error) {
			form := maps.Clone(grant)
			if c.Scope != "" {
				form.Set("scope", c.Scope)
			}
			if slot.inBody || public {
				form.Set("client_id", c.ID)
			}
			if slot.inBody && !public {
				form.Set("client_secret", c.Secret)
			}
			request, err := newRequest(ctx, http.MethodPost, c.URL, form.Encode(), "application/x-www-form-urlencoded")
			if err == nil && !slot.inBody && !public {
				request.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
			}
			return request, err
		}
		return r.askToken(ctx, build, r.spec.Request.Timeout, traced, nil, accessTokenPath, expiresInPath, refreshTokenPath)
	}
	found, err := ask()
	if errors.Is(err, spec.ErrAuth) && !public && !errors.Is(err, errGrant) && c.Placement == "" {
		slot.inBody = !slot.inBody
		if found, err = ask(); err != nil {
			slot.inBody = !slot.inBody
		}
	}
	if err != nil {
		return receivedToken{}, err
	}
	t, err := r.received(found[0], found[1])
	t.rotated, _ = found[2].Text()
	return t, err
}

type clientSigner struct {
	tokenSigner
	*spec.ClientCredentials
}

func (a clientSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	grant := url.Values{"grant_type": {"client_credentials"}}
	if a.Audience != "" {
		grant.Set("audience", a.Audience)
	}
	for _, p := range a.Parameters {
		for _, v := range p.Values {
			grant.Add(p.Name, v.Text)
		}
	}
	return func(ctx context.Context, slot *tokenSlot) (receivedToken, error) {
		return r.askClientToken(ctx, &a.OAuthClient, slot, traced, grant)
	}
}

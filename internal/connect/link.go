package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// Options are the parts that links stand on.
type Options struct {
	Store Store
	Vault Vault
	// Provider returns the provider and the title of a service. The provider is nil if
	// nobody has to sign in; known is false for an unknown service.
	Provider func(service string) (provider *feedmill.Provider, title string, known bool)
	// Clients are those of the services that the operator has configured.
	Clients map[string]feedmill.OAuthClient
	// PublicURL is what links begin with. Where it is empty they begin with Address, the URL
	// that the server listens at, if a browser can open that.
	PublicURL, Address string
	// Redirects are the origins that browsers may be sent to in the end.
	Redirects []string
	// HTTP makes requests by the egress policy.
	HTTP *http.Client
}

// Links creates links with which people connect services, and gives grants back to their
// providers. It knows nothing of what becomes of a grant.
type Links struct{ Options }

// NewLinks returns the links of the configured services.
func NewLinks(o Options) *Links {
	if u, err := url.Parse(o.Address); o.PublicURL == "" && err == nil && !net.ParseIP(u.Hostname()).IsUnspecified() {
		o.PublicURL = o.Address
	}
	return &Links{o}
}

// Offer makes a link that connects a service to a workspace. With the name of a personal
// connection, the link connects that one again.
func (l *Links) Offer(ctx context.Context, workspace feedmill.ID, name, redirect string) (feedmill.SignInLink, error) {
	service, connection := name, feedmill.ID("")
	of, err := l.Store.ConnectionOf(ctx, workspace, name)
	switch {
	case err == nil:
		service, connection = of.Connector, of.ID
	case !errors.Is(err, feedmill.ErrNotFound):
		return feedmill.SignInLink{}, err
	}
	provider, title, known := l.Provider(service)
	switch {
	case !known && connection == "" && name != feedmill.ServiceFeeds:
		return feedmill.SignInLink{}, feedmill.Invalid("", feedmill.Fault{Parameter: "serviceName", Detail: "The service is unknown. GET /query_builder/services lists all services."})
	case provider == nil:
		return feedmill.SignInLink{}, conflict("no-personal-service", "The service "+name+" does not require a personal sign-in. Create a connection if it needs one, then create the feed with POST /data_feeds.")
	case l.PublicURL == "":
		return feedmill.SignInLink{}, conflict("service-not-configured", "The operator has not configured "+title+": set publicUrl, the address that users return to after the sign-in.")
	}
	if _, ok := l.Clients[service]; !ok {
		return feedmill.SignInLink{}, conflict("service-not-configured", "The operator has not configured "+title+": add an entry to serviceClients with the client's ID and secret.")
	}
	if err := l.checkRedirect(redirect); err != nil {
		return feedmill.SignInLink{}, err
	}
	token, hash := feedmill.NewToken()
	in := feedmill.SignIn{
		Link: hash, Workspace: workspace, Service: service, Connection: connection, RedirectURI: redirect,
		State: feedmill.SignInOffered, CreatedAt: now(), ExpiresAt: now().Add(feedmill.SignInOffer),
	}
	if err := l.Store.CreateSignIn(ctx, in); err != nil {
		return feedmill.SignInLink{}, err
	}
	return feedmill.SignInLink{Service: name, URL: strings.TrimSuffix(l.PublicURL, "/") + LinkPath + token, ExpiresAt: in.ExpiresAt}, nil
}

// checkRedirect lets browsers go to allowed origins only.
func (l *Links) checkRedirect(text string) error {
	if text == "" {
		return nil
	}
	refuse := func(detail string) error {
		return feedmill.Invalid("", feedmill.Fault{Parameter: "redirectUri", Detail: detail})
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" || len(text) > 2048 || strings.ContainsAny(text, "\\\r\n\t "):
		return refuse("redirectUri must be an absolute URL of at most 2,048 bytes, without user info and fragment.")
	case !slices.Contains(l.Redirects, u.Scheme+"://"+u.Host):
		return refuse("The operator does not allow redirects to this origin. Add it to connectRedirects.")
	}
	return nil
}

// callback is where the provider of a service sends people back to. Each service has
// an address of its own, so that the answer of one provider is never taken for that of
// another (RFC 9207 is what some providers have for this, and not all).
func (l *Links) callback(service string) string {
	return strings.TrimSuffix(l.PublicURL, "/") + CallbackPath + service
}

// provider is where a service is signed in to, with the operator's client.
func (l *Links) provider(service string) (*feedmill.Provider, feedmill.OAuthClient, error) {
	provider, _, _ := l.Provider(service)
	client, ok := l.Clients[service]
	if provider == nil || !ok {
		return nil, feedmill.OAuthClient{}, conflict("service-not-configured", "The service "+service+" is no longer configured. Ask the operator.")
	}
	return provider, client, nil
}

// Revoke gives a grant back, where the provider takes it.
func (l *Links) Revoke(ctx context.Context, service, refreshToken string) error {
	provider, client, err := l.provider(service)
	if err != nil || provider.RevokeURL == "" {
		return err
	}
	form := url.Values{"token": {refreshToken}, "token_type_hint": {"refresh_token"}, "client_id": {client.ID}, "client_secret": {client.Secret}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, provider.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := l.HTTP.Do(r)
	if err != nil {
		return errors.New("the provider cannot be reached")
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the provider returned %d", resp.StatusCode)
	}
	return nil
}

// Package connect says what it means that a person connects a service: a link that
// is good once, the sign-in at the provider by authorization code, and what the
// provider granted. The link is the credential; whoever has used it holds a visit,
// which no link and no other browser gets at.
package connect

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is what is needed of the store.
type Store interface {
	CreateSignIn(context.Context, feedmill.SignIn) error
	SignInByLink(ctx context.Context, link []byte) (feedmill.SignIn, error)
	SignInByVisit(ctx context.Context, visit []byte) (feedmill.SignIn, error)
	GrantedSignIns(ctx context.Context, before time.Time, limit int) ([]feedmill.SignIn, error)
	ChangeSignIn(ctx context.Context, link []byte, change func(*feedmill.SignIn) error) (feedmill.SignIn, error)
	ConnectionOf(ctx context.Context, workspace feedmill.ID, service string) (feedmill.Connection, error)
	WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error)
}

// Vault seals what must not stand in the store as plain text.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Services are the connections that are made of grants, and what there is behind
// them.
type Services interface {
	Grant(ctx context.Context, workspace feedmill.ID, service, token string) (feedmill.Connection, error)
	Regrant(ctx context.Context, workspace, id feedmill.ID, token string) error
	Configure(ctx context.Context, workspace, id feedmill.ID, settings map[string]string) (feedmill.Connection, error)
	Asked(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, []feedmill.ConnectorSetting, feedmill.ConnectionConfig, error)
	Delete(ctx context.Context, workspace, id feedmill.ID) error
	Views(ctx context.Context, workspace feedmill.ID, service string, anew bool) ([]feedmill.ServiceView, error)
	Fields(ctx context.Context, workspace feedmill.ID, service, view string, anew bool) ([]feedmill.ServiceField, error)
	// Chosen is the definition of the feed that a person chose.
	Chosen(o feedmill.SignInOffering, choice feedmill.SignInChoice) (feedmill.FetchedFeed, error)
}

// Feeds makes feeds.
type Feeds interface {
	PreviewFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed) (feedmill.FeedPreview, error)
	CreateFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed, respond feedmill.FeedResponse) (feedmill.Feed, error)
	// Reconnected has the feeds of a connection tried again whose credential was refused.
	Reconnected(ctx context.Context, workspace, connection feedmill.ID) error
}

// Connect signs people in, and makes connections and feeds of what they grant.
type Connect struct {
	*Links
	services Services
	feeds    Feeds
}

// New makes a Connect.
func New(l *Links, s Services, f Feeds) *Connect { return &Connect{l, s, f} }

// LinkPath and CallbackPath are where the pages are.
const (
	LinkPath     = "/ui/connect/"
	CallbackPath = "/ui/connect/callback/"
)

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func conflict(kind, detail string) error {
	return &feedmill.Error{Kind: feedmill.ErrConflict, Type: kind, Detail: detail}
}

// Offered is what the holder of a link is asked for that has not been used.
func (c *Connect) Offered(ctx context.Context, token string) (feedmill.SignInAsk, error) {
	in, err := c.Store.SignInByLink(ctx, feedmill.HashToken(token))
	if err == nil {
		err = checkOffered(in)
	}
	if err != nil {
		return feedmill.SignInAsk{}, err
	}
	return c.ask(ctx, in)
}

// ask says what a sign-in is for.
func (c *Connect) ask(ctx context.Context, in feedmill.SignIn) (feedmill.SignInAsk, error) {
	provider, _, err := c.provider(in.Service)
	if err != nil {
		return feedmill.SignInAsk{}, err
	}
	w, err := c.Store.WorkspaceByID(ctx, in.Workspace)
	if err != nil {
		return feedmill.SignInAsk{}, err
	}
	_, title, _ := c.Provider(in.Service)
	return feedmill.SignInAsk{SignIn: in, Title: title, WorkspaceName: w.Name, Scopes: provider.Scopes, Authorize: provider.AuthorizeURL}, nil
}

func checkOffered(in feedmill.SignIn) error {
	switch {
	case in.State != feedmill.SignInOffered:
		return conflict("link-used", "The link was already used. Each link works only once; request a new one.")
	case !now().Before(in.ExpiresAt):
		return conflict("link-expired", "The link has expired. Links are valid for 15 minutes; request a new one.")
	}
	return nil
}

// held is what the provider is held to.
type held struct {
	State    string `json:"state,omitempty"`
	Verifier string `json:"verifier,omitempty"`
	Nonce    string `json:"nonce,omitempty"`
}

// Begin uses a link up. It returns what the browser holds from now on, and where at
// the provider it goes.
func (c *Connect) Begin(ctx context.Context, token string) (visit string, to string, err error) {
	visit, visitHash := feedmill.NewToken()
	h := held{}
	h.State, _ = feedmill.NewToken()
	h.Verifier, _ = feedmill.NewToken()
	h.Nonce, _ = feedmill.NewToken()
	in, err := c.Store.ChangeSignIn(ctx, feedmill.HashToken(token), func(in *feedmill.SignIn) error {
		if err := checkOffered(*in); err != nil {
			return err
		}
		in.State, in.Visit, in.ExpiresAt = feedmill.SignInBegun, visitHash, now().Add(feedmill.SignInVisit)
		return c.seal(in, h)
	})
	if err != nil {
		return "", "", err
	}
	provider, client, err := c.provider(in.Service)
	if err != nil {
		return "", "", err
	}
	u, err := url.Parse(provider.AuthorizeURL)
	if err != nil {
		return "", "", fmt.Errorf("reading the authorization of %s: %w", in.Service, err)
	}
	q := u.Query()
	for name, value := range provider.Parameters {
		q.Set(name, value)
	}
	for name, value := range map[string]string{
		"response_type": "code", "client_id": client.ID, "redirect_uri": c.callback(in.Service), "scope": strings.Join(provider.Scopes, " "),
		"state": h.State, "nonce": h.Nonce, "code_challenge": challenge(h.Verifier), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return visit, u.String(), nil
}

func (c *Connect) seal(in *feedmill.SignIn, h held) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	in.Secrets, err = c.Vault.Seal(text, in.Record())
	return err
}

func (c *Connect) unseal(ctx context.Context, in feedmill.SignIn) (h held, err error) {
	text, err := c.Vault.Unseal(ctx, in.Secrets, in.Record())
	if err != nil {
		return held{}, err
	}
	return h, json.Unmarshal(text, &h)
}

// visited is the sign-in of a browser, which must be in a state.
func (c *Connect) visited(ctx context.Context, visit string, state feedmill.SignInState) (feedmill.SignIn, held, error) {
	in, err := c.Store.SignInByVisit(ctx, feedmill.HashToken(visit))
	if err != nil {
		return feedmill.SignIn{}, held{}, err
	}
	if err := checkVisited(in, state); err != nil {
		return in, held{}, err
	}
	h, err := c.unseal(ctx, in)
	return in, h, err
}

func checkVisited(in feedmill.SignIn, state feedmill.SignInState) error {
	switch {
	case !now().Before(in.ExpiresAt):
		return conflict("link-expired", "The sign-in took longer than 30 minutes, so the granted access was discarded. Request a new link.")
	case in.State != state:
		return conflict("sign-in-over", "The sign-in is already complete. Request a new link to connect the service again.")
	}
	return nil
}

// same compares what must not be found out letter by letter.
func same(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

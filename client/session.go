package client

import (
	"context"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
)

// Me is who makes the requests.
type Me struct {
	// Key is the id of an API key, or Subject who a token is for.
	Key           string           `json:"key,omitzero"`
	Subject       string           `json:"subject,omitzero"`
	Name          string           `json:"name"`
	Scopes        []feedmill.Scope `json:"scopes"`
	Workspace     Workspace        `json:"workspace"`
	AllWorkspaces bool             `json:"allWorkspaces"`
	// Session is nil where the client has a credential of its own.
	Session *Session `json:"session"`
}

// Session is when a session ends: at all events, and without a further request.
type Session struct {
	ExpiresAt time.Time `json:"expiresAt"`
	IdleUntil time.Time `json:"idleUntil"`
}

// SignIn says what a session is made of: a key, or a link that the first start of
// a server printed.
type SignIn struct {
	Key  string `json:"key,omitzero"`
	Link string `json:"link,omitzero"`
}

// SignIn makes a session. Its token is a cookie: give the client's HTTP a jar, and
// the client no key, to work with it.
func (c *Client) SignIn(ctx context.Context, s SignIn) (Me, error) {
	return ask[Me](ctx, c, http.MethodPost, "/sessions", s, IdempotencyKey(""))
}

// SignOut ends the session.
func (c *Client) SignOut(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodDelete, "/sessions/current", nil, nil)
	return err
}

// MoveSession has the session work in another workspace.
func (c *Client) MoveSession(ctx context.Context, workspace string) (Me, error) {
	return ask[Me](ctx, c, http.MethodPatch, "/sessions/current", map[string]string{"workspaceId": workspace})
}

// Me says who the client is.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return ask[Me](ctx, c, http.MethodGet, "/me", nil)
}

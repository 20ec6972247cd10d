package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Key is an API key. Secret is there in the answer to its creation only.
type Key struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Scopes      []string  `json:"scopes"`
	WorkspaceID string    `json:"workspaceId"`
	CreatedAt   time.Time `json:"createdAt"`
	// LastUsedAt is zero for a key that was never used.
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`
	// ExpiresAt is zero for a key that does not end by itself, and RevokedAt for
	// one that is not revoked.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	Secret    string    `json:"key,omitzero"`
}

// NewKey describes a key to make. WorkspaceID is the caller's own by default,
// and a key without ExpiresAt is good until it is revoked.
type NewKey struct {
	Name        string    `json:"name"`
	Scopes      []string  `json:"scopes"`
	WorkspaceID string    `json:"workspaceId,omitzero"`
	ExpiresAt   time.Time `json:"expiresAt,omitzero"`
}

// KeyQuery picks keys. The zero value is those of the caller's workspace that
// are not revoked; only an admin of the workspace "default" names another one.
type KeyQuery struct {
	WorkspaceID string
	Revoked     bool
}

// CreateKey makes an API key.
func (c *Client) CreateKey(ctx context.Context, k NewKey, opts ...CallOption) (Key, error) {
	return ask[Key](ctx, c, http.MethodPost, "/keys", k, opts...)
}

// Key returns a key without its secret, revoked or not.
func (c *Client) Key(ctx context.Context, id string) (Key, error) {
	return ask[Key](ctx, c, http.MethodGet, "/keys/"+url.PathEscape(id), nil)
}

// Keys goes through the keys of the caller's workspace that are not revoked,
// newest first.
func (c *Client) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return list[Key](ctx, c, "/keys", nil)
}

// KeysOf is [Client.Keys] for those that a query picks.
func (c *Client) KeysOf(ctx context.Context, q KeyQuery) iter.Seq2[Key, error] {
	query := map[string]string{"workspaceId": q.WorkspaceID}
	if q.Revoked {
		query["revoked"] = "true"
	}
	return list[Key](ctx, c, "/keys", query)
}

// RevokeKey ends a key.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "/keys/"+url.PathEscape(id), nil, nil)
	return err
}

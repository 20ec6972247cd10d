package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Workspace is a tenant.
type Workspace struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
}

// CreateWorkspace makes a workspace.
func (c *Client) CreateWorkspace(ctx context.Context, name string, opts ...CallOption) (Workspace, error) {
	return ask[Workspace](ctx, c, http.MethodPost, "/workspaces", map[string]string{"name": name}, opts...)
}

// Workspace returns a workspace.
func (c *Client) Workspace(ctx context.Context, id string) (Workspace, error) {
	return ask[Workspace](ctx, c, http.MethodGet, "/workspaces/"+url.PathEscape(id), nil)
}

// Workspaces goes through the workspaces, newest first.
func (c *Client) Workspaces(ctx context.Context) iter.Seq2[Workspace, error] {
	return list[Workspace](ctx, c, "/workspaces", nil)
}

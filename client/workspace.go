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
	ID   string `json:"id"`
	Name string `json:"name"`
	// ExternalID is what the operator's own system calls the workspace; empty for none.
	ExternalID string          `json:"externalId,omitzero"`
	Metadata   map[string]any  `json:"metadata,omitzero"`
	Quotas     WorkspaceQuotas `json:"quotas,omitzero"`
	Usage      WorkspaceUsage  `json:"usage,omitzero"`
	CreatedAt  time.Time       `json:"createdAt"`
	// LastRequestAt is zero for a workspace without requests.
	LastRequestAt time.Time `json:"lastRequestAt,omitzero"`
	// Deleting is set while the server deletes the workspace.
	Deleting *WorkspaceDeletion `json:"deleting,omitzero"`
}

// WorkspaceQuotas limit a workspace. A limit that is nil is the server's default.
type WorkspaceQuotas struct {
	StoredBytes       *int64 `json:"storedBytes"`
	Subscriptions     *int   `json:"subscriptions"`
	ConcurrentUploads *int   `json:"concurrentUploads"`
	ConcurrentQueries *int   `json:"concurrentQueries"`
}

// WorkspaceUsage is what a workspace uses of its quotas, and how many events it published in
// the last 24 hours.
type WorkspaceUsage struct {
	StoredBytes       int64 `json:"storedBytes"`
	Feeds             int64 `json:"feeds"`
	Subscriptions     int64 `json:"subscriptions"`
	ConcurrentUploads int   `json:"concurrentUploads"`
	ConcurrentQueries int   `json:"concurrentQueries"`
	EventsPerDay      int64 `json:"eventsPerDay"`
}

// WorkspaceDeletion is the progress of a deletion in records and files. Total is zero until
// the server has counted them.
type WorkspaceDeletion struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// WorkspaceChange lists the members of a workspace to set: name, externalId, metadata and
// quotas. A member that is nil is removed; a quota that is nil becomes the server's default.
type WorkspaceChange map[string]any

func workspacePath(id string) string { return "/workspaces/" + url.PathEscape(id) }

// CreateWorkspace creates a workspace.
func (c *Client) CreateWorkspace(ctx context.Context, name string, opts ...CallOption) (Workspace, error) {
	return c.NewWorkspace(ctx, WorkspaceChange{"name": name}, opts...)
}

// NewWorkspace creates a workspace with further members.
func (c *Client) NewWorkspace(ctx context.Context, members WorkspaceChange, opts ...CallOption) (Workspace, error) {
	return ask[Workspace](ctx, c, http.MethodPost, "/workspaces", members, opts...)
}

// Workspace returns a workspace.
func (c *Client) Workspace(ctx context.Context, id string) (Workspace, error) {
	return ask[Workspace](ctx, c, http.MethodGet, workspacePath(id), nil)
}

// Workspaces goes through the workspaces, newest first.
func (c *Client) Workspaces(ctx context.Context) iter.Seq2[Workspace, error] {
	return list[Workspace](ctx, c, "/workspaces", nil)
}

// ChangeWorkspace changes a workspace.
func (c *Client) ChangeWorkspace(ctx context.Context, id string, change WorkspaceChange) (Workspace, error) {
	return ask[Workspace](ctx, c, http.MethodPatch, workspacePath(id), change)
}

// DeleteWorkspace deletes a workspace and everything in it. The name confirms that it is the
// right one. The server removes records and files in the background.
func (c *Client) DeleteWorkspace(ctx context.Context, id, name string) (Workspace, error) {
	return ask[Workspace](ctx, c, http.MethodDelete, workspacePath(id)+"?confirm="+url.QueryEscape(name), nil)
}

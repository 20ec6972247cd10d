package client

import (
	"context"
	"iter"
	"time"
)

// AuditEntry says who changed what.
type AuditEntry struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Actor  Actor     `json:"actor"`
	Action string    `json:"action"`
	// Resource is the id of what was changed, and Fields are the names of what
	// an update was to change.
	Resource  string   `json:"resource"`
	Fields    []string `json:"fields"`
	Address   string   `json:"address"`
	RequestID string   `json:"requestId"`
}

// Actor is who made a change: a key, by its id, or else a subject.
type Actor struct {
	Key     string `json:"key,omitzero"`
	Subject string `json:"subject,omitzero"`
	Name    string `json:"name"`
}

// AuditQuery picks entries of the audit log. The zero value is all those of the
// caller's workspace; only an admin of the workspace "default" names another one.
type AuditQuery struct {
	// Actor is a key's id, or a subject.
	Actor       string
	Action      string
	Resource    string
	Since       time.Time
	WorkspaceID string
}

// Audit goes through the audit log, newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery) iter.Seq2[AuditEntry, error] {
	query := map[string]string{"actor": q.Actor, "action": q.Action, "resource": q.Resource, "workspaceId": q.WorkspaceID}
	if !q.Since.IsZero() {
		query["since"] = q.Since.UTC().Format(time.RFC3339Nano)
	}
	return list[AuditEntry](ctx, c, "/audit", query)
}

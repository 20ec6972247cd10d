package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// PortalLink opens the portal of a workspace once, and is the session that it starts.
type PortalLink struct {
	ID     string                   `json:"id"`
	Pages  []feedmill.PortalPage    `json:"pages"`
	Access feedmill.PortalAccess    `json:"access"`
	State  feedmill.PortalLinkState `json:"state"`
	// ReturnURL is where the portal leads back to; empty for nowhere.
	ReturnURL string    `json:"returnUrl"`
	CreatedAt time.Time `json:"createdAt"`
	// OpenedAt is when the session was started; zero while the link is unused.
	OpenedAt time.Time `json:"openedAt"`
	// ExpiresAt is when the link and its session end.
	ExpiresAt time.Time `json:"expiresAt"`
	// URL opens the portal. Only the response to CreatePortalLink has it.
	URL string `json:"url"`
}

// NewPortalLink describes a portal link to create. Its zero value shows subscriptions without
// changing them, for an hour.
type NewPortalLink struct {
	Pages     []feedmill.PortalPage `json:"pages,omitzero"`
	Access    feedmill.PortalAccess `json:"access,omitzero"`
	ExpiresIn Duration              `json:"expiresIn,omitzero"`
	ReturnURL string                `json:"returnUrl,omitzero"`
}

func portalLinksPath(workspace string) string { return workspacePath(workspace) + "/portal_links" }

// CreatePortalLink creates a link that opens the portal of a workspace once.
func (c *Client) CreatePortalLink(ctx context.Context, workspace string, l NewPortalLink, opts ...CallOption) (PortalLink, error) {
	return ask[PortalLink](ctx, c, http.MethodPost, portalLinksPath(workspace), l, opts...)
}

// PortalLink returns a portal link of a workspace without its URL.
func (c *Client) PortalLink(ctx context.Context, workspace, link string) (PortalLink, error) {
	return ask[PortalLink](ctx, c, http.MethodGet, portalLinksPath(workspace)+"/"+url.PathEscape(link), nil)
}

// PortalLinks goes through the portal links of a workspace, newest first.
func (c *Client) PortalLinks(ctx context.Context, workspace string) iter.Seq2[PortalLink, error] {
	return list[PortalLink](ctx, c, portalLinksPath(workspace), nil)
}

// DeletePortalLink revokes a portal link and ends its session.
func (c *Client) DeletePortalLink(ctx context.Context, workspace, link string) error {
	_, err := c.call(ctx, http.MethodDelete, portalLinksPath(workspace)+"/"+url.PathEscape(link), nil, nil)
	return err
}

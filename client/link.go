package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"
)

// Link is a URL that reads a feed without a key.
type Link struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Format is empty where the reader chooses.
	Format     string    `json:"format"`
	Fields     []string  `json:"fields"`
	Filter     []string  `json:"filter"`
	CreatedAt  time.Time `json:"createdAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
	LastUsedAt time.Time `json:"lastUsedAt"`
	// Uses counts how often it was read.
	Uses int64 `json:"uses"`
	// URL is what reads the feed; only the answer to CreateLink has it.
	URL string `json:"url"`
}

// NewLink is a link to be made. Its zero value reads all columns and rows, in the
// format that its reader wants, until it is revoked.
type NewLink struct {
	Name      string    `json:"name,omitzero"`
	Format    string    `json:"format,omitzero"`
	Fields    []string  `json:"fields,omitzero"`
	Filter    []string  `json:"filter,omitzero"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// CreateLink makes a link to a feed.
func (c *Client) CreateLink(ctx context.Context, feed string, l NewLink, opts ...CallOption) (Link, error) {
	return ask[Link](ctx, c, http.MethodPost, feedPath(feed)+"/links", l, opts...)
}

// Link returns a link of a feed without its URL.
func (c *Client) Link(ctx context.Context, feed, link string) (Link, error) {
	return ask[Link](ctx, c, http.MethodGet, feedPath(feed)+"/links/"+url.PathEscape(link), nil)
}

// Links goes through the links of a feed, newest first.
func (c *Client) Links(ctx context.Context, feed string) iter.Seq2[Link, error] {
	return list[Link](ctx, c, feedPath(feed)+"/links", nil)
}

// ReadLink reads rows by the URL of a link of this server. Of the [RowQuery] only Format,
// Excel, Limit, Cursor and Version count.
func (c *Client) ReadLink(ctx context.Context, link string, q RowQuery) (*Rows, error) {
	values := q.values()
	if q.Limit > 0 {
		values.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	return c.rows(ctx, request{method: http.MethodGet, path: "/links/" + url.PathEscape(path.Base(link)) + "?" + values.Encode()})
}

// DeleteLink revokes a link.
func (c *Client) DeleteLink(ctx context.Context, feed, link string) error {
	_, err := c.call(ctx, http.MethodDelete, feedPath(feed)+"/links/"+url.PathEscape(link), nil, nil)
	return err
}

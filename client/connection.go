package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// Connection is a database that queries run on, under the name of a service.
type Connection struct {
	ID          string `json:"id"`
	ServiceName string `json:"serviceName"`
	Connector   string `json:"connector"`
	// Config is what was said of it, with *** for every secret.
	Config    json.RawMessage    `json:"config"`
	CreatedAt time.Time          `json:"createdAt"`
	UpdatedAt time.Time          `json:"updatedAt"`
	Warnings  []feedmill.Warning `json:"warnings"`
}

// NewConnection is a connection to make. What Config has goes by the connector.
type NewConnection struct {
	ServiceName string         `json:"serviceName"`
	Connector   string         `json:"connector"`
	Config      map[string]any `json:"config"`
}

// ConnectionChange is what is to be different about a connection. A setting of
// Config that is nil is taken away, and one that is not there stays.
type ConnectionChange struct {
	ServiceName string         `json:"serviceName,omitzero"`
	Config      map[string]any `json:"config,omitzero"`
}

// ConnectionTest is what came of trying a connection.
type ConnectionTest struct {
	OK         bool         `json:"ok"`
	Detail     string       `json:"detail"`
	DurationMS Milliseconds `json:"durationMs"`
}

func connectionPath(id string) string { return "/connections/" + url.PathEscape(id) }

// CreateConnection makes a connection. It is not tried.
func (c *Client) CreateConnection(ctx context.Context, n NewConnection, opts ...CallOption) (Connection, error) {
	return ask[Connection](ctx, c, http.MethodPost, "/connections", n, opts...)
}

// Connections goes through the connections, newest first.
func (c *Client) Connections(ctx context.Context) iter.Seq2[Connection, error] {
	return list[Connection](ctx, c, "/connections", nil)
}

// Connection reads a connection.
func (c *Client) Connection(ctx context.Context, id string) (Connection, error) {
	return ask[Connection](ctx, c, http.MethodGet, connectionPath(id), nil)
}

// ChangeConnection changes a connection.
func (c *Client) ChangeConnection(ctx context.Context, id string, change ConnectionChange, opts ...CallOption) (Connection, error) {
	return ask[Connection](ctx, c, http.MethodPatch, connectionPath(id), change, opts...)
}

// DeleteConnection deletes a connection that no feed uses.
func (c *Client) DeleteConnection(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, connectionPath(id), nil, nil)
	return err
}

// TestConnection tries a connection. That it does not work is no error.
func (c *Client) TestConnection(ctx context.Context, id string) (ConnectionTest, error) {
	var out ConnectionTest
	_, err := c.unhurried().call(ctx, http.MethodPost, connectionPath(id)+"/test", nil, &out)
	return out, err
}

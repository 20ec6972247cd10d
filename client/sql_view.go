package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// SQLView is a view of a connection that a user wrote in SQL.
type SQLView struct {
	ID           string    `json:"id"`
	ConnectionID string    `json:"connectionId"`
	Name         string    `json:"name"`
	SQL          string    `json:"sql"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// SQLViewDefinition is what a SQL view is created from.
type SQLViewDefinition struct {
	// Name is unique in the connection. It cannot be changed.
	Name string `json:"name,omitzero"`
	SQL  string `json:"sql"`
}

func sqlViewPath(connection, name string) string {
	return connectionPath(connection) + "/views/" + url.PathEscape(name)
}

// CreateSQLView adds a SQL view to a connection. The database checks it.
func (c *Client) CreateSQLView(ctx context.Context, connection string, v SQLViewDefinition, opts ...CallOption) (SQLView, error) {
	return ask[SQLView](ctx, c.unhurried(), http.MethodPost, connectionPath(connection)+"/views", v, opts...)
}

// SQLViews goes through the SQL views of a connection, newest first.
func (c *Client) SQLViews(ctx context.Context, connection string) iter.Seq2[SQLView, error] {
	return list[SQLView](ctx, c, connectionPath(connection)+"/views", nil)
}

// SQLView reads a SQL view.
func (c *Client) SQLView(ctx context.Context, connection, name string) (SQLView, error) {
	return ask[SQLView](ctx, c, http.MethodGet, sqlViewPath(connection, name), nil)
}

// ChangeSQLView writes other SQL into a view. The database checks it.
func (c *Client) ChangeSQLView(ctx context.Context, connection, name, sql string, opts ...CallOption) (SQLView, error) {
	return ask[SQLView](ctx, c.unhurried(), http.MethodPut, sqlViewPath(connection, name), SQLViewDefinition{SQL: sql}, opts...)
}

// DeleteSQLView deletes a SQL view that no feed uses.
func (c *Client) DeleteSQLView(ctx context.Context, connection, name string) error {
	_, err := c.call(ctx, http.MethodDelete, sqlViewPath(connection, name), nil, nil)
	return err
}

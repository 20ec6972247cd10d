package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Health asks whether the server is alive. It is asked once.
func (c *Client) Health(ctx context.Context) error {
	_, err := c.exchange(ctx, request{method: http.MethodGet, path: "/healthz", single: true}, nil)
	return err
}

// Ready asks whether the server can work, its stores included. It is asked once.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.exchange(ctx, request{method: http.MethodGet, path: "/readyz", single: true}, nil)
	return err
}

// Metrics reads the server's metrics in the text format of Prometheus.
func (c *Client) Metrics(ctx context.Context) (string, error) {
	text, _, err := c.fetch(ctx, request{method: http.MethodGet, path: "/metrics"})
	return string(text), err
}

// RestFeedSchema reads the JSON Schema of a REST feed, for editors.
func (c *Client) RestFeedSchema(ctx context.Context) (json.RawMessage, error) {
	var out json.RawMessage
	_, err := c.call(ctx, http.MethodGet, "/schemas/rest-feed.json", nil, &out)
	return out, err
}

// ServiceSchema reads the JSON Schema of the manifests of services.
func (c *Client) ServiceSchema(ctx context.Context) (json.RawMessage, error) {
	var out json.RawMessage
	_, err := c.call(ctx, http.MethodGet, "/schemas/service.json", nil, &out)
	return out, err
}

// DefinitionSchema reads the JSON Schema of the documents that feedmill apply reads.
func (c *Client) DefinitionSchema(ctx context.Context) (json.RawMessage, error) {
	var out json.RawMessage
	_, err := c.call(ctx, http.MethodGet, "/schemas/definition.json", nil, &out)
	return out, err
}

// OpenAPI reads the OpenAPI document of the API.
func (c *Client) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	var out json.RawMessage
	_, err := c.call(ctx, http.MethodGet, "/openapi.json", nil, &out)
	return out, err
}

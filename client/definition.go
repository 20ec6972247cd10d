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

// Definition is an object as configuration files define it.
type Definition struct {
	ID   string                  `json:"id"`
	Kind feedmill.DefinitionKind `json:"kind"`
	// Name is the handle of the object, and Label what people call it.
	Name  string `json:"name"`
	Label string `json:"label"`
	// Set names the set of files that manages the object; it is empty if none does.
	Set string `json:"set"`
	// Definition has *** for every secret.
	Definition json.RawMessage `json:"definition"`
}

// Handle is what configuration files say of an object besides its definition.
type Handle struct {
	Name string `json:"name"`
	Set  string `json:"set,omitzero"`
	// Secrets is the SHA-256 of the secrets in the definition, in hexadecimal digits.
	Secrets string `json:"secrets,omitzero"`
}

// Managed has the call that creates or changes an object write its handle, too: both happen or
// neither does.
func Managed(h Handle) CallOption {
	return func(r *request) {
		header := map[string]string{"Feedmill-Handle": h.Name, "Feedmill-Set": h.Set, "Feedmill-Secrets": h.Secrets}
		for name, value := range r.header {
			header[name] = value
		}
		r.header = header
	}
}

// ComparedDefinition reports whether an object has the secrets of a digest.
type ComparedDefinition struct {
	ID   string `json:"id"`
	Same bool   `json:"same"`
}

// DefinitionSecrets is the digest of the secrets of an object.
type DefinitionSecrets struct {
	ID      string `json:"id"`
	Secrets string `json:"secrets"`
}

// ApplyLock is the right to change the configuration of the workspace.
type ApplyLock struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// Definitions lists the objects of a kind, newest first.
func (c *Client) Definitions(ctx context.Context, kind feedmill.DefinitionKind) iter.Seq2[Definition, error] {
	return list[Definition](ctx, c, "/definitions", map[string]string{"kind": string(kind)})
}

// SetDefinition gives an object a handle without changing it.
func (c *Client) SetDefinition(ctx context.Context, id string, h Handle) error {
	_, err := c.call(ctx, http.MethodPatch, "/definitions/"+url.PathEscape(id), h, nil)
	return err
}

// CompareDefinitions reports which of up to 500 objects have the secrets that were last applied.
func (c *Client) CompareDefinitions(ctx context.Context, items []DefinitionSecrets) (same []ComparedDefinition, err error) {
	in := struct {
		Items []DefinitionSecrets `json:"items"`
	}{items}
	_, err = c.call(ctx, http.MethodPost, "/definitions/compare", in, &same)
	return same, err
}

// BeginApply reserves the configuration of the workspace for a holder for 30 seconds, or renews
// the reservation. While another holder has it, the error is a conflict.
func (c *Client) BeginApply(ctx context.Context, holder string) (lock ApplyLock, err error) {
	in := struct {
		Holder string `json:"holder"`
	}{holder}
	_, err = c.call(ctx, http.MethodPost, "/definitions/apply", in, &lock, IdempotencyKey(""))
	return lock, err
}

// EndApply releases the configuration of the workspace.
func (c *Client) EndApply(ctx context.Context, holder string) error {
	_, err := c.call(ctx, http.MethodDelete, "/definitions/apply?holder="+url.QueryEscape(holder), nil, nil)
	return err
}

// definedPaths are the lists that the objects of a kind are created in.
var definedPaths = map[feedmill.DefinitionKind]string{
	feedmill.DefinedConnection: "/connections", feedmill.DefinedFeed: "/data_feeds", feedmill.DefinedSubscription: "/events/subscriptions",
}

// CreateDefined creates an object from a definition, with the members of the API's document. The
// type is that of a feed, and empty for other kinds. It returns the new record.
func (c *Client) CreateDefined(ctx context.Context, kind feedmill.DefinitionKind, feed feedmill.FeedType, definition json.RawMessage, opts ...CallOption) (json.RawMessage, error) {
	path := definedPaths[kind]
	if feed != "" {
		path += "?type=" + url.QueryEscape(string(feed))
	}
	return ask[json.RawMessage](ctx, c, http.MethodPost, path, definition, opts...)
}

// ChangeDefined changes members of the definition of an object. It returns the new record.
func (c *Client) ChangeDefined(ctx context.Context, kind feedmill.DefinitionKind, id string, members json.RawMessage, opts ...CallOption) (json.RawMessage, error) {
	return ask[json.RawMessage](ctx, c, http.MethodPatch, definedPaths[kind]+"/"+url.PathEscape(id), members, opts...)
}

package database

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// refreshToken is the setting that a sign-in gives.
const refreshToken = "refreshToken"

// Grant makes a connection of what a person has granted. It is called after the
// service, with the first number that is free.
func (c *Connections) Grant(ctx context.Context, workspace feedmill.ID, service, token string) (feedmill.Connection, error) {
	a, ok := c.api(service)
	if !ok {
		return feedmill.Connection{}, feedmill.ErrNotFound
	}
	made := feedmill.Connection{ID: feedmill.NewID(feedmill.PrefixConnection), Workspace: workspace, Connector: service, CreatedAt: now()}
	made.UpdatedAt = made.CreatedAt
	for n := 1; n <= feedmill.MaxConnections; n++ {
		made.ServiceName = fmt.Sprintf("%s-%d", service, n)
		if err := c.keep(&made, a.Connector, feedmill.ConnectionConfig{refreshToken: token}); err != nil {
			return made, err
		}
		err := c.Store.CreateConnection(ctx, made, feedmill.MaxConnections, nil)
		if _, full := errors.AsType[*feedmill.QuotaError](err); full || err == nil || !errors.Is(err, feedmill.ErrConflict) {
			return made, err
		}
	}
	return made, feedmill.ErrConflict
}

// Regrant gives a connection what a person has granted anew.
func (c *Connections) Regrant(ctx context.Context, workspace, id feedmill.ID, token string) error {
	_, err := c.changeConfig(ctx, workspace, id, func(config feedmill.ConnectionConfig) { config[refreshToken] = token })
	return err
}

// Configure gives the connection of a grant the settings that its person knows.
func (c *Connections) Configure(ctx context.Context, workspace, id feedmill.ID, settings map[string]string) (feedmill.Connection, error) {
	return c.changeConfig(ctx, workspace, id, func(config feedmill.ConnectionConfig) { maps.Copy(config, settings) })
}

// Asked are the settings of the connection of a grant that only its person knows,
// with what they are now.
func (c *Connections) Asked(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, []feedmill.ConnectorSetting, feedmill.ConnectionConfig, error) {
	of, err := c.Store.Connection(ctx, workspace, id)
	if err != nil {
		return of, nil, nil, err
	}
	config, err := c.config(ctx, of)
	kind, _ := c.connector(of.Connector)
	settings := slices.DeleteFunc(slices.Clone(kind.Settings), func(s feedmill.ConnectorSetting) bool { return !s.Required || s.Granted })
	return of, settings, config, err
}

// changeConfig changes the config of a connection, alone with it.
func (c *Connections) changeConfig(ctx context.Context, workspace, id feedmill.ID, change func(feedmill.ConnectionConfig)) (feedmill.Connection, error) {
	return c.Store.ChangeConnection(ctx, workspace, id, func(kept *feedmill.Connection, _ []feedmill.FeedReference) error {
		kind, known := c.connector(kept.Connector)
		if !known {
			return fmt.Errorf("a connection has the connector %q", kept.Connector)
		}
		config, err := c.config(ctx, *kept)
		if err != nil {
			return err
		}
		change(config)
		kept.UpdatedAt = later(kept.UpdatedAt)
		return c.keep(kept, kind, config)
	})
}

// revocation is what gives back the grant of a connection, once that is deleted. What
// the provider does not take back it ends itself some day: the connection is gone in
// any case, and nobody waits for it.
func (c *Connections) revocation(ctx context.Context, workspace, id feedmill.ID) (func(), error) {
	of, err := c.Store.Connection(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	a, ok := c.api(of.Connector)
	if !ok || a.Revoke == nil {
		return func() {}, nil
	}
	config, err := c.config(ctx, of)
	return func() {
		const longest = 10 * time.Second
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
		defer cancel()
		if err := a.Revoke(ctx, config); err != nil && c.Log != nil {
			c.Log.Warn("revoking a grant at its provider failed", "service", of.ServiceName, "error", err)
		}
	}, err
}

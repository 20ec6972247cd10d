package database

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// APIs are the HTTP APIs that are services, as manifests describe them.
type APIs interface {
	// All are those that there are, by their names.
	All() []API
}

// API is an HTTP API as a service.
type API struct {
	// Connector has its name and what a connection to it says.
	Connector feedmill.Connector
	Title     string
	// Personal says that only a person can connect it.
	Personal bool
	// Open makes ready to ask it.
	Open func(APIUse) Database
	// Revoke gives back what a person has granted; nil where nothing is.
	Revoke func(ctx context.Context, config feedmill.ConnectionConfig) error
}

// APIUse is what an API is asked with.
type APIUse struct {
	// Connection is that of the service, without an id where it needs none, and
	// Config is what it says.
	Connection feedmill.Connection
	Config     feedmill.ConnectionConfig
	// Fetch is what the data is fetched for, as far as anything is.
	Fetch feedmill.Fetch
	// Renew has the refresh token of the connection exchanged; nil where it has none.
	Renew func(ctx context.Context, exchange func(context.Context, feedmill.Renewal) (feedmill.Renewal, error)) error
}

// NeedsConnection reports whether there is a setting that only a connection has.
func (a API) NeedsConnection() bool {
	return a.Personal || slices.ContainsFunc(a.Connector.Settings, func(s feedmill.ConnectorSetting) bool { return s.Required })
}

// api finds an API by its name.
func (c *Connections) api(name string) (API, bool) {
	if c.APIs == nil {
		return API{}, false
	}
	all := c.APIs.All()
	i := slices.IndexFunc(all, func(a API) bool { return a.Connector.Name == name })
	if i < 0 {
		return API{}, false
	}
	return all[i], true
}

// apiConnectors are the connectors of all APIs that somebody can make a connection
// to.
func (c *Connections) apiConnectors() (connectors []feedmill.Connector) {
	if c.APIs == nil {
		return nil
	}
	for _, a := range c.APIs.All() {
		connectors = append(connectors, a.Connector)
	}
	return connectors
}

// connector finds the connector of a connection.
func (c *Connections) connector(name string) (feedmill.Connector, bool) {
	if kind, ok := feedmill.FindConnector(name); ok {
		return kind, true
	}
	a, ok := c.api(name)
	return a.Connector, ok
}

// unconnected are the services of APIs that no connection has the name of.
func (c *Connections) unconnected(taken []feedmill.Service) (services []feedmill.Service) {
	if c.APIs == nil {
		return nil
	}
	for _, a := range c.APIs.All() {
		name := a.Connector.Name
		if slices.ContainsFunc(taken, func(s feedmill.Service) bool { return s.Name == name }) {
			continue
		}
		service := feedmill.Service{Name: name, Title: a.Title, Connector: name, Status: feedmill.ServiceConnected}
		switch {
		case a.Personal:
			service.Status = feedmill.ServicePersonal
		case a.NeedsConnection():
			service.Status = feedmill.ServiceNotConfigured
		}
		services = append(services, service)
	}
	return services
}

// withAPI has something done with an API. What it says of itself it says without a
// connection, too.
func (c *Connections) withAPI(ctx context.Context, a API, of feedmill.Connection, fetch feedmill.Fetch, do func(Database) error) error {
	use := APIUse{Connection: of, Fetch: fetch}
	if of.ID != "" {
		config, err := c.config(ctx, of)
		if err != nil {
			return err
		}
		use.Config = config
		if config[refreshToken] != "" {
			use.Renew = func(ctx context.Context, exchange func(context.Context, feedmill.Renewal) (feedmill.Renewal, error)) error {
				return c.renew(ctx, of, exchange)
			}
		}
	}
	db := a.Open(use)
	defer db.Close()
	return do(db)
}

// keepSetting puts another text in the place of a setting of a connection, unless
// somebody has done so already.
func (c *Connections) keepSetting(ctx context.Context, of feedmill.Connection, setting, before, after string) error {
	_, err := c.changeConfig(ctx, of.Workspace, of.ID, func(config feedmill.ConnectionConfig) {
		if config[setting] == before {
			config[setting] = after
		}
	})
	return err
}

// ready says why a query cannot run on an API without a connection, nil where it
// can. Where only a person can make one, the error has the link for that.
func (c *Connections) ready(ctx context.Context, workspace feedmill.ID, a API) error {
	switch {
	case !a.NeedsConnection():
		return nil
	case a.Personal && c.Offer != nil:
		link, err := c.Offer(ctx, workspace, a.Connector.Name)
		if err != nil {
			return err
		}
		return &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "personal-service", Title: "This service needs a user to connect it", CreationURL: link.URL,
			Detail: fmt.Sprintf("%s must be connected by the user who owns the data. Send that user to creationUrl to sign in and choose what to share; the feed is then created. The link works once, until %s.", a.Title, link.ExpiresAt.Format(time.RFC3339)),
		}
	}
	var needed []string
	for _, s := range a.Connector.Settings {
		if s.Required {
			needed = append(needed, s.Name)
		}
	}
	return feedmill.Invalid("", feedmill.Fault{
		Pointer: "/serviceName",
		Detail:  fmt.Sprintf("%s needs a connection. Create one with POST /connections (connector %s, config %s) and set serviceName to its name.", a.Title, a.Connector.Name, strings.Join(needed, ", ")),
	})
}

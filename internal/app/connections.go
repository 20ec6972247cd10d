package app

import (
	"context"
	"path/filepath"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/connect"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/duckdb"
	"github.com/feedmill/feedmill/internal/source/database/mysql"
	"github.com/feedmill/feedmill/internal/source/database/postgres"
	"github.com/feedmill/feedmill/internal/source/database/sqlite"
	"github.com/feedmill/feedmill/internal/source/manifest"
)

// newConnections makes the connections to databases, of which the feeds of a
// workspace are one, and the APIs that manifests describe, with the links by which people
// connect those. The address is that of the server.
func (a *App) newConnections(data, address string, permits *share.Permits, pool *lake.Pool, mill *feed.Mill, rest feed.Source) (*database.Connections, *connect.Links, error) {
	registry, err := manifest.NewRegistry(a.config.ServicesDir, a.log)
	if err != nil {
		return nil, nil, a.config.Wrong("servicesDir", err)
	}
	clients, err := a.config.Clients()
	if err != nil {
		return nil, nil, err
	}
	links := connect.NewLinks(connect.Options{
		Store: a.store, Vault: a.vault, Provider: registry.Provider, Clients: clients, HTTP: a.egress.HTTPClient(issuerTimeout),
		PublicURL: a.config.PublicURL, Address: address, Redirects: a.config.ConnectRedirects,
	})
	connections := database.New(database.Options{
		Store: a.store, Vault: a.vault, Feeds: ownFeeds{a.store, mill},
		CheckHost: a.egress.Policy().CheckHost, Dial: a.egress.DialContext, Forbidden: egress.ErrForbidden,
		Temp:    filepath.Join(data, tempFolder),
		Folders: database.Folders{Allowed: a.config.DatabaseDirs, Never: data},
		Connectors: map[string]database.Connector{
			"postgres": postgres.Connector{}, "mysql": mysql.Connector{}, "sqlite": sqlite.Connector{Engine: lake.NewSQLite(pool)},
			"duckdb": duckdb.Connector{Engine: lake.NewDatabases(pool)},
		},
		APIs: &manifest.Services{Registry: registry, Tables: feed.FetchedTables{Mill: mill, Source: rest}, Clients: clients, Revoke: links.Revoke},
		Log:  a.log, Permits: permits,
		Offer: func(ctx context.Context, workspace feedmill.ID, service string) (feedmill.SignInLink, error) {
			return links.Offer(ctx, workspace, service, "")
		},
	})
	return connections, links, nil
}

// ownFeeds are the feeds of workspaces as a database.
type ownFeeds struct {
	listedFeeds
	*feed.Mill
}

// listedFeeds finds and lists feeds.
type listedFeeds interface {
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error)
}

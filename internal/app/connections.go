package app

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/connect"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/duckdb"
	"github.com/feedmill/feedmill/internal/source/database/mysql"
	"github.com/feedmill/feedmill/internal/source/database/postgres"
	"github.com/feedmill/feedmill/internal/source/database/sqlite"
	"github.com/feedmill/feedmill/internal/source/manifest"
)

// newConnections makes the connections to databases, of which the feeds of a
// workspace are one, and the APIs that manifests describe. The mill is there once
// something is asked of them.
func (a *App) newConnections(data string, pool *lake.Pool, mill func() *feed.Mill) (*database.Connections, *connect.Connect, error) {
	registry, err := manifest.NewRegistry(a.config.ServicesDir, a.log)
	if err != nil {
		return nil, nil, a.config.Wrong("servicesDir", err)
	}
	clients, err := a.config.Clients()
	if err != nil {
		return nil, nil, err
	}
	services := &manifest.Services{Registry: registry, Tables: func() manifest.Tables { return mill() }, Clients: clients}
	people := connect.New(connect.Options{
		Store: a.store, Vault: a.vault, Provider: services.Provider, Clients: clients, HTTP: a.egress.HTTPClient(issuerTimeout),
		PublicURL: a.config.PublicURL, Redirects: a.config.ConnectRedirects,
	})
	services.Revoke = people.Revoke
	connections := database.New(database.Options{
		Store: a.store, Vault: a.vault, Feeds: ownFeeds{a.store, mill},
		CheckHost: a.egress.Policy().CheckHost, Dial: a.egress.DialContext, Forbidden: egress.ErrForbidden,
		Temp:    filepath.Join(data, tempFolder),
		Folders: database.Folders{Allowed: a.config.DatabaseDirs, Never: data},
		Connectors: map[string]database.Connector{
			"postgres": postgres.Connector{}, "mysql": mysql.Connector{}, "sqlite": sqlite.Connector{Engine: lake.NewSQLite(pool)},
			"duckdb": duckdb.Connector{Engine: lake.NewDatabases(pool)},
		},
		APIs: services, Log: a.log,
		Offer: func(ctx context.Context, workspace feedmill.ID, service string) (feedmill.SignInLink, error) {
			return people.Offer(ctx, workspace, service, "")
		},
	})
	people.Services = connections
	return connections, people, nil
}

// ownFeeds are the feeds of workspaces as a database.
type ownFeeds struct {
	store
	mill func() *feed.Mill
}

func (f ownFeeds) Select(ctx context.Context, of feedmill.Feed, t *query.Tree) iter.Seq2[[]columnar.Vector, error] {
	return f.mill().Select(ctx, of, t)
}

func (f ownFeeds) Explain(of feedmill.Feed, t *query.Tree) (sql string, args []string) {
	return f.mill().Explain(of, t)
}

package database

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// Services lists what the queries of a workspace run on: its feeds, and then its
// connections by their names.
func (c *Connections) Services(ctx context.Context, workspace feedmill.ID) ([]feedmill.Service, error) {
	all, err := c.Store.Connections(ctx, workspace, feedmill.Page{Limit: feedmill.MaxConnections})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b feedmill.Connection) int { return strings.Compare(a.ServiceName, b.ServiceName) })
	services := []feedmill.Service{{Name: feedmill.ServiceFeeds, Title: "Data feeds", Connector: feedmill.ServiceFeeds, Status: feedmill.ServiceConnected}}
	for _, of := range all {
		services = append(services, feedmill.Service{Name: of.ServiceName, Title: of.ServiceName, Connector: of.Connector, Status: feedmill.ServiceConnected})
	}
	return append(services, c.unconnected(services)...), nil
}

// Views lists what can be read of a service, by name. A service that is not there
// is [feedmill.ErrNotFound]. What was found a short time before is answered again,
// unless it is to be looked for anew.
func (c *Connections) Views(ctx context.Context, workspace feedmill.ID, service string, anew bool) ([]feedmill.ServiceView, error) {
	of, err := c.service(ctx, workspace, service)
	if err != nil {
		return nil, err
	}
	if views, ok := c.seen.views(of); ok && !anew {
		return c.withSQLViews(ctx, of, views)
	}
	var views []feedmill.ServiceView
	err = c.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return c.withService(ctx, of, feedmill.Fetch{Workspace: workspace}, func(db Database) error {
			found, err := db.Views(ctx)
			for _, v := range found {
				if len(v.Name) > feedmill.MaxSourceName {
					continue // no query can name it
				}
				views = append(views, feedmill.ServiceView{Name: v.Name, Label: v.Label, Description: v.Description, Kind: string(v.Kind), RowEstimate: v.RowEstimate, Cursor: v.Cursor, Key: v.Key})
			}
			return err
		})
	})
	if err != nil {
		return nil, refusal(err)
	}
	slices.SortStableFunc(views, func(a, b feedmill.ServiceView) int { return strings.Compare(a.Name, b.Name) })
	if _, api := c.api(of.Connector); !api { // whose manifest may change, and is here
		c.seen.keepViews(of, views)
	}
	return c.withSQLViews(ctx, of, views)
}

// withSQLViews are the views of a database with those that users wrote in SQL. Where a table was
// given the name of one afterwards, the name means the SQL view.
func (c *Connections) withSQLViews(ctx context.Context, of feedmill.Connection, views []feedmill.ServiceView) ([]feedmill.ServiceView, error) {
	if of.ID == "" {
		return views, nil
	}
	all, err := allSQLViews(ctx, c.Store, of)
	if err != nil || len(all) == 0 {
		return views, err
	}
	views = slices.Clone(views)
	for _, v := range all {
		views = slices.DeleteFunc(views, func(other feedmill.ServiceView) bool { return other.Name == v.Name })
		views = append(views, feedmill.ServiceView{Name: v.Name, Kind: string(KindSQL), RowEstimate: -1})
	}
	slices.SortStableFunc(views, func(a, b feedmill.ServiceView) int { return strings.Compare(a.Name, b.Name) })
	return views, nil
}

// Fields lists the columns of a view. A view that is not there is
// [feedmill.ErrNotFound].
func (c *Connections) Fields(ctx context.Context, workspace feedmill.ID, service, view string, anew bool) ([]feedmill.ServiceField, error) {
	of, err := c.service(ctx, workspace, service)
	if err != nil {
		return nil, err
	}
	known := view
	if of.ID != "" {
		v, err := c.Store.SQLView(ctx, workspace, of.ID, view)
		if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			known = string(v.ID) + " " + v.UpdatedAt.String()
		}
	}
	if fields, ok := c.seen.fields(of, known); ok && !anew {
		return fields, nil
	}
	var fields []feedmill.ServiceField
	err = c.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return c.withService(ctx, of, feedmill.Fetch{Workspace: workspace}, func(db Database) error {
			table, err := describe(ctx, db, view, feedmill.RulesCurrent)
			if err != nil {
				return err
			}
			for _, f := range table.Fields() {
				fields = append(fields, feedmill.ServiceField{Column: f.Column, Label: f.Label, Native: f.Native, Operators: query.Operators(f.Type), Pushdown: f.Pushdown, Aggregates: f.aggregates()})
			}
			return c.complete(ctx, of, db, table, fields)
		})
	})
	if err != nil {
		return nil, notThere(err)
	}
	if _, api := c.api(of.Connector); !api {
		c.seen.keepFields(of, known, fields)
	}
	return fields, nil
}

// complete adds keys and samples to the fields of a table. APIs have none.
func (c *Connections) complete(ctx context.Context, of feedmill.Connection, db Database, table Table, fields []feedmill.ServiceField) error {
	if _, api := c.api(of.Connector); api {
		return nil
	}
	if table.SQLView() == "" {
		schema, name := table.At()
		keys, err := db.Keys(ctx, schema, name)
		if err != nil {
			return err
		}
		keys.mark(fields)
	}
	for i, values := range samples(ctx, table) {
		fields[i].Samples = values
	}
	return nil
}

// service finds the connection of a service. That of the feeds of a workspace, and
// that of an API which no connection is made to, is none of the store's, and has no
// id.
func (c *Connections) service(ctx context.Context, workspace feedmill.ID, name string) (feedmill.Connection, error) {
	if name == feedmill.ServiceFeeds {
		return feedmill.Connection{Workspace: workspace, ServiceName: name, Connector: feedmill.ServiceFeeds}, nil
	}
	of, err := c.Store.ConnectionOf(ctx, workspace, name)
	if errors.Is(err, feedmill.ErrNotFound) {
		if _, known := c.api(name); known {
			return feedmill.Connection{Workspace: workspace, ServiceName: name, Connector: name}, nil
		}
	}
	return of, err
}

// withService is with for any service, and anything that is fetched of it.
func (c *Connections) withService(ctx context.Context, of feedmill.Connection, fetch feedmill.Fetch, do func(Database) error) error {
	if a, ok := c.api(of.Connector); ok {
		return c.withAPI(ctx, a, of, fetch, do)
	}
	if of.ID == "" {
		return do(NewFeedDatabase(c.Feeds, of.Workspace))
	}
	return c.with(ctx, of, func(db Database) error { return do(&viewedDatabase{db, c.Store, of}) })
}

// notThere is refusal for what is asked about a view: one that does not exist is [feedmill.ErrNotFound].
func notThere(err error) error {
	if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok && failure.Type == ProblemView {
		return &feedmill.Error{Kind: feedmill.ErrNotFound, Type: ProblemView, Title: failure.Title, Detail: failure.Detail}
	}
	return refusal(err)
}

// refusal is a failure of a database as whoever waits for the answer is told.
func refusal(err error) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok {
		return err
	}
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: failure.Type, Title: failure.Title, Detail: failure.Detail}
}

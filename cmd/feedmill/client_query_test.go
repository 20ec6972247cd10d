package main

import (
	"context"
	"errors"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// queryCalls are the methods of the client about connections and queries, each
// with a call that succeeds.
func queryCalls(t *testing.T, c *client.Client, feed string) map[string]func(context.Context) error {
	t.Helper()
	config := map[string]any{"host": "127.0.0.1", "port": 1, "database": "shop", "user": "reader", "password": "s3cret"}
	made, err := c.CreateConnection(t.Context(), client.NewConnection{ServiceName: "warehouse", Connector: "postgres", Config: config})
	if err != nil {
		t.Fatal(err)
	}
	spec := []byte(`{"serviceName":"feeds","viewName":"` + feed + `","query":{"fields":[{"field":"order"}]}}`)
	return map[string]func(context.Context) error{
		"CreateConnection": func(ctx context.Context) error {
			return second(c.CreateConnection(ctx, client.NewConnection{ServiceName: "shop", Connector: "postgres", Config: config}))
		},
		"Connections": func(ctx context.Context) error { return firstOf(c.Connections(ctx)) },
		"Connection":  func(ctx context.Context) error { return second(c.Connection(ctx, made.ID)) },
		"ChangeConnection": func(ctx context.Context) error {
			return second(c.ChangeConnection(ctx, made.ID, client.ConnectionChange{Config: map[string]any{"sslmode": "disable"}}))
		},
		"DeleteConnection": func(ctx context.Context) error {
			other, err := c.CreateConnection(ctx, client.NewConnection{ServiceName: "gone", Connector: "postgres", Config: config})
			if err != nil {
				return err
			}
			return c.DeleteConnection(ctx, other.ID)
		},
		"TestConnection": func(ctx context.Context) error {
			test, err := c.TestConnection(ctx, made.ID)
			if test.OK {
				err = errors.New("a port that nobody listens on answers")
			}
			return err
		},
		"CreateSQLView": func(ctx context.Context) error {
			return refusedWith(second(c.CreateSQLView(ctx, made.ID, client.SQLViewDefinition{Name: "paid", SQL: "SELECT 1 AS a"})), "/problems/database-unreachable")
		},
		"SQLViews": func(ctx context.Context) error {
			for _, err := range c.SQLViews(ctx, made.ID) {
				return err
			}
			return nil // there is none
		},
		"SQLView": func(ctx context.Context) error {
			return refusedWith(second(c.SQLView(ctx, made.ID, "paid")), "/problems/not-found")
		},
		"ChangeSQLView": func(ctx context.Context) error {
			return refusedWith(second(c.ChangeSQLView(ctx, made.ID, "paid", "SELECT 1 AS a")), "/problems/not-found")
		},
		"DeleteSQLView": func(ctx context.Context) error {
			return refusedWith(c.DeleteSQLView(ctx, made.ID, "paid"), "/problems/not-found")
		},
		"Services": func(ctx context.Context) error { return second(c.Services(ctx)) },
		"CreationURL": func(ctx context.Context) error {
			_, err := c.CreationURL(ctx, "hubspot", "")
			if p, ok := errors.AsType[*client.Problem](err); ok && p.Type == "/problems/service-not-configured" {
				return nil // which takes a client at the provider
			}
			return errors.Join(errors.New("a link to a service that is not configured"), err)
		},
		"Views": func(ctx context.Context) error {
			return firstOf(c.Views(ctx, "feeds", client.ViewQuery{Refresh: true}))
		},
		"Fields":          func(ctx context.Context) error { return second(c.Fields(ctx, "feeds", feed)) },
		"FieldValues":     func(ctx context.Context) error { return second(c.FieldValues(ctx, "feeds", feed, "order", "", 5)) },
		"PreviewQuery":    func(ctx context.Context) error { return second(c.PreviewQuery(ctx, spec)) },
		"CreateQueryFeed": func(ctx context.Context) error { return second(c.CreateQueryFeed(ctx, client.QueryFeed{Spec: spec})) },
	}
}

// refusedWith is nil for the problem of a type, of calls that need a database to succeed. The
// scripts make these.
func refusedWith(err error, problem string) error {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Type == problem {
		return nil
	}
	return errors.Join(errors.New("the call is not refused with "+problem), err)
}

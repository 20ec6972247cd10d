package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/feedmill/feedmill/client"
)

// writeSQLView creates a SQL view, or writes other SQL into it. Its connection can be created by
// the same apply.
func (a *applier) writeSQLView(ctx context.Context, s *planStep) error {
	d := s.doc
	connection, err := a.connectionOf(ctx, textOf(d.definition.Member("serviceName")))
	if err != nil {
		return err
	}
	sql, managed := textOf(d.definition.Member("sql")), client.Managed(s.handle)
	if s.action == create {
		_, err = a.client.CreateSQLView(ctx, connection, client.SQLViewDefinition{Name: d.label, SQL: sql}, managed)
	} else {
		_, err = a.client.ChangeSQLView(ctx, connection, s.stored.Label, sql, managed)
	}
	return err
}

func (a *applier) removeSQLView(ctx context.Context, stored client.Definition) error {
	var definition struct{ ServiceName string }
	if err := json.Unmarshal(stored.Definition, &definition); err != nil {
		return err
	}
	connection, err := a.connectionOf(ctx, definition.ServiceName)
	if err != nil {
		return err
	}
	return a.client.DeleteSQLView(ctx, connection, stored.Label)
}

// connectionOf is the id of the connection of a service.
func (a *applier) connectionOf(ctx context.Context, service string) (string, error) {
	for c, err := range paged(a.client, 0).Connections(ctx) {
		if err != nil {
			return "", err
		}
		if c.ServiceName == service {
			return c.ID, nil
		}
	}
	return "", fmt.Errorf("serviceName: no connection has the name %s", service)
}

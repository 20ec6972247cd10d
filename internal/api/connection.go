package api

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// ConnectionStore has the connections.
type ConnectionStore interface {
	Connection(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, error)
	Connections(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Connection, error)
}

// connectionView is a connection as clients see it: with *** for its secrets.
type connectionView struct {
	ID          feedmill.ID    `json:"id"`
	ServiceName string         `json:"serviceName"`
	Connector   string         `json:"connector"`
	Config      jsontext.Value `json:"config"`
	CreatedAt   timestamp      `json:"createdAt"`
	UpdatedAt   timestamp      `json:"updatedAt"`
	// Warnings are left out where there are none.
	Warnings []connectionWarning `json:"warnings,omitzero"`
}

type connectionWarning struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func viewConnection(c feedmill.Connection) connectionView {
	view := connectionView{ID: c.ID, ServiceName: c.ServiceName, Connector: c.Connector, Config: c.Config, CreatedAt: timestamp(c.CreatedAt), UpdatedAt: timestamp(c.UpdatedAt)}
	for _, w := range c.Warnings() {
		view.Warnings = append(view.Warnings, connectionWarning{w.Code, w.Detail})
	}
	return view
}

func connectionURL(id feedmill.ID) string { return "/connections/" + string(id) }

func createdConnection(c feedmill.Connection) answer {
	return created(connectionURL(c.ID), viewConnection(c))
}

func foundConnection(c feedmill.Connection) answer {
	return jsonAnswer(http.StatusOK, resource{resourceMeta{connectionURL(c.ID)}, viewConnection(c)})
}

func (s *Server) createConnection(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	made, err := s.Connections.Create(c.ctx(), c.who.Workspace, body, &c.faults, keepWith(c, createdConnection))
	if err != nil {
		return answer{}, err
	}
	return createdConnection(made), nil
}

func (s *Server) listConnections(c *call) (answer, error) {
	fetch := func(p feedmill.Page) ([]feedmill.Connection, error) {
		return s.Store.Connections(c.ctx(), c.who.Workspace, p)
	}
	return listAnswer(c, feedmill.PrefixConnection, fetch, func(c feedmill.Connection) feedmill.ID { return c.ID }, viewConnection)
}

// connectionID is the one that the path names.
func (c *call) connectionID() (feedmill.ID, error) {
	return feedmill.ParseID(feedmill.PrefixConnection, c.r.PathValue("id"))
}

func (s *Server) getConnection(c *call) (answer, error) {
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	found, err := s.Store.Connection(c.ctx(), c.who.Workspace, id)
	if err != nil {
		return answer{}, err
	}
	return foundConnection(found), nil
}

func (s *Server) changeConnection(c *call) (answer, error) {
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	changed, err := s.Connections.Change(c.ctx(), c.who.Workspace, id, body, &c.faults)
	if err == nil {
		err = s.Feeds.Reconnected(c.ctx(), c.who.Workspace, id)
	}
	if err != nil {
		return answer{}, err
	}
	return foundConnection(changed), nil
}

func (s *Server) deleteConnection(c *call) (answer, error) {
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	if err := s.Connections.Delete(c.ctx(), c.who.Workspace, id); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

func (s *Server) testConnection(c *call) (answer, error) {
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	t, err := s.Connections.Test(c.ctx(), c.who.Workspace, id)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, client.ConnectionTest{OK: t.OK, Detail: sentence(t.Detail), DurationMS: inMilliseconds(t.Duration)}), nil
}

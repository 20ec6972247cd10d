package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/feedmill/feedmill"
)

// SQLViewStore has the SQL views.
type SQLViewStore interface {
	SQLView(ctx context.Context, workspace, connection feedmill.ID, name string) (feedmill.SQLView, error)
	SQLViews(ctx context.Context, workspace, connection feedmill.ID, p feedmill.Page) ([]feedmill.SQLView, error)
}

// sqlViewView is a SQL view as clients see it.
type sqlViewView struct {
	ID           feedmill.ID `json:"id"`
	ConnectionID feedmill.ID `json:"connectionId"`
	Name         string      `json:"name"`
	SQL          string      `json:"sql"`
	CreatedAt    timestamp   `json:"createdAt"`
	UpdatedAt    timestamp   `json:"updatedAt"`
}

func viewSQLView(v feedmill.SQLView) sqlViewView {
	return sqlViewView{v.ID, v.Connection, v.Name, v.SQL, timestamp(v.CreatedAt), timestamp(v.UpdatedAt)}
}

func sqlViewURL(v feedmill.SQLView) string {
	return connectionURL(v.Connection) + "/views/" + url.PathEscape(v.Name)
}

func createdSQLView(v feedmill.SQLView) answer { return created(sqlViewURL(v), viewSQLView(v)) }

func foundSQLView(v feedmill.SQLView) answer {
	return jsonAnswer(http.StatusOK, resource{resourceMeta{sqlViewURL(v)}, viewSQLView(v)})
}

func (s *Server) createSQLView(c *call) (answer, error) {
	c.audited.Resource = "" // which is the id of the view
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	made, err := s.Connections.CreateSQLView(c.ctx(), c.who.Workspace, id, body, &c.faults, keepWith(c, createdSQLView))
	if err != nil {
		return answer{}, err
	}
	return createdSQLView(made), nil
}

func (s *Server) listSQLViews(c *call) (answer, error) {
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	fetch := func(p feedmill.Page) ([]feedmill.SQLView, error) {
		if _, err := s.Store.Connection(c.ctx(), c.who.Workspace, id); err != nil {
			return nil, err
		}
		return s.Store.SQLViews(c.ctx(), c.who.Workspace, id, p)
	}
	return listAnswer(c, feedmill.PrefixSQLView, fetch, func(v feedmill.SQLView) feedmill.ID { return v.ID }, viewSQLView)
}

func (s *Server) getSQLView(c *call) (answer, error) {
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	found, err := s.Store.SQLView(c.ctx(), c.who.Workspace, id, c.r.PathValue("name"))
	if err != nil {
		return answer{}, err
	}
	return foundSQLView(found), nil
}

func (s *Server) changeSQLView(c *call) (answer, error) {
	c.audited.Resource = "" // which is the id of the view
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	changed, err := s.Connections.ChangeSQLView(c.ctx(), c.who.Workspace, id, c.r.PathValue("name"), body, &c.faults, keepWith(c, foundSQLView))
	if err != nil {
		return answer{}, err
	}
	return foundSQLView(changed), nil
}

func (s *Server) deleteSQLView(c *call) (answer, error) {
	c.audited.Resource = "" // which is the id of the view
	id, err := c.connectionID()
	if err != nil {
		return answer{}, err
	}
	if err := s.Connections.DeleteSQLView(c.ctx(), c.who.Workspace, id, c.r.PathValue("name")); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

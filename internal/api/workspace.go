package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// WorkspaceStore has the workspaces.
type WorkspaceStore interface {
	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)
}

func viewWorkspace(w feedmill.Workspace) client.Workspace {
	return client.Workspace{ID: string(w.ID), Name: w.Name, CreatedAt: w.CreatedAt}
}

func (s *Server) createWorkspace(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: needName(body), CreatedAt: now()}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if !c.who.AllWorkspaces {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: "Only an admin of the workspace \"default\" can create workspaces."}
	}
	a := created(workspaceURL(w.ID), viewWorkspace(w))
	err = s.Store.CreateWorkspace(c.ctx(), w, c.keep(a))
	if errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "name-taken", Detail: "A workspace with this name already exists. Choose another name.",
			Faults: []feedmill.Fault{{Pointer: "/name", Detail: "The name is already in use."}},
		}
	}
	return a, err
}

func workspaceURL(id feedmill.ID) string { return "/workspaces/" + string(id) }

// getWorkspace returns a workspace. Another one than the caller's is only there for an admin of
// the workspace "default".
func (s *Server) getWorkspace(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixWorkspace, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if id != c.who.Workspace && !c.who.AllWorkspaces {
		return answer{}, feedmill.ErrNotFound
	}
	w, err := s.Store.WorkspaceByID(c.ctx(), id)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{workspaceURL(id)}, viewWorkspace(w)}), nil
}

func (s *Server) listWorkspaces(c *call) (answer, error) {
	fetch := func(p feedmill.Page) ([]feedmill.Workspace, error) { return s.Store.Workspaces(c.ctx(), p) }
	if !c.who.AllWorkspaces {
		fetch = func(p feedmill.Page) ([]feedmill.Workspace, error) {
			w, err := s.Store.WorkspaceByID(c.ctx(), c.who.Workspace)
			if err != nil || (p.Before != "" && w.ID >= p.Before) {
				return nil, err
			}
			return []feedmill.Workspace{w}, nil
		}
	}
	return listAnswer(c, feedmill.PrefixWorkspace, fetch, func(w feedmill.Workspace) feedmill.ID { return w.ID }, viewWorkspace)
}

package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

type keyView struct {
	ID         feedmill.ID      `json:"id"`
	Name       string           `json:"name"`
	Scopes     []feedmill.Scope `json:"scopes"`
	Workspace  feedmill.ID      `json:"workspaceId"`
	CreatedAt  timestamp        `json:"createdAt"`
	LastUsedAt timestamp        `json:"lastUsedAt"`
	// Key is the secret itself, in the answer to its creation and nowhere else.
	Key string `json:"key,omitzero"`
}

func viewKey(k feedmill.Key) keyView {
	return keyView{
		ID: k.ID, Name: k.Name, Scopes: k.Scopes, Workspace: k.Workspace,
		CreatedAt: timestamp(k.CreatedAt), LastUsedAt: timestamp(k.LastUsedAt),
	}
}

func (s *Server) createKey(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	k := feedmill.Key{
		ID: feedmill.NewID(feedmill.PrefixKey), Name: needName(body),
		Scopes: readScopes(body, "scopes"), CreatedAt: now(), Workspace: c.who.Workspace,
	}
	var workspace string
	if f, ok := body.Get("workspaceId"); ok {
		workspace, _ = f.Text()
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if workspace != "" {
		if k.Workspace, err = s.workspaceOf(c, workspace); err != nil {
			return answer{}, err
		}
	}
	secret := feedmill.NewKeySecret()
	k.Hash = feedmill.HashKey(secret)
	view := viewKey(k)
	view.Key = secret
	a := created("/keys/"+string(k.ID), view)
	err = s.Store.CreateKey(c.ctx(), k, c.keep(a))
	if errors.Is(err, feedmill.ErrNotFound) {
		err = noWorkspace(feedmill.Fault{Pointer: "/workspaceId"})
	}
	return a, err
}

// workspaceOf is the workspace that a caller names in a body. One that it may
// not work in looks like one that does not exist.
func (s *Server) workspaceOf(c *call, id string) (feedmill.ID, error) {
	if !feedmill.IsID(feedmill.PrefixWorkspace, id) || (!c.who.AllWorkspaces && feedmill.ID(id) != c.who.Workspace) {
		return "", noWorkspace(feedmill.Fault{Pointer: "/workspaceId"})
	}
	return feedmill.ID(id), nil
}

func noWorkspace(at feedmill.Fault) error {
	at.Detail = "There is no such workspace."
	return &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: "The workspace that the request names is not there.", Faults: []feedmill.Fault{at}}
}

// readScopes reads a required list of scopes; a scope named twice counts once.
func readScopes(o *strictjson.Object, name string) []feedmill.Scope {
	var scopes []feedmill.Scope
	for f, text := range o.Texts(name, 20) {
		scope := feedmill.Scope(text)
		if !slices.Contains(feedmill.Scopes, scope) {
			f.Fault("There is no such scope; there are " + feedmill.JoinScopes(feedmill.Scopes) + ".")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

func (s *Server) listKeys(c *call) (answer, error) {
	p, err := c.page(feedmill.PrefixKey)
	if err != nil {
		return answer{}, err
	}
	workspace := c.who.Workspace
	if text, ok := c.query["workspaceId"]; ok {
		if workspace, err = s.workspaceOf(c, text); err != nil {
			return answer{}, noWorkspace(feedmill.Fault{Parameter: "workspaceId"})
		}
	}
	fetch := func(p feedmill.Page) ([]feedmill.Key, error) { return s.Store.Keys(c.ctx(), workspace, p) }
	return listAnswer(c, p, fetch, func(k feedmill.Key) feedmill.ID { return k.ID }, viewKey)
}

func (s *Server) revokeKey(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixKey, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	workspace := c.who.Workspace
	if c.who.AllWorkspaces {
		workspace = ""
	}
	if err := s.Store.RevokeKey(c.ctx(), workspace, id, now()); err != nil {
		return answer{}, err
	}
	s.Auth.Forget(id)
	return answer{status: http.StatusNoContent}, nil
}

package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// KeyStore has the API keys.
type KeyStore interface {
	CreateKey(context.Context, feedmill.Key, *feedmill.IdempotentResponse) error
	Keys(context.Context, feedmill.KeyQuery) ([]feedmill.Key, error)
	KeyByID(context.Context, feedmill.ID) (feedmill.Key, error)
	RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
}

type keyView struct {
	ID         feedmill.ID      `json:"id"`
	Name       string           `json:"name"`
	Scopes     []feedmill.Scope `json:"scopes"`
	Workspace  feedmill.ID      `json:"workspaceId"`
	CreatedAt  timestamp        `json:"createdAt"`
	LastUsedAt timestamp        `json:"lastUsedAt"`
	ExpiresAt  timestamp        `json:"expiresAt"`
	RevokedAt  timestamp        `json:"revokedAt"`
	// Key is the secret itself, in the answer to its creation and nowhere else.
	Key string `json:"key,omitzero"`
}

func viewKey(k feedmill.Key) keyView {
	return keyView{
		ID: k.ID, Name: k.Name, Scopes: k.Scopes, Workspace: k.Workspace,
		CreatedAt: timestamp(k.CreatedAt), LastUsedAt: timestamp(k.LastUsedAt), ExpiresAt: timestamp(k.ExpiresAt), RevokedAt: timestamp(k.RevokedAt),
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
	k.ExpiresAt = readExpiry(body, k.CreatedAt)
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
	a := created(keyURL(k.ID), view).withSecret()
	if k.Workspace != c.who.Workspace {
		w, err := s.Store.WorkspaceByID(c.ctx(), k.Workspace)
		if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return answer{}, err
		}
		if err != nil || w.Deleting != nil {
			return answer{}, noWorkspace(feedmill.Fault{Pointer: "/workspaceId"})
		}
	}
	err = s.Store.CreateKey(c.ctx(), k, c.keep(a))
	if errors.Is(err, feedmill.ErrNotFound) {
		err = noWorkspace(feedmill.Fault{Pointer: "/workspaceId"})
	}
	return a, err
}

func keyURL(id feedmill.ID) string { return "/keys/" + string(id) }

// getKey returns a key without its secret, revoked or not.
func (s *Server) getKey(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixKey, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	k, err := s.Store.KeyByID(c.ctx(), id)
	if err == nil && k.Workspace != c.who.Workspace && !c.who.AllWorkspaces {
		err = feedmill.ErrNotFound
	}
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{keyURL(id)}, viewKey(k)}), nil
}

// readExpiry reads when a key ends by itself; null, and nothing, is never.
func readExpiry(body *strictjson.Object, created time.Time) time.Time {
	f, ok := body.Get("expiresAt")
	if !ok || f.Kind == 'n' {
		return time.Time{}
	}
	at, ok := readTime(f)
	if ok && !at.After(created) {
		f.Fault("expiresAt must be in the future.")
	}
	return at
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
	at.Detail = "The workspace does not exist."
	return &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: "The request names a workspace that does not exist. GET /workspaces lists the available ones.", Faults: []feedmill.Fault{at}}
}

// readScopes reads a required list of scopes; a scope named twice counts once.
func readScopes(o *strictjson.Object, name string) []feedmill.Scope {
	var scopes []feedmill.Scope
	for f, text := range o.Texts(name, 20) {
		scope := feedmill.Scope(text)
		if !slices.Contains(feedmill.Scopes, scope) {
			f.Fault("Unknown scope. The scopes are " + feedmill.JoinScopes(feedmill.Scopes) + ".")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

func (s *Server) listKeys(c *call) (answer, error) {
	revoked := c.boolParameter("revoked")
	fetch := func(p feedmill.Page) ([]feedmill.Key, error) {
		workspace, err := s.listedWorkspace(c)
		if err != nil {
			return nil, err
		}
		return s.Store.Keys(c.ctx(), feedmill.KeyQuery{Page: p, Workspace: workspace, Revoked: revoked})
	}
	return listAnswer(c, feedmill.PrefixKey, fetch, func(k feedmill.Key) feedmill.ID { return k.ID }, viewKey)
}

// listedWorkspace is the one that a list is of: the caller's own, or one that it
// names and may look into.
func (s *Server) listedWorkspace(c *call) (feedmill.ID, error) {
	text, given := c.query["workspaceId"]
	if !given {
		return c.who.Workspace, nil
	}
	workspace, err := s.workspaceOf(c, text)
	if err != nil {
		err = noWorkspace(feedmill.Fault{Parameter: "workspaceId"})
	}
	return workspace, err
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

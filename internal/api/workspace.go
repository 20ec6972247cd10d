package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// WorkspaceStore has the workspaces.
type WorkspaceStore interface {
	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	WorkspaceByName(context.Context, string) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)
	ChangeWorkspace(ctx context.Context, id feedmill.ID, change func(*feedmill.Workspace) error) (feedmill.Workspace, error)
	// BeginDeletion marks a workspace as being deleted. Its records and files are removed in
	// the background.
	BeginDeletion(ctx context.Context, id feedmill.ID, at time.Time) (feedmill.Workspace, error)
	WorkspaceUsage(ctx context.Context, ids []feedmill.ID, since time.Time) (map[feedmill.ID]feedmill.Usage, error)
}

type workspaceView struct {
	ID            feedmill.ID    `json:"id"`
	Name          string         `json:"name"`
	ExternalID    *string        `json:"externalId"`
	Metadata      jsontext.Value `json:"metadata"`
	Quotas        quotasView     `json:"quotas"`
	Usage         usageView      `json:"usage"`
	CreatedAt     timestamp      `json:"createdAt"`
	LastRequestAt timestamp      `json:"lastRequestAt"`
	Deleting      *deletingView  `json:"deleting,omitzero"`
}

type quotasView struct {
	StoredBytes       *int64 `json:"storedBytes"`
	Subscriptions     *int   `json:"subscriptions"`
	ConcurrentUploads *int   `json:"concurrentUploads"`
	ConcurrentQueries *int   `json:"concurrentQueries"`
}

type usageView struct {
	StoredBytes       int64 `json:"storedBytes"`
	Feeds             int64 `json:"feeds"`
	Subscriptions     int64 `json:"subscriptions"`
	ConcurrentUploads int   `json:"concurrentUploads"`
	ConcurrentQueries int   `json:"concurrentQueries"`
	EventsPerDay      int64 `json:"eventsPerDay"`
}

type deletingView struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// viewWorkspace describes a workspace with what it uses.
func (s *Server) viewWorkspace(w feedmill.Workspace, u feedmill.Usage) workspaceView {
	view := workspaceView{
		ID: w.ID, Name: w.Name, Metadata: jsontext.Value("{}"), Quotas: quotasView(w.Quotas), CreatedAt: timestamp(w.CreatedAt), LastRequestAt: timestamp(w.LastRequestAt),
		Usage: usageView{
			StoredBytes: u.StoredBytes, Feeds: u.Feeds, Subscriptions: u.Subscriptions, EventsPerDay: u.Events,
			ConcurrentUploads: s.shares.uploads.Held(string(w.ID)), ConcurrentQueries: s.shares.queries.Held(string(w.ID)),
		},
	}
	if w.ExternalID != "" {
		view.ExternalID = &w.ExternalID
	}
	if w.Metadata != "" {
		view.Metadata = jsontext.Value(w.Metadata)
	}
	if w.Deleting != nil {
		view.Deleting = &deletingView{w.Deleting.Done, w.Deleting.Total}
	}
	return view
}

// workspaceAnswer is a workspace in its envelope.
func (s *Server) workspaceAnswer(c *call, status int, w feedmill.Workspace) (answer, error) {
	usage, err := s.Store.WorkspaceUsage(c.ctx(), []feedmill.ID{w.ID}, now().Add(-feedmill.UsageWindow))
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(status, resource{resourceMeta{workspaceURL(w.ID)}, s.viewWorkspace(w, usage[w.ID])}), nil
}

func workspaceURL(id feedmill.ID) string { return "/workspaces/" + string(id) }

func (s *Server) createWorkspace(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: needName(body), CreatedAt: now()}
	set := readWorkspace(body)
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if !c.who.AllWorkspaces {
		return answer{}, onlyOperators("create")
	}
	set(&w)
	a := created(workspaceURL(w.ID), s.viewWorkspace(w, feedmill.Usage{}))
	if err := s.Store.CreateWorkspace(c.ctx(), w, c.keep(a)); err != nil {
		return answer{}, s.workspaceTaken(c, w, err)
	}
	return a, nil
}

func onlyOperators(do string) error {
	return &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: `Only an admin of the workspace "default" can ` + do + ` workspaces.`}
}

// workspaceTaken says which member of a workspace is taken, where that is the error.
func (s *Server) workspaceTaken(c *call, w feedmill.Workspace, err error) error {
	if _, explained := errors.AsType[*feedmill.Error](err); explained || !errors.Is(err, feedmill.ErrConflict) {
		return err
	}
	taken := &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "name-taken", Detail: "A workspace with this external id already exists. Choose another one.",
		Faults: []feedmill.Fault{{Pointer: "/externalId", Detail: "The external id is already in use."}},
	}
	switch other, err := s.Store.WorkspaceByName(c.ctx(), w.Name); {
	case err == nil && other.ID != w.ID:
		taken.Detail = "A workspace with this name already exists. Choose another name."
		taken.Faults = []feedmill.Fault{{Pointer: "/name", Detail: "The name is already in use."}}
	case err != nil && !errors.Is(err, feedmill.ErrNotFound):
		return err
	}
	return taken
}

// workspaceID is the workspace that the path names. Another one than the caller's is only
// there for an admin of the workspace "default".
func (c *call) workspaceID() (feedmill.ID, error) {
	id, err := feedmill.ParseID(feedmill.PrefixWorkspace, c.r.PathValue("id"))
	if err == nil && id != c.who.Workspace && !c.who.AllWorkspaces {
		err = feedmill.ErrNotFound
	}
	return id, err
}

func (s *Server) getWorkspace(c *call) (answer, error) {
	id, err := c.workspaceID()
	if err != nil {
		return answer{}, err
	}
	w, err := s.Store.WorkspaceByID(c.ctx(), id)
	if err != nil {
		return answer{}, err
	}
	return s.workspaceAnswer(c, http.StatusOK, w)
}

func (s *Server) listWorkspaces(c *call) (answer, error) {
	type used struct {
		feedmill.Workspace
		feedmill.Usage
	}
	fetch := func(p feedmill.Page) ([]used, error) {
		found, err := s.visibleWorkspaces(c, p)
		if err != nil {
			return nil, err
		}
		ids := make([]feedmill.ID, len(found))
		for i, w := range found {
			ids[i] = w.ID
		}
		usage, err := s.Store.WorkspaceUsage(c.ctx(), ids, now().Add(-feedmill.UsageWindow))
		all := make([]used, len(found))
		for i, w := range found {
			all[i] = used{w, usage[w.ID]}
		}
		return all, err
	}
	return listAnswer(c, feedmill.PrefixWorkspace, fetch, func(w used) feedmill.ID { return w.ID }, func(w used) workspaceView { return s.viewWorkspace(w.Workspace, w.Usage) })
}

func (s *Server) visibleWorkspaces(c *call, p feedmill.Page) ([]feedmill.Workspace, error) {
	if c.who.AllWorkspaces {
		return s.Store.Workspaces(c.ctx(), p)
	}
	w, err := s.Store.WorkspaceByID(c.ctx(), c.who.Workspace)
	if err != nil || p.Before != "" && w.ID >= p.Before {
		return nil, err
	}
	return []feedmill.Workspace{w}, nil
}

func (s *Server) changeWorkspace(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	name := ""
	if f, ok := body.Get("name"); ok {
		name = f.Name(feedmill.MaxNameLen)
	}
	set := readWorkspace(body)
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	id, err := c.workspaceID()
	if err != nil {
		return answer{}, err
	}
	if !c.who.AllWorkspaces {
		return answer{}, onlyOperators("change")
	}
	var wanted feedmill.Workspace
	w, err := s.Store.ChangeWorkspace(c.ctx(), id, func(w *feedmill.Workspace) error {
		if w.Deleting != nil {
			return &feedmill.Error{Kind: feedmill.ErrConflict, Type: "workspace-deleting", Detail: "The workspace is being deleted and cannot be changed."}
		}
		if name != "" && name != w.Name {
			if w.Name == feedmill.DefaultWorkspace {
				return defaultStays("renamed", feedmill.Fault{Pointer: "/name", Detail: `The name of this workspace must stay "default".`})
			}
			w.Name = name
		}
		set(w)
		wanted = *w
		return nil
	})
	if err != nil {
		return answer{}, s.workspaceTaken(c, wanted, err)
	}
	s.Auth.Forget(id) // whose credentials have the quotas
	return s.workspaceAnswer(c, http.StatusOK, w)
}

func defaultStays(done string, at ...feedmill.Fault) error {
	return &feedmill.Error{Kind: feedmill.ErrConflict, Type: "default-workspace", Detail: `The workspace "default" cannot be ` + done + ".", Faults: at}
}

// deleteWorkspace begins the deletion of a workspace. Its credentials end immediately.
func (s *Server) deleteWorkspace(c *call) (answer, error) {
	confirm, given := c.query["confirm"]
	if !given {
		c.fault(feedmill.Fault{Parameter: "confirm", Detail: "confirm must be the name of the workspace."})
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	id, err := c.workspaceID()
	if err != nil {
		return answer{}, err
	}
	if !c.who.AllWorkspaces {
		return answer{}, onlyOperators("delete")
	}
	w, err := s.Store.WorkspaceByID(c.ctx(), id)
	switch {
	case err != nil:
		return answer{}, err
	case w.Name == feedmill.DefaultWorkspace:
		return answer{}, defaultStays("deleted")
	case confirm != w.Name:
		return answer{}, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "confirm-mismatch", Detail: "The name in confirm is not that of the workspace. Set confirm to " + strconv.Quote(w.Name) + ".",
			Faults: []feedmill.Fault{{Parameter: "confirm", Detail: "confirm must be the name of the workspace."}},
		}
	}
	if w, err = s.Store.BeginDeletion(c.ctx(), id, now()); err != nil {
		return answer{}, err
	}
	s.Auth.Forget(id)
	return s.workspaceAnswer(c, http.StatusAccepted, w)
}

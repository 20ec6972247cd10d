package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

const selectWorkspaces = `SELECT ` + WorkspaceColumns + ` FROM workspaces `

// CreateWorkspace adds a workspace. A name that is taken is feedmill.ErrConflict.
func (s Store) CreateWorkspace(ctx context.Context, w feedmill.Workspace, response *feedmill.IdempotentResponse) error {
	return s.create(ctx, response, insert("workspaces", WorkspaceColumns, Workspace(&w, s.d)...), Audited(ctx, s.d, w.ID, w.ID))
}

// create runs a statement, keeps a response to it, and writes who made it.
func (s Store) create(ctx context.Context, response *feedmill.IdempotentResponse, statement Statement, audited []Statement) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		return tx.Send(ctx, append([]Statement{statement}, audited...)...)
	})
}

// WorkspaceByID finds a workspace by its id.
func (s Store) WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error) {
	return one(ctx, s.db, s, Workspace, selectWorkspaces+`WHERE id = ?1`, id)
}

// WorkspaceByName finds a workspace by its name.
func (s Store) WorkspaceByName(ctx context.Context, name string) (feedmill.Workspace, error) {
	return one(ctx, s.db, s, Workspace, selectWorkspaces+`WHERE name = ?1`, name)
}

// Workspaces lists workspaces, newest first.
func (s Store) Workspaces(ctx context.Context, p feedmill.Page) ([]feedmill.Workspace, error) {
	return list(ctx, s.db, s, Workspace, selectWorkspaces+`WHERE id < ?1 ORDER BY id DESC LIMIT ?2`, before(p, feedmill.PrefixWorkspace), p.Limit)
}

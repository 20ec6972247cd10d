package postgres

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanWorkspace = scanner(record.Workspace)

// CreateWorkspace adds a workspace. A name that is taken is feedmill.ErrConflict.
func (db *DB) CreateWorkspace(ctx context.Context, w feedmill.Workspace, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx tx) error {
		if err := tx.keepResponse(ctx, response); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `INSERT INTO workspaces (`+record.WorkspaceColumns+`) VALUES ($1, $2, $3)`, record.Workspace(&w, kinds{})...)
		return err
	})
}

// WorkspaceByID finds a workspace by its id.
func (db *DB) WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error) {
	return scanWorkspace(db.pool.QueryRow(ctx, `SELECT `+record.WorkspaceColumns+` FROM workspaces WHERE id = $1`, id))
}

// WorkspaceByName finds a workspace by its name.
func (db *DB) WorkspaceByName(ctx context.Context, name string) (feedmill.Workspace, error) {
	return scanWorkspace(db.pool.QueryRow(ctx, `SELECT `+record.WorkspaceColumns+` FROM workspaces WHERE name = $1`, name))
}

// Workspaces lists workspaces, newest first.
func (db *DB) Workspaces(ctx context.Context, p feedmill.Page) ([]feedmill.Workspace, error) {
	rows, err := db.rows(ctx, `SELECT `+record.WorkspaceColumns+` FROM workspaces
		WHERE ($1 = '' OR id < $1) ORDER BY id DESC LIMIT $2`, p.Before, p.Limit)
	return all(rows, err, scanWorkspace)
}

package sqlite

import (
	"context"
	"database/sql"

	"github.com/feedmill/feedmill"
)

const workspaceColumns = `id, name, created_at`

func scanWorkspace(row interface{ Scan(...any) error }) (w feedmill.Workspace, err error) {
	var created sql.NullInt64
	err = row.Scan(&w.ID, &w.Name, &created)
	w.CreatedAt = fromMillis(created)
	return w, translate(err)
}

// CreateWorkspace adds a workspace. A name that is taken is feedmill.ErrConflict.
func (db *DB) CreateWorkspace(ctx context.Context, w feedmill.Workspace, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.keep(response); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO workspaces (`+workspaceColumns+`) VALUES (?, ?, ?)`,
			w.ID, w.Name, toMillis(w.CreatedAt))
		return err
	})
}

// WorkspaceByID finds a workspace by its id.
func (db *DB) WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error) {
	return scanWorkspace(db.row(ctx, `SELECT `+workspaceColumns+` FROM workspaces WHERE id = ?`, id))
}

// WorkspaceByName finds a workspace by its name.
func (db *DB) WorkspaceByName(ctx context.Context, name string) (feedmill.Workspace, error) {
	return scanWorkspace(db.row(ctx, `SELECT `+workspaceColumns+` FROM workspaces WHERE name = ?`, name))
}

// Workspaces lists workspaces, newest first.
func (db *DB) Workspaces(ctx context.Context, p feedmill.Page) ([]feedmill.Workspace, error) {
	rows, err := db.rows(ctx, `SELECT `+workspaceColumns+` FROM workspaces
		WHERE (?1 = '' OR id < ?1) ORDER BY id DESC LIMIT ?2`, p.Before, p.Limit)
	return all(rows, err, scanWorkspace)
}

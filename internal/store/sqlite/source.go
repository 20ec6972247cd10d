package sqlite

import (
	"context"
	"database/sql"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/jsontext"
)

const sourceColumns = `workspace_id, id, type, host, due_at, run, leased_until, schedule, spec, secrets, created_at, updated_at`

const oneSource = `SELECT ` + sourceColumns + ` FROM sources WHERE workspace_id = ? AND id = ?`

func scanSource(row interface{ Scan(...any) error }) (s feedmill.Source, err error) {
	var due, leased, created, updated sql.NullInt64
	err = row.Scan(&s.Workspace, &s.ID, &s.Type, &s.Host, &due, &s.Run, &leased, jsontext.Schedule(&s.Schedule), &s.Spec, &s.Secrets,
		&created, &updated)
	s.DueAt, s.LeasedUntil, s.CreatedAt, s.UpdatedAt = fromMillis(due), fromMillis(leased), fromMillis(created), fromMillis(updated)
	return s, translate(err)
}

// Source finds a source.
func (db *DB) Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return scanSource(db.row(ctx, oneSource, workspace, id))
}

func (t *tx) insertSource(s feedmill.Source) error {
	_, err := t.exec(`INSERT INTO sources (`+sourceColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.Workspace, s.ID, s.Type, s.Host, toMillis(s.DueAt), s.Run, toMillis(s.LeasedUntil), jsontext.Schedule(&s.Schedule), s.Spec, s.Secrets,
		toMillis(s.CreatedAt), toMillis(s.UpdatedAt))
	return err
}

func (t *tx) updateSource(s feedmill.Source) error {
	_, err := t.exec(`UPDATE sources SET host = ?, due_at = ?, run = ?, leased_until = ?, schedule = ?, spec = ?, secrets = ?, updated_at = ?
		WHERE workspace_id = ? AND id = ?`,
		s.Host, toMillis(s.DueAt), s.Run, toMillis(s.LeasedUntil), jsontext.Schedule(&s.Schedule), s.Spec, s.Secrets, toMillis(s.UpdatedAt),
		s.Workspace, s.ID)
	return err
}

// deleteUnusedSource deletes a source that no feed is made of any more.
func (t *tx) deleteUnusedSource(workspace, id feedmill.ID) error {
	_, err := t.exec(`DELETE FROM sources WHERE workspace_id = ?1 AND id = ?2
		AND NOT EXISTS (SELECT 1 FROM feeds WHERE workspace_id = ?1 AND source_id = ?2)`, workspace, id)
	return err
}

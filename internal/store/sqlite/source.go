package sqlite

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const oneSource = `SELECT ` + record.SourceColumns + ` FROM sources WHERE workspace_id = ? AND id = ?`

var scanSource = scanner(record.Source)

// Source finds a source.
func (db *DB) Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return scanSource(db.row(ctx, oneSource, workspace, id))
}

func (t *tx) insertSource(s feedmill.Source) error {
	_, err := t.exec(`INSERT INTO sources (`+record.SourceColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		record.Source(&s, kinds{})...)
	return err
}

func (t *tx) updateSource(s feedmill.Source) error {
	_, err := t.exec(`UPDATE sources SET (`+record.SourceChanging+`) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE workspace_id = ? AND id = ?`,
		append(record.ChangingSource(&s, kinds{}), s.Workspace, s.ID)...)
	return err
}

// deleteUnusedSource deletes a source that no feed is made of any more.
func (t *tx) deleteUnusedSource(workspace, id feedmill.ID) error {
	_, err := t.exec(`DELETE FROM sources WHERE workspace_id = ?1 AND id = ?2
		AND NOT EXISTS (SELECT 1 FROM feeds WHERE workspace_id = ?1 AND source_id = ?2)`, workspace, id)
	return err
}

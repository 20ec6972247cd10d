package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const oneSource = `SELECT ` + record.SourceColumns + ` FROM sources WHERE workspace_id = $1 AND id = $2`

var scanSource = scanner(record.Source)

// Source finds a source.
func (db *DB) Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return scanSource(db.pool.QueryRow(ctx, oneSource, workspace, id))
}

// lockSource finds a source and keeps everybody else from changing it.
func (t tx) lockSource(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return scanSource(t.QueryRow(ctx, oneSource+` FOR UPDATE`, workspace, id))
}

func insertSource(b *pgx.Batch, s feedmill.Source) {
	b.Queue(`INSERT INTO sources (`+record.SourceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		record.Source(&s, kinds{})...)
}

func updateSource(b *pgx.Batch, s feedmill.Source) {
	b.Queue(`UPDATE sources SET (`+record.SourceChanging+`) = ($1, $2, $3, $4, $5, $6, $7, $8) WHERE workspace_id = $9 AND id = $10`,
		append(record.ChangingSource(&s, kinds{}), s.Workspace, s.ID)...)
}

// deleteUnusedSource deletes a source that no feed is made of any more.
func deleteUnusedSource(b *pgx.Batch, workspace, id feedmill.ID) {
	b.Queue(`DELETE FROM sources WHERE workspace_id = $1 AND id = $2
		AND NOT EXISTS (SELECT 1 FROM feeds WHERE workspace_id = $1 AND source_id = $2)`, workspace, id)
}

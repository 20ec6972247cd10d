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

func queueNewSource(b *pgx.Batch, s feedmill.Source) {
	b.Queue(`INSERT INTO sources (`+record.SourceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		record.Source(&s, kinds{})...)
}

func queueSource(b *pgx.Batch, s feedmill.Source) {
	b.Queue(`UPDATE sources SET (`+record.SourceChanging+`) = ($1, $2, $3, $4, $5, $6, $7, $8) WHERE workspace_id = $9 AND id = $10`,
		append(record.ChangingSource(&s, kinds{}), s.Workspace, s.ID)...)
}

package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/jsontext"
)

const sourceColumns = `workspace_id, id, type, host, due_at, run, leased_until, schedule, spec, secrets, created_at, updated_at`

const oneSource = `SELECT ` + sourceColumns + ` FROM sources WHERE workspace_id = $1 AND id = $2`

func scanSource(row pgx.Row) (s feedmill.Source, err error) {
	var due, leased *time.Time
	err = row.Scan(&s.Workspace, &s.ID, &s.Type, &s.Host, &due, &s.Run, &leased, jsontext.Schedule(&s.Schedule), &s.Spec, &s.Secrets,
		&s.CreatedAt, &s.UpdatedAt)
	s.DueAt, s.LeasedUntil, s.CreatedAt, s.UpdatedAt = orZero(due), orZero(leased), s.CreatedAt.UTC(), s.UpdatedAt.UTC()
	return s, translate(err)
}

// Source finds a source.
func (db *DB) Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return scanSource(db.pool.QueryRow(ctx, oneSource, workspace, id))
}

// lockSource finds a source and keeps everybody else from changing it.
func (t tx) lockSource(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error) {
	return scanSource(t.QueryRow(ctx, oneSource+` FOR UPDATE`, workspace, id))
}

func queueNewSource(b *pgx.Batch, s feedmill.Source) {
	b.Queue(`INSERT INTO sources (`+sourceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		s.Workspace, s.ID, s.Type, s.Host, orNull(s.DueAt), s.Run, orNull(s.LeasedUntil), jsontext.Schedule(&s.Schedule), s.Spec, s.Secrets,
		s.CreatedAt, s.UpdatedAt)
}

func queueSource(b *pgx.Batch, s feedmill.Source) {
	b.Queue(`UPDATE sources SET host = $1, due_at = $2, run = $3, leased_until = $4, schedule = $5, spec = $6, secrets = $7, updated_at = $8
		WHERE workspace_id = $9 AND id = $10`,
		s.Host, orNull(s.DueAt), s.Run, orNull(s.LeasedUntil), jsontext.Schedule(&s.Schedule), s.Spec, s.Secrets, s.UpdatedAt,
		s.Workspace, s.ID)
}

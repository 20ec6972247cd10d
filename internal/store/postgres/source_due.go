package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dueSources finds sources that are due in the order of their turns: all of those
// in one workspace that ask the same host stand in one line.
const dueSources = `SELECT ` + record.DueSourceColumns + ` FROM (
	SELECT workspace_id, id, host, due_at, row_number() OVER (PARTITION BY workspace_id, host ORDER BY due_at, id) AS turn
	FROM sources WHERE due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)) s
	WHERE turn <= $2 ORDER BY due_at, id LIMIT $3`

// DueSources are sources that are due and that no run has.
func (db *DB) DueSources(ctx context.Context, now time.Time, each, limit int) ([]feedmill.DueSource, error) {
	rows, err := db.steady.Query(ctx, dueSources, now, each, limit)
	return all(rows, translate(err), scanner(record.DueSource))
}

// RenewSource extends the lease of a run that still has it, and notes how far its
// refreshes have come.
func (db *DB) RenewSource(ctx context.Context, workspace, id feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error {
	return db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE sources SET leased_until = $1 WHERE workspace_id = $2 AND id = $3 AND run = $4 AND leased_until IS NOT NULL`,
			until, workspace, id, run)
		if err != nil {
			return err
		}
		if n == 0 {
			if _, err := scanSource(tx.QueryRow(ctx, oneSource, workspace, id)); err != nil {
				return err
			}
			return feedmill.ErrConflict
		}
		return tx.send(ctx, func(b *pgx.Batch) error {
			for _, r := range progress {
				b.Queue(`UPDATE refreshes SET requests = $1, pages = $2, bytes_in = $3, rows_in = $4
					WHERE workspace_id = $5 AND feed_id = $6 AND id = $7 AND state = 'running'`,
					r.Requests, r.Pages, r.BytesIn, r.RowsIn, workspace, r.Feed, r.ID)
			}
			return nil
		})
	})
}

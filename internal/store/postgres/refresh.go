package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanRefresh = scanner(record.Refresh)

// supersede notes that a refresh is not the last one of its feed any more.
const supersede = `UPDATE refreshes SET superseded = true WHERE workspace_id = $1 AND feed_id = $2 AND id = $3`

// replaceRefresh writes a refresh that takes the place of the feed's last one.
func replaceRefresh(b *pgx.Batch, f feedmill.Feed, r feedmill.Refresh) {
	b.Queue(supersede, f.Workspace, f.ID, record.LastRefresh(f))
	putRefresh(b, f.Workspace, r, false)
}

// putRefresh writes a refresh, as the last one of its feed where it is not
// superseded.
func putRefresh(b *pgx.Batch, workspace feedmill.ID, r feedmill.Refresh, superseded bool) {
	b.Queue(`INSERT INTO refreshes (workspace_id, superseded, `+record.RefreshColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (workspace_id, feed_id, id) DO UPDATE SET state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
		requests = excluded.requests, pages = excluded.pages, bytes_in = excluded.bytes_in, rows_in = excluded.rows_in, rows_stored = excluded.rows_stored,
		rows_rejected = excluded.rows_rejected, rejects = excluded.rejects, version = excluded.version, unchanged = excluded.unchanged,
		warnings = excluded.warnings, error = excluded.error, superseded = excluded.superseded`,
		append([]any{workspace, superseded}, record.Refresh(&r, kinds{})...)...)
}

var refreshesOf = `SELECT ` + record.Of("r", record.RefreshColumns) + ` FROM refreshes r WHERE r.workspace_id = $1 AND r.feed_id = $2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = $1 AND f.id = $2)`

// Refresh finds a refresh of a feed.
func (db *DB) Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error) {
	return scanRefresh(db.pool.QueryRow(ctx, refreshesOf+` AND r.id = $3`, workspace, feed, id))
}

// Refreshes lists the refreshes of a feed, newest first.
func (db *DB) Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error) {
	rows, err := db.rows(ctx, refreshesOf+` AND ($3 = '' OR r.id < $3) ORDER BY r.id DESC LIMIT $4`, workspace, feed, p.Before, p.Limit)
	return all(rows, err, scanRefresh)
}

// ForgetRefreshes removes refreshes that began before the time given, but for
// the last one of each feed and those that have not ended, and returns the files
// that nothing has any more.
func (db *DB) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit, `DELETE FROM refreshes WHERE (workspace_id, feed_id, id) IN (
		SELECT workspace_id, feed_id, id FROM refreshes r WHERE superseded AND id < $1
			AND (state NOT IN ('pending', 'running') OR NOT EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = r.workspace_id AND f.id = r.feed_id))
			ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING rejects, ''`, feedmill.FirstID(feedmill.PrefixRefresh, before))
}

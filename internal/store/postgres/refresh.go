package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/jsontext"
)

// refreshColumns are those of a refresh r, empty where a feed has none.
const refreshColumns = `coalesce(r.id, ''), coalesce(r.feed_id, ''), coalesce(r.state, ''), r.started_at, r.ended_at,
	coalesce(r.bytes_in, 0), coalesce(r.rows_in, 0), coalesce(r.rows_stored, 0), coalesce(r.rows_rejected, 0), coalesce(r.rejects, ''),
	coalesce(r.version, 0), coalesce(r.warnings, 'null'), coalesce(r.error, 'null')`

// refreshRow is where refreshColumns are scanned.
type refreshRow struct {
	feedmill.Refresh
	started, ended *time.Time
}

func (r *refreshRow) fields() []any {
	return []any{
		&r.ID, &r.Feed, &r.State, &r.started, &r.ended, &r.BytesIn, &r.RowsIn, &r.RowsStored, &r.RowsRejected, &r.Rejects,
		&r.Version, jsontext.Of(&r.Warnings), jsontext.Of(&r.Error),
	}
}

func (r *refreshRow) refresh() feedmill.Refresh {
	r.StartedAt, r.EndedAt = orZero(r.started), orZero(r.ended)
	return r.Refresh
}

func scanRefresh(row pgx.Row) (feedmill.Refresh, error) {
	var r refreshRow
	err := row.Scan(r.fields()...)
	return r.refresh(), translate(err)
}

// replaceRefresh writes a refresh that takes the place of the feed's last one.
func (t tx) replaceRefresh(ctx context.Context, f feedmill.Feed, r feedmill.Refresh) error {
	if _, err := t.exec(ctx, `UPDATE refreshes SET superseded = true WHERE workspace_id = $1 AND feed_id = $2 AND id = $3`,
		f.Workspace, f.ID, lastRefresh(f)); err != nil {
		return err
	}
	return t.putRefresh(ctx, f.Workspace, r)
}

// putRefresh writes a refresh as the last one of its feed.
func (t tx) putRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh) error {
	_, err := t.exec(ctx, `INSERT INTO refreshes (workspace_id, feed_id, id, state, started_at, ended_at, bytes_in, rows_in, rows_stored,
		rows_rejected, rejects, version, warnings, error, superseded) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, false)
		ON CONFLICT (workspace_id, feed_id, id) DO UPDATE SET state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
		bytes_in = excluded.bytes_in, rows_in = excluded.rows_in, rows_stored = excluded.rows_stored, rows_rejected = excluded.rows_rejected,
		rejects = excluded.rejects, version = excluded.version, warnings = excluded.warnings, error = excluded.error, superseded = false`,
		workspace, r.Feed, r.ID, r.State, r.StartedAt, orNull(r.EndedAt), r.BytesIn, r.RowsIn, r.RowsStored, r.RowsRejected,
		r.Rejects, r.Version, jsontext.Of(&r.Warnings), jsontext.Of(&r.Error))
	return err
}

const refreshesOf = `SELECT ` + refreshColumns + ` FROM refreshes r WHERE r.workspace_id = $1 AND r.feed_id = $2
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
// the last one of each feed, and answers the files that nothing has any more.
func (db *DB) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit, `DELETE FROM refreshes WHERE (workspace_id, feed_id, id) IN (
		SELECT workspace_id, feed_id, id FROM refreshes WHERE superseded AND id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING rejects, ''`, feedmill.FirstID(feedmill.PrefixRefresh, before))
}

package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/jsontext"
)

// refreshColumns are those of a refresh r, empty where a feed has none.
const refreshColumns = `coalesce(r.id, ''), coalesce(r.feed_id, ''), coalesce(r.state, ''), r.started_at, r.ended_at,
	coalesce(r.requests, 0), coalesce(r.pages, 0), coalesce(r.bytes_in, 0), coalesce(r.rows_in, 0), coalesce(r.rows_stored, 0), coalesce(r.rows_rejected, 0), coalesce(r.rejects, ''),
	coalesce(r.version, 0), coalesce(r.unchanged, 0), coalesce(r.warnings, 'null'), coalesce(r.error, 'null')`

// refreshRow is where refreshColumns are scanned.
type refreshRow struct {
	feedmill.Refresh
	started, ended sql.NullInt64
}

func (r *refreshRow) fields() []any {
	return []any{
		&r.ID, &r.Feed, &r.State, &r.started, &r.ended, &r.Requests, &r.Pages, &r.BytesIn, &r.RowsIn, &r.RowsStored, &r.RowsRejected, &r.Rejects,
		&r.Version, &r.Unchanged, jsontext.Of(&r.Warnings), jsontext.Of(&r.Error),
	}
}

func (r *refreshRow) refresh() feedmill.Refresh {
	r.StartedAt, r.EndedAt = fromMillis(r.started), fromMillis(r.ended)
	return r.Refresh
}

func scanRefresh(row interface{ Scan(...any) error }) (feedmill.Refresh, error) {
	var r refreshRow
	err := row.Scan(r.fields()...)
	return r.refresh(), translate(err)
}

// supersede notes that a refresh is not the last one of its feed any more.
const supersede = `UPDATE refreshes SET superseded = 1 WHERE workspace_id = ? AND feed_id = ? AND id = ?`

// replaceRefresh writes a refresh that takes the place of the feed's last one.
func (t *tx) replaceRefresh(f feedmill.Feed, r feedmill.Refresh) error {
	if _, err := t.exec(supersede, f.Workspace, f.ID, lastRefresh(f)); err != nil {
		return err
	}
	return t.putRefresh(f.Workspace, r, false)
}

// putRefresh writes a refresh, as the last one of its feed where it is not
// superseded.
func (t *tx) putRefresh(workspace feedmill.ID, r feedmill.Refresh, superseded bool) error {
	_, err := t.exec(`INSERT INTO refreshes (workspace_id, feed_id, id, state, started_at, ended_at, requests, pages, bytes_in, rows_in, rows_stored,
		rows_rejected, rejects, version, unchanged, warnings, error, superseded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (workspace_id, feed_id, id) DO UPDATE SET state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
		requests = excluded.requests, pages = excluded.pages, bytes_in = excluded.bytes_in, rows_in = excluded.rows_in, rows_stored = excluded.rows_stored,
		rows_rejected = excluded.rows_rejected, rejects = excluded.rejects, version = excluded.version, unchanged = excluded.unchanged,
		warnings = excluded.warnings, error = excluded.error, superseded = excluded.superseded`,
		workspace, r.Feed, r.ID, r.State, toMillis(r.StartedAt), toMillis(r.EndedAt), r.Requests, r.Pages, r.BytesIn, r.RowsIn, r.RowsStored,
		r.RowsRejected, r.Rejects, r.Version, r.Unchanged, jsontext.Of(&r.Warnings), jsontext.Of(&r.Error), superseded)
	return err
}

const refreshesOf = `SELECT ` + refreshColumns + ` FROM refreshes r WHERE r.workspace_id = ?1 AND r.feed_id = ?2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = ?1 AND f.id = ?2)`

// Refresh finds a refresh of a feed.
func (db *DB) Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error) {
	return scanRefresh(db.row(ctx, refreshesOf+` AND r.id = ?3`, workspace, feed, id))
}

// Refreshes lists the refreshes of a feed, newest first.
func (db *DB) Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error) {
	rows, err := db.rows(ctx, refreshesOf+` AND r.id < ?3 ORDER BY r.id DESC LIMIT ?4`, workspace, feed, before(p, feedmill.PrefixRefresh), p.Limit)
	return all(rows, err, scanRefresh)
}

// ForgetRefreshes removes refreshes that began before the time given, but for
// the last one of each feed and those that have not ended, and answers the files
// that nothing has any more.
func (db *DB) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit,
		`SELECT rowid, rejects, '' FROM refreshes r INDEXED BY refreshes_superseded WHERE superseded = 1 AND id < ?
			AND (state NOT IN ('pending', 'running') OR NOT EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = r.workspace_id AND f.id = r.feed_id))
			ORDER BY id LIMIT ?`,
		feedmill.FirstID(feedmill.PrefixRefresh, before), `DELETE FROM refreshes WHERE rowid = ?`)
}

package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanRefresh = scanner(record.Refresh)

// supersede notes that a refresh is not the last one of its feed any more.
const supersede = `UPDATE refreshes SET superseded = 1 WHERE workspace_id = ? AND feed_id = ? AND id = ?`

// replaceRefresh writes a refresh that takes the place of the feed's last one.
func (t *tx) replaceRefresh(f feedmill.Feed, r feedmill.Refresh) error {
	if _, err := t.exec(supersede, f.Workspace, f.ID, record.LastRefresh(f)); err != nil {
		return err
	}
	return t.putRefresh(f.Workspace, r, false)
}

// putRefresh writes a refresh, as the last one of its feed where it is not
// superseded.
func (t *tx) putRefresh(workspace feedmill.ID, r feedmill.Refresh, superseded bool) error {
	_, err := t.exec(`INSERT INTO refreshes (workspace_id, superseded, `+record.RefreshColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (workspace_id, feed_id, id) DO UPDATE SET state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
		requests = excluded.requests, pages = excluded.pages, bytes_in = excluded.bytes_in, rows_in = excluded.rows_in, rows_stored = excluded.rows_stored,
		rows_rejected = excluded.rows_rejected, rejects = excluded.rejects, version = excluded.version, unchanged = excluded.unchanged,
		warnings = excluded.warnings, error = excluded.error, superseded = excluded.superseded`,
		append([]any{workspace, superseded}, record.Refresh(&r, kinds{})...)...)
	return err
}

var refreshesOf = `SELECT ` + record.Of("r", record.RefreshColumns) + ` FROM refreshes r WHERE r.workspace_id = ?1 AND r.feed_id = ?2
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
// the last one of each feed and those that have not ended, and returns the files
// that nothing has any more.
func (db *DB) ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit,
		`SELECT rowid, rejects, '' FROM refreshes r INDEXED BY refreshes_superseded WHERE superseded = 1 AND id < ?
			AND (state NOT IN ('pending', 'running') OR NOT EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = r.workspace_id AND f.id = r.feed_id))
			ORDER BY id LIMIT ?`,
		feedmill.FirstID(feedmill.PrefixRefresh, before), `DELETE FROM refreshes WHERE rowid = ?`)
}

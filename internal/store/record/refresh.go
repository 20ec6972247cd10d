package record

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
)

// supersede notes that a refresh is not the last one of its feed any more.
const supersede = `UPDATE refreshes SET superseded = true WHERE workspace_id = ?1 AND feed_id = ?2 AND id = ?3`

// replaceRefresh writes a refresh that takes the place of the feed's last one.
func (s Store) replaceRefresh(f feedmill.Feed, r feedmill.Refresh) []Statement {
	return append([]Statement{{supersede, []any{f.Workspace, f.ID, LastRefresh(f)}}}, s.putRefresh(f.Workspace, r, false)...)
}

// putRefresh writes a refresh, as the last one of its feed where it is not
// superseded.
func (s Store) putRefresh(workspace feedmill.ID, r feedmill.Refresh, superseded bool) []Statement {
	put := insert("refreshes", `workspace_id, superseded, `+RefreshColumns, append([]any{workspace, superseded}, Refresh(&r, s.d)...)...)
	put.SQL += ` ON CONFLICT (workspace_id, feed_id, id) DO UPDATE SET state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at,
		requests = excluded.requests, pages = excluded.pages, bytes_in = excluded.bytes_in, rows_in = excluded.rows_in, rows_stored = excluded.rows_stored,
		rows_rejected = excluded.rows_rejected, rejects = excluded.rejects, version = excluded.version, unchanged = excluded.unchanged,
		warnings = excluded.warnings, error = excluded.error, parts = excluded.parts, parts_done = excluded.parts_done, changes = excluded.changes, checks = excluded.checks,
		triggered_by = excluded.triggered_by, stage = excluded.stage, rows_superseded = excluded.rows_superseded, rows_known = excluded.rows_known, superseded = excluded.superseded`
	return append(s.useObjects(workspace, r.Rejects), put)
}

var refreshesOf = `SELECT ` + Of("r", RefreshColumns) + ` FROM refreshes r WHERE r.workspace_id = ?1 AND r.feed_id = ?2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = ?1 AND f.id = ?2) `

// Refresh finds a refresh of a feed.
func (s Store) Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error) {
	return one(ctx, s.db, s, Refresh, refreshesOf+`AND r.id = ?3`, workspace, feed, id)
}

// Refreshes lists the refreshes of a feed, newest first.
func (s Store) Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error) {
	return list(ctx, s.db, s, Refresh, refreshesOf+`AND r.id < ?3 ORDER BY r.id DESC LIMIT ?4`,
		workspace, feed, before(p, feedmill.PrefixRefresh), p.Limit)
}

// RefreshTrace is what was asked for in a refresh, none where that is not known.
func (s Store) RefreshTrace(ctx context.Context, workspace, feed, id feedmill.ID) (requests []feedmill.TracedRequest, err error) {
	if _, err := s.Refresh(ctx, workspace, feed, id); err != nil {
		return nil, err
	}
	err = s.db.One(ctx, `SELECT trace FROM refresh_traces WHERE workspace_id = ?1 AND feed_id = ?2 AND refresh_id = ?3`,
		[]any{workspace, feed, id}, PackedJSON(&requests))
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil, nil
	}
	return requests, err
}

package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

// UnmaskedConnections lists connections, of all workspaces, whose secrets can be in errors that an
// earlier release stored.
func (s Store) UnmaskedConnections(ctx context.Context, limit int) ([]feedmill.Connection, error) {
	return list(ctx, s.db, s, Connection, `SELECT `+ConnectionColumns+` FROM connections
		WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM unmasked_connections) ORDER BY workspace_id, id LIMIT ?1`, limit)
}

// MaskErrors masks the errors of the feeds of a connection and of their refreshes, after which
// UnmaskedConnections no longer lists it.
func (s Store) MaskErrors(ctx context.Context, workspace, connection feedmill.ID, mask func(string) string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		var all []Statement
		const of = ` FROM sources s JOIN feeds f ON f.workspace_id = s.workspace_id AND f.source_id = s.id`
		const where = ` WHERE s.workspace_id = ?1 AND s.type = ?2 AND s.host = ?3`
		err := tx.Each(ctx, func(row Row) error {
			var feed feedmill.ID
			var failure *feedmill.FeedError
			if err := row.Scan(&feed, JSON(&failure)); err != nil || !maskError(failure, mask) {
				return err
			}
			all = append(all, Statement{`UPDATE feeds SET last_error = ?3 WHERE workspace_id = ?1 AND id = ?2`, []any{workspace, feed, JSON(&failure)}})
			return nil
		}, `SELECT f.id, f.last_error`+of+where, workspace, feedmill.ConnectedType(), string(connection))
		if err != nil {
			return err
		}
		err = tx.Each(ctx, func(row Row) error {
			var feed, refresh feedmill.ID
			var failure *feedmill.FeedError
			if err := row.Scan(&feed, &refresh, JSON(&failure)); err != nil || !maskError(failure, mask) {
				return err
			}
			all = append(all, Statement{`UPDATE refreshes SET error = ?4 WHERE workspace_id = ?1 AND feed_id = ?2 AND id = ?3`, []any{workspace, feed, refresh, JSON(&failure)}})
			return nil
		}, `SELECT r.feed_id, r.id, r.error`+of+` JOIN refreshes r ON r.workspace_id = f.workspace_id AND r.feed_id = f.id`+where+` AND r.error <> 'null'`, workspace, feedmill.ConnectedType(), string(connection))
		if err != nil {
			return err
		}
		return tx.Send(ctx, append(all, Statement{`DELETE FROM unmasked_connections WHERE workspace_id = ?1 AND id = ?2`, []any{workspace, connection}})...)
	})
}

// maskError masks an error, and reports whether that changed it.
func maskError(e *feedmill.FeedError, mask func(string) string) (changed bool) {
	if e == nil {
		return false
	}
	masked := mask(e.Detail)
	changed = masked != e.Detail
	e.Detail = masked
	return changed
}

package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

// maskRefreshes is how many refreshes of a feed one transaction of MaskErrors reads.
const maskRefreshes = 200

// UnmaskedConnections lists connections, of all workspaces, whose secrets can be in errors that an
// earlier release stored. The list continues after the connection given; a zero one starts it.
func (s Store) UnmaskedConnections(ctx context.Context, after feedmill.Connection, limit int) ([]feedmill.Connection, error) {
	return list(ctx, s.db, s, Connection, `SELECT `+ConnectionColumns+` FROM connections
		WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM unmasked_connections WHERE (workspace_id, id) > (?1, ?2))
		ORDER BY workspace_id, id LIMIT ?3`, after.Workspace, after.ID, limit)
}

// MaskErrors masks the errors of the feeds of a connection and of their refreshes, after which
// UnmaskedConnections no longer lists it. A transaction takes at most maskRefreshes refreshes of
// one feed, so that other writers wait little. Masking twice changes nothing, so it can start again.
func (s Store) MaskErrors(ctx context.Context, workspace, connection feedmill.ID, mask func(string) string) error {
	var feeds []feedmill.ID
	err := s.db.Each(ctx, func(row Row) error {
		var feed feedmill.ID
		err := row.Scan(&feed)
		feeds = append(feeds, feed)
		return err
	}, `SELECT f.id FROM sources s JOIN feeds f ON f.workspace_id = s.workspace_id AND f.source_id = s.id
		WHERE s.workspace_id = ?1 AND s.type = ?2 AND s.host = ?3`, workspace, feedmill.ConnectedType(), string(connection))
	if err != nil {
		return err
	}
	for _, feed := range feeds {
		if err := s.maskFeed(ctx, workspace, feed, mask); err != nil {
			return err
		}
		var last feedmill.ID
		for read := maskRefreshes; read == maskRefreshes; {
			if err := ctx.Err(); err != nil { // a write that has been taken is not called off
				return err
			}
			if read, last, err = s.maskRefreshes(ctx, workspace, feed, last, mask); err != nil {
				return err
			}
		}
	}
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `DELETE FROM unmasked_connections WHERE workspace_id = ?1 AND id = ?2`, workspace, connection)
		return err
	})
}

// maskFeed masks the last error of a feed.
func (s Store) maskFeed(ctx context.Context, workspace, feed feedmill.ID, mask func(string) string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		const row = `feeds WHERE workspace_id = ?1 AND id = ?2`
		if err := s.lock(ctx, tx, row, workspace, feed); err != nil {
			return err
		}
		var failure *feedmill.FeedError
		if err := tx.Each(ctx, func(row Row) error { return row.Scan(JSON(&failure)) }, `SELECT last_error FROM `+row, workspace, feed); err != nil || !maskError(failure, mask) {
			return err
		}
		_, err := tx.Run(ctx, `UPDATE feeds SET last_error = ?3 WHERE workspace_id = ?1 AND id = ?2`, workspace, feed, JSON(&failure))
		return err
	})
}

// maskRefreshes masks the errors of some refreshes of a feed, and returns how many it has read and
// the last of them.
func (s Store) maskRefreshes(ctx context.Context, workspace, feed, after feedmill.ID, mask func(string) string) (read int, last feedmill.ID, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		var masked []Statement
		read = 0
		err := tx.Each(ctx, func(row Row) error {
			var failure *feedmill.FeedError
			read++
			if err := row.Scan(&last, JSON(&failure)); err != nil || !maskError(failure, mask) {
				return err
			}
			masked = append(masked, Statement{`UPDATE refreshes SET error = ?4 WHERE workspace_id = ?1 AND feed_id = ?2 AND id = ?3`, []any{workspace, feed, last, JSON(&failure)}})
			return nil
		}, `SELECT id, error FROM refreshes WHERE workspace_id = ?1 AND feed_id = ?2 AND id > ?3 ORDER BY id LIMIT ?4`, workspace, feed, after, maskRefreshes)
		if err != nil {
			return err
		}
		return tx.Send(ctx, masked...)
	})
	return read, last, err
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

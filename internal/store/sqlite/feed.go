package sqlite

import (
	"context"

	"github.com/feedmill/feedmill"
)

// RegisterFeed notes that a data feed is made of a data source.
func (db *DB) RegisterFeed(ctx context.Context, workspace, feed, source feedmill.ID) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`INSERT INTO feeds (id, workspace_id, source_id) VALUES (?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET source_id = excluded.source_id WHERE workspace_id = excluded.workspace_id`,
			feed, workspace, source)
		if err == nil && n == 0 {
			return feedmill.ErrConflict
		}
		return err
	})
}

// FeedSource finds the source behind a feed of the workspace.
func (db *DB) FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error) {
	err = db.row(ctx, `SELECT source_id FROM feeds WHERE id = ? AND workspace_id = ?`, feed, workspace).Scan(&source)
	return source, translate(err)
}

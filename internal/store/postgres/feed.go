package postgres

import (
	"context"

	"github.com/feedmill/feedmill"
)

// RegisterFeed notes that a data feed is made of a data source.
func (db *DB) RegisterFeed(ctx context.Context, workspace, feed, source feedmill.ID) error {
	return db.write(ctx, func(tx tx) error {
		_, err := tx.exec(ctx, `INSERT INTO feed_sources (workspace_id, feed_id, source_id) VALUES ($1, $2, $3)
			ON CONFLICT (workspace_id, feed_id) DO UPDATE SET source_id = excluded.source_id`, workspace, feed, source)
		return err
	})
}

// FeedSource finds the source behind a feed of the workspace.
func (db *DB) FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error) {
	err = db.pool.QueryRow(ctx, `SELECT source_id FROM feed_sources WHERE workspace_id = $1 AND feed_id = $2`,
		workspace, feed).Scan(&source)
	return source, translate(err)
}

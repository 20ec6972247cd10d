package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// selectFeeds reads feeds f, each with its last refresh r.
var selectFeeds = `SELECT ` + record.Of("f", record.FeedColumns) + `, ` + record.Of("r", record.RefreshColumns) + ` FROM feeds f
	LEFT JOIN refreshes r ON r.workspace_id = f.workspace_id AND r.feed_id = f.id AND r.id = f.last_refresh_id `

var oneFeed = selectFeeds + `WHERE f.workspace_id = $1 AND f.id = $2`

func scanFeed(row record.Row) (feedmill.Feed, error) {
	f, err := record.ScanFeed(row, kinds{})
	return f, translate(err)
}

// CreateFeed adds a feed with all that comes with it.
func (db *DB) CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, maxAttempts int, response *feedmill.IdempotentResponse) ([]feedmill.DueDelivery, error) {
	if n.Version != nil && n.Version.Number != 1 {
		return nil, feedmill.ErrConflict
	}
	return db.writeWithEvents(ctx, maxAttempts, func(tx tx) ([]feedmill.Event, error) {
		if n.Source == nil && n.Feed.Type.HasSource() {
			// Whoever changes the source locks it first as well.
			if _, err := tx.lockSource(ctx, n.Feed.Workspace, n.Feed.Source); err != nil {
				return nil, err
			}
		}
		if err := tx.keepResponse(ctx, response); err != nil {
			return nil, err
		}
		return events, tx.insertNewFeed(ctx, n)
	})
}

func (t tx) insertNewFeed(ctx context.Context, n feedmill.NewFeed) error {
	return t.send(ctx, func(b *pgx.Batch) error {
		if n.Source != nil {
			insertSource(b, *n.Source)
		}
		insertFeed(b, n.Feed)
		if n.Version != nil {
			insertVersion(b, n.Feed.Workspace, *n.Version)
		}
		if n.Refresh != nil {
			putRefresh(b, n.Feed.Workspace, *n.Refresh, false)
		}
		return nil
	})
}

func insertFeed(b *pgx.Batch, f feedmill.Feed) {
	b.Queue(`INSERT INTO feeds (`+record.FeedColumns+`, last_refresh_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`,
		append(record.Feed(&f, kinds{}), record.LastRefresh(f))...)
}

// Feed finds a feed, with its last refresh.
func (db *DB) Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	return scanFeed(db.pool.QueryRow(ctx, oneFeed, workspace, id))
}

// Feeds lists feeds, newest first.
func (db *DB) Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error) {
	rows, err := db.rows(ctx, selectFeeds+`WHERE f.workspace_id = $1 AND ($2 = '' OR f.id < $2) ORDER BY f.id DESC LIMIT $3`,
		workspace, p.Before, p.Limit)
	return all(rows, err, scanFeed)
}

// FeedSource finds the source behind a feed of the workspace.
func (db *DB) FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error) {
	err = db.pool.QueryRow(ctx, `SELECT source_id FROM feeds WHERE workspace_id = $1 AND id = $2`, workspace, feed).Scan(&source)
	return source, translate(err)
}

// DeleteFeed deletes a feed, and its source with the last feed of it. Its versions
// and refreshes are out of sight, and are forgotten in their time.
func (db *DB) DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event, maxAttempts int) ([]feedmill.DueDelivery, error) {
	return db.writeWithEvents(ctx, maxAttempts, func(tx tx) ([]feedmill.Event, error) {
		var source, last feedmill.ID
		err := tx.QueryRow(ctx, `SELECT source_id FROM feeds WHERE workspace_id = $1 AND id = $2`, workspace, id).Scan(&source)
		if err != nil {
			return nil, translate(err)
		}
		// The source is locked first, as by everybody who changes its feeds.
		// An upload has none.
		if _, err := tx.lockSource(ctx, workspace, source); err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return nil, err
		}
		err = tx.QueryRow(ctx, `DELETE FROM feeds WHERE workspace_id = $1 AND id = $2 RETURNING last_refresh_id`, workspace, id).Scan(&last)
		if err != nil {
			return nil, translate(err)
		}
		return events, tx.send(ctx, func(b *pgx.Batch) error {
			deleteUnusedSource(b, workspace, source)
			b.Queue(supersede, workspace, id, last)
			b.Queue(`UPDATE feed_versions SET stale_at = least(stale_at, $1) WHERE workspace_id = $2 AND feed_id = $3`,
				at.Add(feedmill.KeepDeletedFor), workspace, id)
			return nil
		})
	})
}

package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// selectFeeds reads feeds f, each with its last refresh r.
var selectFeeds = `SELECT ` + record.Of("f", record.FeedColumns) + `, ` + record.Of("r", record.RefreshColumns) + ` FROM feeds f
	LEFT JOIN refreshes r ON r.workspace_id = f.workspace_id AND r.feed_id = f.id AND r.id = f.last_refresh_id `

var oneFeed = selectFeeds + `WHERE f.workspace_id = ? AND f.id = ?`

func scanFeed(row record.Row) (feedmill.Feed, error) {
	f, err := record.ScanFeed(row, kinds{})
	return f, translate(err)
}

// CreateFeed adds a feed with all that comes with it.
func (db *DB) CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, maxAttempts int, response *feedmill.IdempotentResponse) ([]feedmill.DueDelivery, error) {
	if n.Version != nil && n.Version.Number != 1 {
		return nil, feedmill.ErrConflict
	}
	return db.writeWithEvents(ctx, maxAttempts, func(tx *tx) ([]feedmill.Event, error) {
		if err := tx.keepResponse(response); err != nil {
			return nil, err
		}
		return events, tx.insertNewFeed(n)
	})
}

func (t *tx) insertNewFeed(n feedmill.NewFeed) error {
	f := n.Feed
	switch {
	case n.Source != nil:
		if err := t.insertSource(*n.Source); err != nil {
			return err
		}
	case f.Type.HasSource():
		if _, err := scanSource(t.row(oneSource, f.Workspace, f.Source)); err != nil {
			return err
		}
	}
	if err := t.insertFeed(f); err != nil {
		return err
	}
	if n.Version != nil {
		if err := t.insertVersion(f.Workspace, *n.Version); err != nil {
			return err
		}
	}
	if n.Refresh != nil {
		return t.putRefresh(f.Workspace, *n.Refresh, false)
	}
	return nil
}

func (t *tx) insertFeed(f feedmill.Feed) error {
	_, err := t.exec(`INSERT INTO feeds (`+record.FeedColumns+`, last_refresh_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append(record.Feed(&f, kinds{}), record.LastRefresh(f))...)
	return err
}

// Feed finds a feed, with its last refresh.
func (db *DB) Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	return scanFeed(db.row(ctx, oneFeed, workspace, id))
}

// Feeds lists feeds, newest first.
func (db *DB) Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error) {
	rows, err := db.rows(ctx, selectFeeds+`WHERE f.workspace_id = ? AND f.id < ? ORDER BY f.id DESC LIMIT ?`,
		workspace, before(p, feedmill.PrefixDataFeed), p.Limit)
	return all(rows, err, scanFeed)
}

// FeedSource finds the source behind a feed of the workspace.
func (db *DB) FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error) {
	err = db.row(ctx, `SELECT source_id FROM feeds WHERE workspace_id = ? AND id = ?`, workspace, feed).Scan(&source)
	return source, translate(err)
}

// DeleteFeed deletes a feed, and its source with the last feed of it. Its versions
// and refreshes are out of sight, and are forgotten in their time.
func (db *DB) DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event, maxAttempts int) ([]feedmill.DueDelivery, error) {
	return db.writeWithEvents(ctx, maxAttempts, func(tx *tx) ([]feedmill.Event, error) {
		var source, last feedmill.ID
		err := tx.row(`SELECT source_id, last_refresh_id FROM feeds WHERE workspace_id = ? AND id = ?`, workspace, id).Scan(&source, &last)
		if err != nil {
			return nil, translate(err)
		}
		if _, err := tx.exec(`DELETE FROM feeds WHERE workspace_id = ? AND id = ?`, workspace, id); err != nil {
			return nil, err
		}
		if err := tx.deleteUnusedSource(workspace, source); err != nil {
			return nil, err
		}
		if _, err := tx.exec(supersede, workspace, id, last); err != nil {
			return nil, err
		}
		_, err = tx.exec(`UPDATE feed_versions SET stale_at = min(coalesce(stale_at, ?1), ?1) WHERE workspace_id = ?2 AND feed_id = ?3`,
			toMillis(at.Add(feedmill.KeepDeletedFor)), workspace, id)
		return events, err
	})
}

package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/jsontext"
)

// feedColumns are those of a feed f and of its last refresh r.
const feedColumns = `f.workspace_id, f.id, f.source_id, f.name, f.description, f.type, f.state, f.version, f.columns, f.row_count, f.byte_size,
	f.content_hash, f.warnings, f.mode, f.key, f.spec, f.next_refresh_at, f.last_error, f.created_at, f.updated_at, ` + refreshColumns

const fromFeeds = ` FROM feeds f LEFT JOIN refreshes r ON r.workspace_id = f.workspace_id AND r.feed_id = f.id AND r.id = f.last_refresh_id `

const oneFeed = `SELECT ` + feedColumns + fromFeeds + `WHERE f.workspace_id = ? AND f.id = ?`

func scanFeed(row interface{ Scan(...any) error }) (f feedmill.Feed, err error) {
	var (
		next, created, updated sql.NullInt64
		last                   refreshRow
	)
	err = row.Scan(append([]any{
		&f.Workspace, &f.ID, &f.Source, &f.Name, &f.Description, &f.Type, &f.State, &f.Version, jsontext.Columns(&f.Columns), &f.RowCount, &f.ByteSize,
		&f.ContentHash, jsontext.Of(&f.Warnings), &f.Mode, jsontext.Of(&f.Key), &f.Spec, &next, jsontext.Of(&f.LastError), &created, &updated,
	}, last.fields()...)...)
	f.NextRefreshAt, f.CreatedAt, f.UpdatedAt = fromMillis(next), fromMillis(created), fromMillis(updated)
	if last.ID != "" {
		r := last.refresh()
		f.LastRefresh = &r
	}
	return f, translate(err)
}

// CreateFeed adds a feed with all that comes with it.
func (db *DB) CreateFeed(ctx context.Context, f feedmill.Feed, v *feedmill.FeedVersion, r *feedmill.Refresh, events []feedmill.Event, budget int, once *feedmill.Once) (due []feedmill.DueDelivery, err error) {
	if v != nil && v.Number != 1 {
		return nil, feedmill.ErrConflict
	}
	err = db.write(ctx, func(tx *tx) error {
		if err := tx.keep(once); err != nil {
			return err
		}
		if err := tx.insertFeed(f); err != nil {
			return err
		}
		if v != nil {
			if err := tx.insertVersion(f.Workspace, *v); err != nil {
				return err
			}
		}
		if r != nil {
			if err := tx.putRefresh(f.Workspace, *r); err != nil {
				return err
			}
		}
		_, due, err = tx.accept(events, budget)
		return err
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}

func (t *tx) insertFeed(f feedmill.Feed) error {
	_, err := t.exec(`INSERT INTO feeds (workspace_id, id, source_id, name, description, type, state, version, columns, row_count, byte_size,
		content_hash, warnings, mode, key, spec, next_refresh_at, last_refresh_id, last_error, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.Workspace, f.ID, f.Source, f.Name, f.Description, f.Type, f.State, f.Version, jsontext.Columns(&f.Columns), f.RowCount, f.ByteSize,
		f.ContentHash, jsontext.Of(&f.Warnings), f.Mode, jsontext.Of(&f.Key), f.Spec, toMillis(f.NextRefreshAt), lastRefresh(f),
		jsontext.Of(&f.LastError), toMillis(f.CreatedAt), toMillis(f.UpdatedAt))
	return err
}

// lastRefresh is the id of a feed's last refresh, empty where there was none.
func lastRefresh(f feedmill.Feed) feedmill.ID {
	if f.LastRefresh == nil {
		return ""
	}
	return f.LastRefresh.ID
}

// Feed finds a feed, with its last refresh.
func (db *DB) Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	return scanFeed(db.row(ctx, oneFeed, workspace, id))
}

// Feeds lists feeds, newest first.
func (db *DB) Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error) {
	rows, err := db.rows(ctx, `SELECT `+feedColumns+fromFeeds+`WHERE f.workspace_id = ? AND f.id < ? ORDER BY f.id DESC LIMIT ?`,
		workspace, before(p, feedmill.PrefixDataFeed), p.Limit)
	return all(rows, err, scanFeed)
}

// FeedSource finds the source behind a feed of the workspace.
func (db *DB) FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error) {
	err = db.row(ctx, `SELECT source_id FROM feeds WHERE workspace_id = ? AND id = ?`, workspace, feed).Scan(&source)
	return source, translate(err)
}

// RegisterFeed notes that a data feed is made of a data source, and nothing else
// of it: it is a feed that has no data yet.
func (db *DB) RegisterFeed(ctx context.Context, workspace, feed, source feedmill.ID) error {
	made := feed.Time()
	_, err := db.CreateFeed(ctx, feedmill.Feed{
		ID: feed, Workspace: workspace, Source: source, State: feedmill.FeedPending, CreatedAt: made, UpdatedAt: made,
	}, nil, nil, nil, 0, nil)
	return err
}

// DeleteFeed deletes a feed. Its versions and refreshes are out of sight with
// it, and are forgotten in their time.
func (db *DB) DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event, budget int) (due []feedmill.DueDelivery, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`UPDATE refreshes SET superseded = 1 WHERE workspace_id = ?1 AND feed_id = ?2
			AND id = (SELECT last_refresh_id FROM feeds WHERE workspace_id = ?1 AND id = ?2)`, workspace, id); err != nil {
			return err
		}
		n, err := tx.exec(`DELETE FROM feeds WHERE workspace_id = ? AND id = ?`, workspace, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedmill.ErrNotFound
		}
		if _, err := tx.exec(`UPDATE feed_versions SET stale_at = min(coalesce(stale_at, ?1), ?1) WHERE workspace_id = ?2 AND feed_id = ?3`,
			toMillis(at.Add(feedmill.KeepDeletedFor)), workspace, id); err != nil {
			return err
		}
		_, due, err = tx.accept(events, budget)
		return err
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}

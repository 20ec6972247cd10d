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
	return db.telling(ctx, events, maxAttempts, func(tx tx, p *publication) error {
		if n.Source == nil && n.Feed.Type.HasSource() {
			// Whoever changes the source locks it first as well.
			if _, err := tx.lockSource(ctx, n.Feed.Workspace, n.Feed.Source); err != nil {
				return err
			}
		}
		if err := tx.keep(ctx, response); err != nil {
			return err
		}
		return tx.insertNewFeed(ctx, n)
	})
}

func (t tx) insertNewFeed(ctx context.Context, n feedmill.NewFeed) error {
	return t.send(ctx, func(b *pgx.Batch) error {
		if n.Source != nil {
			queueNewSource(b, *n.Source)
		}
		queueNewFeed(b, n.Feed)
		if n.Version != nil {
			queueVersion(b, n.Feed.Workspace, *n.Version)
		}
		if n.Refresh != nil {
			queueRefresh(b, n.Feed.Workspace, *n.Refresh, false)
		}
		return nil
	})
}

func queueNewFeed(b *pgx.Batch, f feedmill.Feed) {
	b.Queue(`INSERT INTO feeds (`+record.FeedColumns+`, last_refresh_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`,
		append(record.Feed(&f, kinds{}), record.LastRefresh(f))...)
}

// telling runs do in a transaction that then accepts events: those given and
// those that do adds to the publication. It answers their deliveries.
func (db *DB) telling(ctx context.Context, events []feedmill.Event, maxAttempts int, do func(tx, *publication) error) ([]feedmill.DueDelivery, error) {
	p := new(publication)
	try := func() error {
		p = &publication{events: events, maxAttempts: maxAttempts}
		return db.write(ctx, func(tx tx) error {
			if err := do(tx, p); err != nil || len(p.events) == 0 {
				return err
			}
			return tx.accept(ctx, p)
		})
	}
	err := db.withRoom(ctx, roomFor(events), try)
	if hasCode(err, checkViolation) {
		// Some events were made by do, on a day for which there was no room.
		err = db.withRoom(ctx, roomFor(p.events), try)
	}
	if err != nil {
		return nil, err
	}
	return p.due, nil
}

// roomFor are ids of all the days that events and their deliveries need room on.
func roomFor(events []feedmill.Event) []feedmill.ID {
	ids := []feedmill.ID{feedmill.FirstID(feedmill.PrefixDelivery, time.Now())}
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
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
	return db.telling(ctx, events, maxAttempts, func(tx tx, _ *publication) error {
		var source, last feedmill.ID
		err := tx.QueryRow(ctx, `SELECT source_id FROM feeds WHERE workspace_id = $1 AND id = $2`, workspace, id).Scan(&source)
		if err != nil {
			return translate(err)
		}
		// The source is locked first, as by everybody who changes its feeds.
		// An upload has none.
		if _, err := tx.lockSource(ctx, workspace, source); err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return err
		}
		err = tx.QueryRow(ctx, `DELETE FROM feeds WHERE workspace_id = $1 AND id = $2 RETURNING last_refresh_id`, workspace, id).Scan(&last)
		if err != nil {
			return translate(err)
		}
		return tx.send(ctx, func(b *pgx.Batch) error {
			b.Queue(`DELETE FROM sources WHERE workspace_id = $1 AND id = $2
				AND NOT EXISTS (SELECT 1 FROM feeds WHERE workspace_id = $1 AND source_id = $2)`, workspace, source)
			b.Queue(supersede, workspace, id, last)
			b.Queue(`UPDATE feed_versions SET stale_at = least(stale_at, $1) WHERE workspace_id = $2 AND feed_id = $3`,
				at.Add(feedmill.KeepDeletedFor), workspace, id)
			return nil
		})
	})
}

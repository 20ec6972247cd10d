package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/jsontext"
)

// feedColumns are those of a feed f and of its last refresh r.
const feedColumns = `f.workspace_id, f.id, f.source_id, f.name, f.description, f.type, f.state, f.version, f.columns, f.row_count, f.byte_size,
	f.content_hash, f.warnings, f.mode, f.key, f.spec, f.schedule, f.next_refresh_at, f.failures, f.position, f.last_error, f.created_at, f.updated_at, ` + refreshColumns

const fromFeeds = ` FROM feeds f LEFT JOIN refreshes r ON r.workspace_id = f.workspace_id AND r.feed_id = f.id AND r.id = f.last_refresh_id `

const oneFeed = `SELECT ` + feedColumns + fromFeeds + `WHERE f.workspace_id = $1 AND f.id = $2`

func scanFeed(row pgx.Row) (f feedmill.Feed, err error) {
	var (
		next *time.Time
		last refreshRow
	)
	err = row.Scan(append([]any{
		&f.Workspace, &f.ID, &f.Source, &f.Name, &f.Description, &f.Type, &f.State, &f.Version, jsontext.Columns(&f.Columns), &f.RowCount, &f.ByteSize,
		&f.ContentHash, jsontext.Of(&f.Warnings), &f.Mode, jsontext.Of(&f.Key), &f.Spec, jsontext.Schedule(&f.Schedule), &next, &f.Failures, &f.Position, jsontext.Of(&f.LastError), &f.CreatedAt, &f.UpdatedAt,
	}, last.fields()...)...)
	f.NextRefreshAt, f.CreatedAt, f.UpdatedAt = orZero(next), f.CreatedAt.UTC(), f.UpdatedAt.UTC()
	if last.ID != "" {
		r := last.refresh()
		f.LastRefresh = &r
	}
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
	b.Queue(`INSERT INTO feeds (workspace_id, id, source_id, name, description, type, state, version, columns, row_count, byte_size,
		content_hash, warnings, mode, key, spec, schedule, next_refresh_at, failures, position, last_refresh_id, last_error, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`,
		f.Workspace, f.ID, f.Source, f.Name, f.Description, f.Type, f.State, f.Version, jsontext.Columns(&f.Columns), f.RowCount, f.ByteSize,
		f.ContentHash, jsontext.Of(&f.Warnings), f.Mode, jsontext.Of(&f.Key), f.Spec, jsontext.Schedule(&f.Schedule), orNull(f.NextRefreshAt),
		f.Failures, f.Position, lastRefresh(f), jsontext.Of(&f.LastError), f.CreatedAt, f.UpdatedAt)
}

// lastRefresh is the id of a feed's last refresh, empty where there was none.
func lastRefresh(f feedmill.Feed) feedmill.ID {
	if f.LastRefresh == nil {
		return ""
	}
	return f.LastRefresh.ID
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
	rows, err := db.rows(ctx, `SELECT `+feedColumns+fromFeeds+`WHERE f.workspace_id = $1 AND ($2 = '' OR f.id < $2) ORDER BY f.id DESC LIMIT $3`,
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

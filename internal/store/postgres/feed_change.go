package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// feedChange changes a feed and returns what is written with the change.
type feedChange = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

// ChangeFeed changes a feed, alone with it.
func (db *DB) ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error) {
	return db.changeFeed(ctx, workspace, id, func(tx, *feedmill.Feed) error { return nil }, change, maxAttempts)
}

// SwitchVersion makes v the current version where the one before it is.
func (db *DB) SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error) {
	return db.changeFeed(ctx, workspace, v.Feed, func(tx tx, f *feedmill.Feed) error {
		if f.Version != v.Number-1 {
			return feedmill.ErrConflict
		}
		err := tx.send(ctx, func(b *pgx.Batch) error {
			insertVersion(b, workspace, v)
			replaceRefresh(b, *f, r)
			return nil
		})
		f.Switch(v, r)
		return err
	}, change, maxAttempts)
}

// RecordRefresh writes a refresh that made no version.
func (db *DB) RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error) {
	return db.changeFeed(ctx, workspace, r.Feed, func(tx tx, f *feedmill.Feed) error {
		err := tx.send(ctx, func(b *pgx.Batch) error {
			replaceRefresh(b, *f, r)
			return nil
		})
		f.Record(r)
		return err
	}, change, maxAttempts)
}

// changeFeed changes a feed by what comes first and by what the caller makes of
// that.
func (db *DB) changeFeed(ctx context.Context, workspace, id feedmill.ID, first func(tx, *feedmill.Feed) error, change feedChange, maxAttempts int) (f feedmill.Feed, due []feedmill.DueDelivery, err error) {
	due, err = db.writeWithEvents(ctx, maxAttempts, func(tx tx) ([]feedmill.Event, error) {
		// The lock comes before the read: what one statement finds, after it
		// has waited for a lock, can be of two moments.
		if _, err := tx.exec(ctx, `SELECT 1 FROM feeds WHERE workspace_id = $1 AND id = $2 FOR UPDATE`, workspace, id); err != nil {
			return nil, err
		}
		if f, err = scanFeed(tx.QueryRow(ctx, oneFeed, workspace, id)); err != nil {
			return nil, err
		}
		if err := first(tx, &f); err != nil {
			return nil, err
		}
		was := f
		response, events, err := change(&f)
		if err != nil {
			return nil, err
		}
		record.KeepFeed(&f, was)
		if err := tx.keepResponse(ctx, response); err != nil {
			return nil, err
		}
		return events, tx.send(ctx, func(b *pgx.Batch) error {
			updateFeed(b, f)
			return nil
		})
	})
	if err != nil {
		return feedmill.Feed{}, nil, err
	}
	return f, due, nil
}

func updateFeed(b *pgx.Batch, f feedmill.Feed) {
	b.Queue(`UPDATE feeds SET (`+record.FeedChanging+`, last_refresh_id) =
		($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) WHERE workspace_id = $20 AND id = $21`,
		append(record.ChangingFeed(&f, kinds{}), record.LastRefresh(f), f.Workspace, f.ID)...)
}

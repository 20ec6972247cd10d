package sqlite

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// feedChange changes a feed and returns what is written with the change.
type feedChange = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

// ChangeFeed changes a feed, alone with it.
func (db *DB) ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error) {
	return db.changeFeed(ctx, workspace, id, func(*tx, *feedmill.Feed) error { return nil }, change, maxAttempts)
}

// SwitchVersion makes v the current version where the one before it is.
func (db *DB) SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error) {
	return db.changeFeed(ctx, workspace, v.Feed, func(tx *tx, f *feedmill.Feed) error {
		if f.Version != v.Number-1 {
			return feedmill.ErrConflict
		}
		if err := tx.insertVersion(workspace, v); err != nil {
			return err
		}
		if err := tx.replaceRefresh(*f, r); err != nil {
			return err
		}
		f.Switch(v, r)
		return nil
	}, change, maxAttempts)
}

// RecordRefresh writes a refresh that made no version.
func (db *DB) RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error) {
	return db.changeFeed(ctx, workspace, r.Feed, func(tx *tx, f *feedmill.Feed) error {
		if err := tx.replaceRefresh(*f, r); err != nil {
			return err
		}
		f.Record(r)
		return nil
	}, change, maxAttempts)
}

// changeFeed changes a feed by what comes first and by what the caller makes of
// that.
func (db *DB) changeFeed(ctx context.Context, workspace, id feedmill.ID, first func(*tx, *feedmill.Feed) error, change feedChange, maxAttempts int) (f feedmill.Feed, due []feedmill.DueDelivery, err error) {
	due, err = db.writeWithEvents(ctx, maxAttempts, func(tx *tx) ([]feedmill.Event, error) {
		if f, err = scanFeed(tx.row(oneFeed, workspace, id)); err != nil {
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
		if err := tx.keepResponse(response); err != nil {
			return nil, err
		}
		return events, tx.updateFeed(f)
	})
	if err != nil {
		return feedmill.Feed{}, nil, err
	}
	return f, due, nil
}

func (t *tx) updateFeed(f feedmill.Feed) error {
	_, err := t.exec(`UPDATE feeds SET (`+record.FeedChanging+`, last_refresh_id) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		WHERE workspace_id = ? AND id = ?`,
		append(record.ChangingFeed(&f, kinds{}), record.LastRefresh(f), f.Workspace, f.ID)...)
	return err
}

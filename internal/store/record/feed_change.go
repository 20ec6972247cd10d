package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

// feedChange changes a feed and returns what is written with the change.
type feedChange = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

// ChangeFeed changes a feed, alone with it.
func (s Store) ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change feedChange) (feedmill.Feed, error) {
	return s.changeFeed(ctx, workspace, id, func(*feedmill.Feed) ([]Statement, error) { return nil, nil }, change)
}

// SwitchVersion makes v the current version where the one before it is.
func (s Store) SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change feedChange) (feedmill.Feed, error) {
	return s.changeFeed(ctx, workspace, v.Feed, func(f *feedmill.Feed) ([]Statement, error) {
		if f.Version != v.Number-1 {
			return nil, feedmill.ErrConflict
		}
		first := append(s.insertVersion(f, v), s.replaceRefresh(*f, r)...)
		f.Switch(v, r)
		return first, nil
	}, change)
}

// RecordRefresh writes a refresh that made no version.
func (s Store) RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change feedChange) (feedmill.Feed, error) {
	return s.changeFeed(ctx, workspace, r.Feed, func(f *feedmill.Feed) ([]Statement, error) {
		first := s.replaceRefresh(*f, r)
		f.Record(r)
		return first, nil
	}, change)
}

// changeFeed changes a feed by what comes first and by what the caller makes of
// that.
func (s Store) changeFeed(ctx context.Context, workspace, id feedmill.ID, first func(*feedmill.Feed) ([]Statement, error), change feedChange) (f feedmill.Feed, err error) {
	err = s.db.WriteWithEvents(ctx, func(tx Tx) ([]feedmill.Event, error) {
		if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND id = ?2`, workspace, id); err != nil {
			return nil, err
		}
		if f, err = s.oneFeed(ctx, tx, workspace, id); err != nil {
			return nil, err
		}
		version := f.Version
		write, err := first(&f)
		if err != nil {
			return nil, err
		}
		was := f
		response, events, err := change(&f)
		if err != nil {
			return nil, err
		}
		KeepFeed(&f, was)
		if err := s.checkTableName(ctx, tx, f, was.TableName); err != nil {
			return nil, err
		}
		if err := tx.KeepResponse(ctx, response); err != nil {
			return nil, err
		}
		write = append(append(write, s.updateFeed(f)), s.keepOthers(&was, &f)...)
		if err := tx.Send(ctx, append(write, Audited(ctx, s.d, workspace, id)...)...); err != nil || f.Version == version {
			return events, err
		}
		return events, s.requestChildren(ctx, tx, workspace, id, f.UpdatedAt)
	})
	if err != nil {
		return feedmill.Feed{}, err
	}
	return f, nil
}

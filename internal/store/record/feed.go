package record

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// selectFeeds reads feeds f, each with its last refresh r.
var selectFeeds = `SELECT ` + feedWithRefresh + ` FROM feeds f ` + lastRefresh

var feedWithRefresh = Of("f", FeedColumns) + `, ` + Of("r", RefreshColumns)

const lastRefresh = `LEFT JOIN refreshes r ON r.workspace_id = f.workspace_id AND r.feed_id = f.id AND r.id = f.last_refresh_id `

// listFeeds reads the feeds that end finds.
func (s Store) listFeeds(ctx context.Context, r Reader, end string, args ...any) (all []feedmill.Feed, err error) {
	err = r.Each(ctx, func(row Row) error {
		f, err := scanFeed(row, s.d)
		all = append(all, f)
		return err
	}, selectFeeds+end, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// oneFeed reads a feed of the workspace.
func (s Store) oneFeed(ctx context.Context, r Reader, workspace, id feedmill.ID) (feedmill.Feed, error) {
	found, err := s.listFeeds(ctx, r, `WHERE f.workspace_id = ?1 AND f.id = ?2`, workspace, id)
	if err == nil && len(found) == 0 {
		err = feedmill.ErrNotFound
	}
	if err != nil {
		return feedmill.Feed{}, err
	}
	return found[0], nil
}

// CreateFeed adds a feed with all that comes with it.
func (s Store) CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, response *feedmill.IdempotentResponse) error {
	if n.Version != nil && n.Version.Number != 1 {
		return feedmill.ErrConflict
	}
	return s.db.WriteWithEvents(ctx, func(tx Tx) ([]feedmill.Event, error) {
		if n.Source == nil && n.Feed.Type.HasSource() {
			// Whoever changes the source locks it first as well.
			if _, err := s.lockSource(ctx, tx, n.Feed.Workspace, n.Feed.Source); err != nil {
				return nil, err
			}
		}
		if err := s.useConnection(ctx, tx, n.Source); err != nil {
			return nil, err
		}
		if err := s.checkTableName(ctx, tx, n.Feed, ""); err != nil {
			return nil, err
		}
		if err := tx.KeepResponse(ctx, response); err != nil {
			return nil, err
		}
		if err := tx.Send(ctx, append(s.insertNewFeed(n), Audited(ctx, s.d, n.Feed.Workspace, n.Feed.ID)...)...); err != nil {
			return nil, err
		}
		return events, s.writeParents(ctx, tx, n.Feed.Workspace, nil, n.Parents)
	})
}

func (s Store) insertNewFeed(n feedmill.NewFeed) (all []Statement) {
	if n.Source != nil {
		all = append(all, insert("sources", SourceColumns, Source(n.Source, s.d)...))
	}
	all = append(all, s.insertFeed(n.Feed))
	if n.Version != nil {
		all = append(all, s.insertVersion(&n.Feed, *n.Version)...)
	}
	if n.Refresh != nil {
		all = append(all, s.putRefresh(n.Feed.Workspace, *n.Refresh, false)...)
	}
	return all
}

func (s Store) insertFeed(f feedmill.Feed) Statement {
	return insert("feeds", FeedColumns+`, last_refresh_id, search`, append(Feed(&f, s.d), LastRefresh(f), f.SearchText())...)
}

func (s Store) updateFeed(f feedmill.Feed) Statement {
	return countTableChange(update("feeds", FeedChanging+`, last_refresh_id, search`, append(ChangingFeed(&f, s.d), LastRefresh(f), f.SearchText()), f.Workspace, f.ID))
}

// Feed finds a feed, with its last refresh.
func (s Store) Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	return s.oneFeed(ctx, s.db, workspace, id)
}

// Feeds lists feeds, newest first.
func (s Store) Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error) {
	return s.listFeeds(ctx, s.db, `WHERE f.workspace_id = ?1 AND f.id < ?2 ORDER BY f.id DESC LIMIT ?3`,
		workspace, before(p, feedmill.PrefixDataFeed), p.Limit)
}

// StaleFeeds lists feeds of all workspaces that are stale from a time on, those that
// were it first before others.
func (s Store) StaleFeeds(ctx context.Context, at time.Time, limit int) ([]feedmill.Feed, error) {
	return s.listFeeds(ctx, s.db, `WHERE f.stale_at <= ?1 ORDER BY f.stale_at LIMIT ?2`, s.time(at), limit)
}

const feedSource = `SELECT source_id FROM feeds WHERE workspace_id = ?1 AND id = ?2`

// FeedSource finds the source behind a feed of the workspace.
func (s Store) FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error) {
	err = s.db.One(ctx, feedSource, []any{workspace, feed}, &source)
	return source, err
}

// DeleteFeed deletes a feed, and its source with the last feed of it. Its versions
// and refreshes are out of sight, and are forgotten in their time.
func (s Store) DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event) error {
	return s.db.WriteWithEvents(ctx, func(tx Tx) ([]feedmill.Event, error) {
		var source, last feedmill.ID
		if err := tx.One(ctx, feedSource, []any{workspace, id}, &source); err != nil {
			return nil, err
		}
		// The source is locked first, as by everybody who changes its feeds.
		// An upload has none.
		if _, err := s.lockSource(ctx, tx, workspace, source); err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return nil, err
		}
		err := tx.One(ctx, `DELETE FROM feeds WHERE workspace_id = ?1 AND id = ?2 RETURNING last_refresh_id`, []any{workspace, id}, &last)
		if err != nil {
			return nil, err
		}
		err = tx.Send(ctx, append(
			append(Audited(ctx, s.d, workspace, id), forgetTable(workspace, id)...),
			Statement{deleteUnusedSource, []any{workspace, source}},
			Statement{`DELETE FROM links WHERE workspace_id = ?1 AND feed_id = ?2`, []any{workspace, id}},
			Statement{supersede, []any{workspace, id, last}},
			Statement{
				`UPDATE feed_versions SET stale_at = ?1 WHERE workspace_id = ?2 AND feed_id = ?3 AND (stale_at IS NULL OR stale_at > ?1)`,
				[]any{s.time(at.Add(feedmill.KeepDeletedFor)), workspace, id},
			},
			Statement{`UPDATE feed_parents SET seen_version = -1 WHERE workspace_id = ?1 AND parent_id = ?2`, []any{workspace, id}})...)
		if err != nil {
			return nil, err
		}
		return events, s.requestChildren(ctx, tx, workspace, id, at)
	})
}

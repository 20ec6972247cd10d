package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// Restore gives a feed a new version with the rows and columns of an older one. Its
// source is asked for what has come since that one.
func (f *Feeds) Restore(ctx context.Context, workspace, id feedmill.ID, number int64, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	feed, err := f.Store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	l, err := f.restoring(ctx, feed, number)
	if err != nil {
		return feedmill.Feed{}, err
	}
	if feed.Type.HasSource() {
		feed, err = f.restoreFetched(ctx, feed, l, respond)
	} else {
		feed, err = f.restoreUpload(ctx, feed, l, respond)
	}
	if errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{Kind: feedmill.ErrConflict, Type: "concurrent-change", Transient: true, Detail: "The feed got a new version from another request. Check that version, and retry if you still want to restore."}
	}
	if err != nil {
		return feedmill.Feed{}, fmt.Errorf("restore a version: %w", err)
	}
	return feed, nil
}

// restoring is a version as the next one of its feed.
func (f *Feeds) restoring(ctx context.Context, feed feedmill.Feed, number int64) (*loading, error) {
	old, err := f.Store.FeedVersion(ctx, feed.Workspace, feed.ID, number)
	if err == nil && !old.Kept(now()) {
		err = feedmill.ErrNotFound
	}
	if errors.Is(err, feedmill.ErrNotFound) {
		err = &feedmill.Error{Kind: feedmill.ErrNotFound, Type: "no-version", Detail: "The feed has no such version, or the version is no longer kept."}
	}
	if err != nil {
		return nil, err
	}
	last, err := f.Store.FeedVersion(ctx, feed.Workspace, feed.ID, feed.Version)
	if err != nil {
		return nil, err
	}
	at := now()
	l := &loading{before: feed, version: old, unchanged: old.ContentHash == last.ContentHash}
	l.refresh = feedmill.Refresh{
		ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: feed.ID, State: feedmill.RefreshSucceeded, Trigger: feedmill.TriggerOf(ctx), StartedAt: at, EndedAt: at, Unchanged: l.unchanged,
	}
	if l.unchanged {
		return l, nil
	}
	v := &l.version
	v.Number, v.CreatedAt, v.Refresh, v.Pinned = feed.Version+1, at, l.refresh.ID, false
	v.StaleAt = time.Time{}
	v.Changes = feedmill.VersionChanges{Columns: feedmill.CompareColumns(last.Columns, v.Columns)}
	if same, err := f.haveKey(ctx, last, v.Keyed); err != nil {
		return nil, err
	} else if same {
		counted, err := f.Reader.CountChanges(ctx, lake.Comparison{Old: lakeVersion(last), New: lakeVersion(*v), Key: v.Keyed})
		if err != nil {
			return nil, err
		}
		v.Changes.Rows = &counted
	}
	l.refresh.Version, l.refresh.Changes = v.Number, v.Changes
	return l, nil
}

func (f *Feeds) restoreUpload(ctx context.Context, feed feedmill.Feed, l *loading, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	return f.settle(ctx, feed.Workspace, l, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		if l.version.Spec != nil {
			feed.Spec, feed.Rules = l.version.Spec, l.version.Rules // a later upload may have been read otherwise
		}
		events, err := f.Events.of(*feed, feedmill.NewsRefreshed)
		if err != nil {
			return nil, nil, err
		}
		response, err := respond(*feed)
		return response, events, err
	})
}

func (f *Feeds) restoreFetched(ctx context.Context, feed feedmill.Feed, l *loading, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	var run int64
	feed, err := f.control(ctx, feed.Workspace, feed.ID, respond, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		v := &l.version
		if l.unchanged {
			v = nil
		}
		news, err := c.Restore(feed.ID, v, l.version.Position, l.refresh, l.refresh.EndedAt)
		if err != nil {
			return nil, err
		}
		run = c.Source.Run
		restored := *c.Feed(feed.ID)
		restored.LastRefresh = &l.refresh
		events, err := f.Events.of(restored, feedmill.NewsRefreshed)
		c.Events = append(c.Events, events...)
		return news, err
	})
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.Engine.Cancel(feed.Source, run)
	return feed, nil
}

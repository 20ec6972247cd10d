package feed

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// changeSource changes a source and its feeds and tells of what is news.
func (f *Feeds) changeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) ([]feedmill.SourceNews, error)) error {
	return f.Store.ChangeSource(ctx, workspace, source, func(c *feedmill.SourceChange) error {
		c.By = feedmill.TriggerOf(ctx)
		news, err := change(c)
		if err != nil {
			return err
		}
		events, err := f.Events.OfNews(c, news)
		c.Events = append(c.Events, events...)
		return err
	})
}

// control changes how a feed stands with its source, and wakes the engine.
func (f *Feeds) control(ctx context.Context, workspace, id feedmill.ID, respond feedmill.FeedResponse, change func(*feedmill.SourceChange) ([]feedmill.SourceNews, error)) (feed feedmill.Feed, err error) {
	if feed, err = f.Store.Feed(ctx, workspace, id); err != nil {
		return feedmill.Feed{}, err
	}
	err = f.changeSource(ctx, workspace, feed.Source, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		news, err := change(c)
		if err != nil {
			return nil, err
		}
		feed = *c.Feed(id)
		c.IdempotentResponse, err = respond(feed)
		return news, err
	})
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.Engine.Wake()
	return feed, nil
}

// noResponse is for requests of which nothing is kept.
func noResponse(feedmill.Feed) (*feedmill.IdempotentResponse, error) { return nil, nil }

// Pause keeps a feed from fetching.
func (f *Feeds) Pause(ctx context.Context, workspace, id feedmill.ID, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	return f.control(ctx, workspace, id, respond, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) { return c.Pause(id, now()) })
}

// Resume lets a feed fetch again.
func (f *Feeds) Resume(ctx context.Context, workspace, id feedmill.ID, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	return f.control(ctx, workspace, id, respond, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) { return c.Resume(id, now()) })
}

// Reconnected has the feeds of a connection tried again whose source refused the
// credential: it has another one now.
func (f *Feeds) Reconnected(ctx context.Context, workspace, connection feedmill.ID) error {
	const step = 500
	for page := (feedmill.Page{Limit: step}); ; {
		feeds, err := f.Store.Feeds(ctx, workspace, page)
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			page.Before = feed.ID
			if feed.State != feedmill.FeedAuthRequired || feed.Source == "" {
				continue
			}
			if err := f.reconnected(ctx, feed, connection); err != nil && !errors.Is(err, feedmill.ErrNotFound) {
				return err
			}
		}
		if len(feeds) < step {
			return nil
		}
	}
}

func (f *Feeds) reconnected(ctx context.Context, feed feedmill.Feed, connection feedmill.ID) error {
	// The host of a source that has a connection is its connection.
	source, err := f.Store.Source(ctx, feed.Workspace, feed.Source)
	if err != nil || source.Host != string(connection) {
		return err
	}
	_, err = f.control(ctx, feed.Workspace, feed.ID, noResponse, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		if kept := c.Feed(feed.ID); kept != nil && kept.State != feedmill.FeedAuthRequired {
			return nil, nil // somebody paused or resumed it meanwhile
		}
		return c.Resume(feed.ID, now())
	})
	return err
}

// RefreshFeed has a feed fetch its data now, and take it whatever is expected of it
// where that is accepted.
func (f *Feeds) RefreshFeed(ctx context.Context, workspace, id feedmill.ID, accept bool, respond feedmill.RefreshResponse) (feedmill.Refresh, error) {
	feed, err := f.control(ctx, workspace, id, func(feed feedmill.Feed) (*feedmill.IdempotentResponse, error) { return respond(*feed.LastRefresh) },
		func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
			_, err := c.RequestAccepting(id, accept, now())
			return nil, err
		})
	if err != nil {
		return feedmill.Refresh{}, err
	}
	return *feed.LastRefresh, nil
}

// CancelRefresh ends a refresh that waits or runs.
func (f *Feeds) CancelRefresh(ctx context.Context, workspace, id, refresh feedmill.ID) (feedmill.Refresh, error) {
	var run int64
	feed, err := f.control(ctx, workspace, id, noResponse, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		news, err := c.Cancel(id, refresh, now())
		run = c.Source.Run
		return news, err
	})
	if err != nil {
		return feedmill.Refresh{}, err
	}
	f.Engine.Cancel(feed.Source, run)
	return *feed.LastRefresh, nil
}

// Await waits until the feed is not refreshing any more, or ctx ends. Another
// process may be the one that refreshes it, so the store is asked, at first often.
func (f *Feeds) Await(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	const first, longest = 10 * time.Millisecond, 250 * time.Millisecond
	for wait := first; ; wait = min(wait*2, longest) {
		feed, err := f.Store.Feed(context.WithoutCancel(ctx), workspace, id)
		if err != nil || !feed.Awaits() {
			return feed, err
		}
		select {
		case <-ctx.Done():
			return feed, nil
		case <-time.After(wait):
		}
	}
}

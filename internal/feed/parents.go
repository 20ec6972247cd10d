package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// A feed without a schedule that is built from other feeds is refreshed when one of them has
// a new version or is deleted. The store has the parents of every feed, and requests the
// refresh in the transaction that writes the version.

// Parents knows which feeds are built from which.
type Parents interface {
	FeedParents(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.ID, error)
	FeedChildren(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.FeedReference, error)
	UnlinkedFeeds(ctx context.Context, limit int) ([]feedmill.Feed, error)
	MarkLinked(ctx context.Context, workspace, id feedmill.ID) error
}

// checkParents refuses parents that are not in the workspace, or that are built from the
// feed itself, in however many steps. The ids are empty for a new feed.
func (f *Feeds) checkParents(ctx context.Context, workspace, id, source feedmill.ID, parents []feedmill.FeedParent) error {
	for _, parent := range parents {
		err := f.eachUpstream(ctx, workspace, []feedmill.ID{parent.ID}, func(_ feedmill.ID, up *feedmill.Feed) error {
			switch {
			case up == nil:
				return feedmill.Invalid("", feedmill.Fault{Pointer: parent.Pointer, Detail: "This workspace has no such feed."})
			case up.ID == id || up.Source == source:
				return feedmill.Invalid("", feedmill.Fault{Pointer: parent.Pointer, Detail: "The feed would be built from its own rows. Choose another feed."})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachUpstream calls do for feeds and for all that they are built from, in however many steps.
// The feed is nil if it was deleted.
func (f *Feeds) eachUpstream(ctx context.Context, workspace feedmill.ID, from []feedmill.ID, do func(feedmill.ID, *feedmill.Feed) error) error {
	seen := make(map[feedmill.ID]bool)
	for next := from; len(next) > 0; next = next[1:] {
		id := next[0]
		if seen[id] {
			continue
		}
		seen[id] = true
		feed, err := f.Store.Feed(ctx, workspace, id)
		switch {
		case errors.Is(err, feedmill.ErrNotFound):
			err = do(id, nil)
		case err == nil:
			err = do(id, &feed)
		}
		if err != nil {
			return err
		}
		parents, err := f.Store.FeedParents(ctx, workspace, id)
		if err != nil {
			return err
		}
		next = append(next, parents...)
	}
	return nil
}

// Upstream lists the versions of other feeds that the rows of a version were built from,
// as far as they are known.
func (m *Fetcher) Upstream(t feedmill.FeedType, v feedmill.FeedVersion) (known []feedmill.UpstreamVersion) {
	kind, ok := m.sources[t]
	if !ok {
		return nil
	}
	for _, u := range kind.Upstream(v.Position) {
		if u.ID != "" {
			known = append(known, u)
		}
	}
	return known
}

// UpstreamWarnings warns of feeds upstream that fail or are stale, in however many steps:
// a refresh of the feed succeeds all the same, with their last good rows.
func (f *Feeds) UpstreamWarnings(ctx context.Context, feed feedmill.Feed) (warnings []feedmill.Warning, err error) {
	if !feed.Type.HasSource() {
		return nil, nil
	}
	warn := func(code, detail string) {
		warnings = append(warnings, feedmill.Warning{Code: code, Count: 1, Detail: detail})
	}
	parents, err := f.Store.FeedParents(ctx, feed.Workspace, feed.ID)
	if err != nil {
		return nil, err
	}
	err = f.eachUpstream(ctx, feed.Workspace, parents, func(id feedmill.ID, up *feedmill.Feed) error {
		if up == nil {
			warn("upstream-failing", fmt.Sprintf("The upstream feed %s was deleted, so this feed gets no new data. Give this feed another source, or delete it.", id))
			return nil
		}
		if up.LastError != nil {
			warn("upstream-failing", fmt.Sprintf("The upstream feed %s (%s) has failed since its version %d, so this feed has no newer data. Fix that feed; its lastError has the reason.", up.ID, up.Name, up.Version))
		}
		if up.Stale {
			warn("upstream-stale", fmt.Sprintf("The upstream feed %s (%s) has no new data within its expectEvery, so this feed can be out of date. Refresh that feed, or change its expectEvery.", up.ID, up.Name))
		}
		return nil
	})
	return warnings, err
}

// LinkParents gives the feeds of earlier releases the links to their parents, and has those
// refreshed whose parents got a new version that they were not refreshed for. It must end
// before feeds get new versions.
func (f *Feeds) LinkParents(ctx context.Context) error {
	const step = 100
	for {
		feeds, err := f.Store.UnlinkedFeeds(ctx, step)
		if err != nil || len(feeds) == 0 {
			return err
		}
		for _, feed := range feeds {
			if err := f.linkParents(ctx, feed); err != nil {
				return fmt.Errorf("link the feed %s to its parents: %w", feed.ID, err)
			}
		}
	}
}

func (f *Feeds) linkParents(ctx context.Context, feed feedmill.Feed) error {
	kind, err := f.source(feed.Type)
	if err != nil {
		return err
	}
	links, stale := []feedmill.ParentLink(nil), false
	for _, p := range kind.Parents(feed.Spec) {
		parent, err := f.Store.Feed(ctx, feed.Workspace, p.ID)
		if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return err
		}
		link := feedmill.ParentLink{Child: feed.ID, Parent: p.ID, Version: parent.Version, Seen: parent.Version}
		for _, u := range kind.Upstream(feed.Position) {
			if (u.ID == p.ID || u.ID == "") && u.Version > 0 { // the first releases did not keep the id
				link.Seen = u.Version
			}
		}
		links, stale = append(links, link), stale || link.Seen < link.Version
	}
	if len(links) > 0 {
		err = f.changeSource(ctx, feed.Workspace, feed.Source, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
			c.Parents = append(c.Parents, links...)
			if kept := c.Feed(feed.ID); stale && kept.LastError == nil && kept.Active() {
				c.Follow(links[0].Parent, now())
			}
			return nil, nil
		})
	}
	if errors.Is(err, feedmill.ErrOwnParent) {
		f.Log.Warn("a feed is built from its own rows, so new versions do not refresh it", "feed", feed.ID)
		err = nil
	}
	if err != nil {
		return err
	}
	return f.Store.MarkLinked(ctx, feed.Workspace, feed.ID)
}

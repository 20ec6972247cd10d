package record

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// NotedSource is what a change found, as far as it may not change it.
type NotedSource struct {
	source  feedmill.Source
	feeds   []notedFeed
	parents []feedmill.ParentLink
}

type notedFeed struct {
	feed feedmill.Feed
	// last is the id of the last refresh, empty where there was none.
	last feedmill.ID
}

// NoteSource notes what a change is about to find.
func NoteSource(c *feedmill.SourceChange) NotedSource {
	n := NotedSource{source: c.Source, parents: slices.Clone(c.Parents)}
	for _, f := range c.Feeds {
		n.feeds = append(n.feeds, notedFeed{f, LastRefresh(f)})
	}
	return n
}

// SourceWrite says how a change that has been checked is to be written.
type SourceWrite struct {
	// There are the feeds that the source has, and Added those that are new.
	There, Added []feedmill.Feed
	// Replaced are refreshes that are not the last of their feeds any more.
	Replaced []feedmill.Refresh
	// Superseded says of each refresh of the change whether it is not the last
	// of its feed.
	Superseded []bool
}

// made is the feed that is new with the change, empty where none is.
func (w SourceWrite) made() feedmill.ID {
	if len(w.Added) == 0 {
		return ""
	}
	return w.Added[0].ID
}

// Check puts back what a change may not change, and returns how it is to be
// written. A version that is not the next of its feed is feedmill.ErrConflict;
// a version, refresh or trace of a feed that the source does not have is
// feedmill.ErrNotFound.
func (n NotedSource) Check(c *feedmill.SourceChange) (w SourceWrite, err error) {
	s := &c.Source
	s.ID, s.Workspace, s.Type, s.CreatedAt = n.source.ID, n.source.Workspace, n.source.Type, n.source.CreatedAt
	if len(c.Feeds) < len(n.feeds) {
		return w, fmt.Errorf("a change of a source left %d of its %d feeds", len(c.Feeds), len(n.feeds))
	}
	for i := range c.Feeds {
		f, was := &c.Feeds[i], notedFeed{feed: feedmill.Feed{ID: c.Feeds[i].ID, CreatedAt: c.Feeds[i].CreatedAt}}
		if i < len(n.feeds) {
			was = n.feeds[i]
		}
		if f.ID != was.feed.ID {
			return w, fmt.Errorf("a change of a source left another feed in the place of %s", was.feed.ID)
		}
		f.Workspace, f.Source, f.Type, f.Version, f.CreatedAt = s.Workspace, s.ID, s.Type, was.feed.Version, was.feed.CreatedAt
		last := LastRefresh(*f)
		if last == was.last {
			continue
		}
		if !writes(c, f.ID, last) {
			return w, fmt.Errorf("a change of a source gave %s a last refresh that it does not write", f.ID)
		}
		if was.last != "" {
			w.Replaced = append(w.Replaced, feedmill.Refresh{ID: was.last, Feed: f.ID})
		}
	}
	if err := checkVersions(c); err != nil {
		return w, err
	}
	for _, r := range c.Refreshes {
		f := c.Feed(r.Feed)
		if f == nil {
			return w, feedmill.ErrNotFound
		}
		w.Superseded = append(w.Superseded, LastRefresh(*f) != r.ID)
	}
	for _, t := range c.Traces {
		if c.Feed(t.Feed) == nil {
			return w, feedmill.ErrNotFound
		}
	}
	w.There, w.Added = c.Feeds[:len(n.feeds)], c.Feeds[len(n.feeds):]
	return w, nil
}

// checkVersions holds that each version is the next of its feed, and gives the
// feed its number.
func checkVersions(c *feedmill.SourceChange) error {
	for _, v := range c.Versions {
		f := c.Feed(v.Feed)
		if f == nil {
			return feedmill.ErrNotFound
		}
		if v.Number != f.Version+1 {
			return feedmill.ErrConflict
		}
	}
	for _, v := range c.Versions {
		c.Feed(v.Feed).Version = v.Number
	}
	return nil
}

// writes reports whether a change writes a refresh.
func writes(c *feedmill.SourceChange, feed, refresh feedmill.ID) bool {
	for _, r := range c.Refreshes {
		if r.Feed == feed && r.ID == refresh {
			return true
		}
	}
	return false
}

package feedmill

import (
	"slices"
	"time"
)

// FeedParent is a feed whose rows another feed is built from, and the place in the
// definition that names it.
type FeedParent struct {
	ID      ID
	Pointer string
}

// ParentLink ties a feed to one of its parents.
type ParentLink struct {
	Child, Parent ID
	// Version is the parent's current one, 0 if the parent has none or was deleted. Seen is
	// the one that the child's last run began with or read, -1 if the parent was deleted since.
	Version, Seen int64
}

// isStale reports whether the parent has changed since the child's last run.
func (l *ParentLink) isStale() bool { return l.Seen < l.Version }

// ErrOwnParent says that a feed would be built from its own rows.
var ErrOwnParent = &Error{
	Kind: ErrConflict, Type: "concurrent-change", Transient: true,
	Detail: "A feed was changed by another request, so this feed would be built from its own rows. Fetch both feeds again and retry.",
}

// SetParents gives all feeds of the source these parents.
func (c *SourceChange) SetParents(parents []FeedParent) {
	was := c.Parents
	c.Parents = nil
	for i := range c.Feeds {
		for _, p := range parents {
			link := ParentLink{Child: c.Feeds[i].ID, Parent: p.ID}
			same := func(l ParentLink) bool { return l.Child == link.Child && l.Parent == link.Parent }
			if at := slices.IndexFunc(was, same); at >= 0 {
				link = was[at]
			}
			if !slices.ContainsFunc(c.Parents, same) {
				c.Parents = append(c.Parents, link)
			}
		}
	}
}

// Follow requests a refresh of the feeds that are built from a feed that has a new
// version or was deleted. A refresh that is running is followed by another; see
// [SourceChange.CatchUp].
func (c *SourceChange) Follow(parent ID, now time.Time) {
	for _, l := range c.Parents {
		if f := c.Feed(l.Child); l.Parent == parent && c.follows(f) {
			c.By = string(parent)
			c.request(f, now)
		}
	}
}

// follows reports whether new versions of its parents have a feed refreshed.
func (c *SourceChange) follows(f *Feed) bool {
	return c.Source.Schedule.IsZero() && f.State != FeedPaused
}

// CatchUp requests another refresh of the feeds whose parents have changed during the run
// that ends with this change.
func (c *SourceChange) CatchUp(now time.Time) {
	for i := range c.Feeds {
		f := &c.Feeds[i]
		ended := slices.ContainsFunc(c.Refreshes, func(r Refresh) bool { return r.Feed == f.ID && r.ID == f.LastRefresh.ID && !r.Open() })
		if l := c.staleParent(f.ID); ended && l != nil && c.follows(f) {
			c.By = string(l.Parent)
			c.request(f, now)
		}
	}
}

// staleParent returns the first link to a parent that has changed since the feed's last run, or nil.
func (c *SourceChange) staleParent(feed ID) *ParentLink {
	for i := range c.Parents {
		if l := &c.Parents[i]; l.Child == feed && l.isStale() {
			return l
		}
	}
	return nil
}

// see notes the versions of its parents that a run of a feed has read, or their current
// ones where versions is nil.
func (c *SourceChange) see(feed ID, versions []UpstreamVersion) {
	for i := range c.Parents {
		l := &c.Parents[i]
		if l.Child != feed {
			continue
		}
		if versions == nil {
			l.Seen = l.Version
		}
		for _, v := range versions {
			if v.ID == l.Parent {
				l.Seen = max(l.Seen, v.Version)
			}
		}
	}
}

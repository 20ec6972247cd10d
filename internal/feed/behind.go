package feed

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
)

// attentive is a source that knows which version of their parent the rows of a feed
// are made of.
type attentive interface {
	// Seen is the number of that version, 0 where it is not known.
	Seen(position []byte) int64
}

// behind reports whether a feed has the rows of an older version of its parent, and
// nothing is under way that would change that. One that failed is not: its next
// version, or whoever mends it, has it fetched.
func (f *Feeds) behind(child, parent feedmill.Feed) bool {
	kind, ok := f.Sources[child.Type].(attentive)
	if !ok || !child.Schedule.IsZero() || child.LastError != nil || child.Awaits() || !child.Active() {
		return false
	}
	seen := kind.Seen(child.Position)
	return seen > 0 && seen < parent.Version
}

// doubt has the children of a workspace looked at once more.
func (c *children) doubt(workspace feedmill.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsure == nil {
		c.unsure = make(map[feedmill.ID]bool)
	}
	c.unsure[workspace] = true
}

// CatchUp has feeds fetched that are behind their parents. Whoever makes a version
// has its children fetched; but the process may end before that, and it does not know
// of those that another process has just made, or is running. The first time
// all workspaces are looked at, and then those with new versions.
func (f *Feeds) CatchUp(ctx context.Context) error {
	c := &f.children
	c.mu.Lock()
	unsure, swept := c.unsure, c.swept
	c.unsure, c.swept = nil, true
	c.mu.Unlock()
	if !swept {
		all, err := f.everyWorkspace(ctx)
		if err != nil {
			c.mu.Lock()
			c.swept = false
			c.mu.Unlock()
			return err
		}
		unsure = all
	}
	var errs []error
	for workspace := range unsure {
		if err := f.catchUp(ctx, workspace); err != nil {
			c.doubt(workspace)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// catchUp looks at the feeds of a workspace, and once more at those that run.
func (f *Feeds) catchUp(ctx context.Context, workspace feedmill.ID) error {
	feeds := make(map[feedmill.ID]feedmill.Feed)
	children := make(map[feedmill.ID]feedmill.ID)
	err := f.each(ctx, workspace, func(feed feedmill.Feed) {
		feeds[feed.ID] = feedmill.Feed{Version: feed.Version}
		if of := f.parentOf(feed.Type, feed.Spec); of != "" {
			feeds[feed.ID], children[feed.ID] = feed, of
		}
	})
	for id, of := range children {
		feed := feeds[id]
		switch parent, ok := feeds[of]; {
		case ok && feed.Awaits():
			f.children.doubt(workspace)
		case ok && f.behind(feed, parent):
			err = errors.Join(err, f.follow(ctx, workspace, child{id, feed.Source}))
		}
	}
	return err
}

// each goes through the feeds of a workspace.
func (f *Feeds) each(ctx context.Context, workspace feedmill.ID, do func(feedmill.Feed)) error {
	const step = 500
	for page := (feedmill.Page{Limit: step}); ; {
		feeds, err := f.Store.Feeds(ctx, workspace, page)
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			do(feed)
			page.Before = feed.ID
		}
		if len(feeds) < step {
			return nil
		}
	}
}

func (f *Feeds) everyWorkspace(ctx context.Context) (map[feedmill.ID]bool, error) {
	const step = 500
	all := make(map[feedmill.ID]bool)
	for page := (feedmill.Page{Limit: step}); ; {
		workspaces, err := f.Store.Workspaces(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, w := range workspaces {
			all[w.ID] = true
			page.Before = w.ID
		}
		if len(workspaces) < step {
			return all, nil
		}
	}
}

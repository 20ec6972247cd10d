package feed

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// offspring is a source whose feeds can be made for the rows of another feed, their
// parent.
type offspring interface {
	// Parent is the feed whose rows a definition is repeated for, empty for none.
	Parent(spec []byte) feedmill.ID
	// Upstream is the version of the parent that a feed at a position was built from,
	// the zero value where it is not known.
	Upstream(position []byte) feedmill.UpstreamVersion
}

// parentOf is the parent of a feed, empty where it has none.
func (m *Mill) parentOf(t feedmill.FeedType, spec []byte) feedmill.ID {
	if kind, ok := m.Sources[t].(offspring); ok {
		return kind.Parent(spec)
	}
	return ""
}

// checkParent refuses a parent that is not there, or that is made of the rows of the
// feed itself, in however many steps. The id is empty for a new feed.
func (f *Feeds) checkParent(ctx context.Context, workspace, id, source feedmill.ID, t feedmill.FeedType, spec []byte) error {
	refuse := func(detail string) error {
		place := "/each/in/feedId"
		if t == feedmill.FeedQuery {
			place = "/viewName"
		}
		return feedmill.Invalid("", feedmill.Fault{Pointer: place, Detail: detail})
	}
	seen := make(map[feedmill.ID]bool)
	for parent := f.parentOf(t, spec); parent != ""; {
		feed, err := f.Store.Feed(ctx, workspace, parent)
		switch {
		case seen[parent]:
			return refuse("The rows of that feed are made of its own.")
		case errors.Is(err, feedmill.ErrNotFound):
			return refuse("There is no such feed in this workspace.")
		case err != nil:
			return err
		case feed.ID == id || feed.Source == source:
			return refuse("The feed would be made of its own rows.")
		}
		seen[parent] = true
		parent = f.parentOf(feed.Type, feed.Spec)
	}
	return nil
}

// dependents lists the feeds that are built from the rows of another one directly. It
// reads the store rather than [children], which other processes do not share.
func (f *Feeds) dependents(ctx context.Context, workspace, id feedmill.ID) (users []feedmill.FeedReference, err error) {
	err = f.each(ctx, workspace, func(feed feedmill.Feed) {
		if f.parentOf(feed.Type, feed.Spec) == id {
			users = append(users, feedmill.FeedReference{ID: feed.ID, Name: feed.Name})
		}
	})
	return users, err
}

// children knows the feeds that are made for the rows of others, for a while: who is
// looked for after every new version, and changes rarely.
type children struct {
	mu sync.Mutex
	of map[feedmill.ID]family
	// forgotten counts how often the children of a workspace were forgotten, so that
	// what was read before is not taken for what is there after it.
	forgotten map[feedmill.ID]int
	// missed are children whose parent had a new version while they ran.
	missed map[feedmill.ID]bool
	// unsure are the workspaces of feeds that had new versions of late: another
	// process may have made children meanwhile, or have run them.
	unsure map[feedmill.ID]bool
	// swept says that all workspaces were looked at once.
	swept bool
}

// family are the children of a workspace's feeds.
type family struct {
	at time.Time
	of map[feedmill.ID][]child
	// parents are those of all feeds that have one.
	parents map[feedmill.ID]feedmill.ID
}

// above reports whether a feed is made of the rows of another, in however many steps.
func (f *family) above(other, id feedmill.ID) bool {
	seen := make(map[feedmill.ID]bool)
	for ; id != "" && !seen[id]; id = f.parents[id] {
		if id == other {
			return true
		}
		seen[id] = true
	}
	return false
}

type child struct{ feed, source feedmill.ID }

// childrenKnown is how long it is not asked again who has which children.
const childrenKnown = 20 * time.Second

// forget has children looked for anew.
func (c *children) forget(workspace feedmill.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, workspace)
	if c.forgotten == nil {
		c.forgotten = make(map[feedmill.ID]int)
	}
	c.forgotten[workspace]++
}

// childrenOf are the children of a feed that have no schedule of their own.
func (f *Feeds) childrenOf(ctx context.Context, workspace, parent feedmill.ID) ([]child, error) {
	c := &f.children
	c.mu.Lock()
	known, ok := c.of[workspace]
	forgotten := c.forgotten[workspace]
	c.mu.Unlock()
	if ok && time.Since(known.at) < childrenKnown {
		return known.childrenOf(parent), nil
	}
	found := family{at: time.Now(), of: make(map[feedmill.ID][]child), parents: make(map[feedmill.ID]feedmill.ID)}
	err := f.each(ctx, workspace, func(feed feedmill.Feed) {
		if of := f.parentOf(feed.Type, feed.Spec); of != "" {
			found.parents[feed.ID] = of
			if feed.Schedule.IsZero() {
				found.of[of] = append(found.of[of], child{feed.ID, feed.Source})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[feedmill.ID]family)
	}
	if c.forgotten[workspace] == forgotten {
		c.of[workspace] = found
	}
	return found.childrenOf(parent), nil
}

// childrenOf are the children of a feed, but for those that it is made of itself: two
// who change two feeds at the same time can make them children of each other, and each
// would have the other fetched for ever.
func (f *family) childrenOf(parent feedmill.ID) []child {
	return slices.DeleteFunc(slices.Clone(f.of[parent]), func(c child) bool { return f.above(c.feed, parent) })
}

// followTimeout bounds how long requesting the refreshes of children may take. The server
// waits for that when it stops; housekeeping requests what is missed (see CatchUp).
const followTimeout = 10 * time.Second

// followed has the children of a feed fetched that has a new version, or is gone,
// which they are to tell of.
func (f *Feeds) followed(workspace, parent feedmill.ID) {
	f.children.doubt(workspace)
	ctx, cancel := context.WithTimeout(context.Background(), followTimeout)
	defer cancel()
	all, err := f.childrenOf(ctx, workspace, parent)
	for _, child := range all {
		err = errors.Join(err, f.follow(ctx, workspace, child))
	}
	if err != nil {
		f.Log.Warn("having the children of a feed fetched", "feed", parent, "error", err)
	}
}

// follow has a child fetched: once more after it has ended, where it runs.
func (f *Feeds) follow(ctx context.Context, workspace feedmill.ID, child child) error {
	err := f.changeSource(ctx, workspace, child.source, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		feed := c.Feed(child.feed)
		if feed == nil || feed.State == feedmill.FeedPaused {
			return nil, nil
		}
		if feed.Awaits() && feed.LastRefresh.State == feedmill.RefreshRunning {
			f.children.mu.Lock()
			defer f.children.mu.Unlock()
			if f.children.missed == nil {
				f.children.missed = make(map[feedmill.ID]bool)
			}
			f.children.missed[child.feed] = true
			return nil, nil
		}
		c.By = string(f.parentOf(feed.Type, feed.Spec))
		_, err := c.Request(child.feed, now())
		return nil, err
	})
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil
	}
	f.Engine.Wake()
	return err
}

// caughtUp has feeds fetched once more whose parents had new versions meanwhile.
func (f *Feeds) caughtUp(workspace, source feedmill.ID, feeds []feedmill.ID) {
	for _, id := range feeds {
		f.children.mu.Lock()
		missed := f.children.missed[id]
		delete(f.children.missed, id)
		f.children.mu.Unlock()
		if missed {
			ctx, cancel := context.WithTimeout(context.Background(), followTimeout)
			if err := f.follow(ctx, workspace, child{id, source}); err != nil {
				f.Log.Warn("having a feed fetched once more", "feed", id, "error", err)
			}
			cancel()
		}
	}
}

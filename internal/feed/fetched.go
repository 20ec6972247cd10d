package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest"
)

// CreateFetched makes a feed that fetches its data, and has its first refresh
// begin.
func (f *Feeds) CreateFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	if n.SourceOf != "" {
		return f.addFetched(ctx, workspace, n, keep)
	}
	def, err := f.define(n.Body)
	if err != nil {
		return feedmill.Feed{}, err
	}
	at := now()
	source := feedmill.Source{ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: workspace, Type: n.Type, CreatedAt: at}
	if err := f.describe(&source, def, at); err != nil {
		return feedmill.Feed{}, err
	}
	c := feedmill.SourceChange{Source: source}
	feed, err := addFeed(&c, newFetched(def, def.Public(), at), keep)
	if err != nil {
		return feedmill.Feed{}, err
	}
	due, err := f.store.CreateFeed(ctx, feedmill.NewFeed{Feed: feed, Source: &c.Source, Refresh: feed.LastRefresh}, c.Events, f.maxAttempts, c.IdempotentResponse)
	if err != nil {
		return feedmill.Feed{}, fmt.Errorf("create feed: %w", err)
	}
	f.queue.Offer(due)
	f.Engine.Wake()
	return feed, nil
}

// addFetched makes one more feed of a source.
func (f *Feeds) addFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	def, err := rest.ParseFeed(n.Body)
	if err != nil {
		return feedmill.Feed{}, err
	}
	other, err := f.store.Feed(ctx, workspace, n.SourceOf)
	if err != nil {
		return feedmill.Feed{}, err
	}
	if def.Name == "" {
		def.Name = other.Name
	}
	at := now()
	feed := feedmill.Feed{}
	err = f.changeSource(ctx, workspace, other.Source, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		spec, err := f.restore(ctx, c.Source)
		if err != nil {
			return nil, err
		}
		public, err := rest.Overlay(def.Public(), c.Source.Spec)
		if err != nil {
			return nil, err
		}
		made := newFetched(def, public, at)
		if _, incremental := spec.CursorColumn(); incremental && made.Mode == feedmill.ModeReplace {
			made.Mode = feedmill.ModeAppend
			if len(made.Key) > 0 {
				made.Mode = feedmill.ModeMerge
			}
		}
		feed, err = addFeed(c, made, keep)
		return nil, err
	})
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.Engine.Wake()
	return feed, nil
}

// define reads the definition of a feed and its source.
func (f *Feeds) define(body []byte) (*rest.Definition, error) {
	def, err := rest.Parse(body, f.maxBytes)
	return def, f.checkURLs(def, err)
}

// checkURLs refuses places that the egress policy is known to forbid, besides
// what is wrong already. A name is known only when it is resolved, with each
// request.
func (f *Feeds) checkURLs(def *rest.Definition, wrong error) error {
	var faults []feedmill.Fault
	refusal, listed := errors.AsType[*feedmill.Error](wrong)
	if wrong != nil && !listed {
		return wrong
	}
	for _, place := range def.URLs() {
		if isLocalName(place.URL.Hostname()) {
			continue
		}
		if err := f.policy.CheckURL(place.URL); err != nil {
			faults = append(faults, feedmill.Fault{Pointer: place.Pointer, Detail: "The URL cannot be used: " + err.Error() + "."})
		}
	}
	switch {
	case len(faults) == 0:
		return wrong
	case !listed:
		return feedmill.Invalid("", faults...)
	}
	all := *refusal
	all.Faults = append(slices.Clone(refusal.Faults), faults...)
	return &all
}

// isLocalName reports whether a host is a name for this machine, which the
// policy knows without resolving it.
func isLocalName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// describe gives a source what a definition says of it.
func (f *Feeds) describe(s *feedmill.Source, def *rest.Definition, at time.Time) (err error) {
	s.Host, s.Spec, s.Schedule, s.UpdatedAt = def.Host(), def.SourceSpec(), def.Schedule, at
	s.Secrets, err = f.vault.Seal(def.Secrets(), s.SecretsRecord())
	return err
}

// restore is how a source is fetched, with its secrets.
func (f *Feeds) restore(ctx context.Context, s feedmill.Source) (*rest.Spec, error) {
	secrets, err := f.vault.Unseal(ctx, s.Secrets, s.SecretsRecord())
	if err != nil {
		return nil, fmt.Errorf("the secrets of a source: %w", err)
	}
	return rest.Restore(s.Spec, secrets)
}

func newFetched(def *rest.Definition, public []byte, at time.Time) feedmill.Feed {
	return feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Name: def.Name, Description: def.Description, State: feedmill.FeedPending,
		Mode: def.Mode, Key: def.Key, Spec: public, CreatedAt: at, UpdatedAt: at,
	}
}

// addFeed adds a feed to a source, with its first refresh asked for.
func addFeed(c *feedmill.SourceChange, feed feedmill.Feed, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	feed.Workspace, feed.Source, feed.Type = c.Source.Workspace, c.Source.ID, c.Source.Type
	c.Feeds = append(c.Feeds, feed)
	if _, err := c.Request(feed.ID, feed.CreatedAt); err != nil {
		return feedmill.Feed{}, err
	}
	made := *c.Feed(feed.ID)
	events, err := feedEvents(made, newsCreated)
	if err != nil {
		return feedmill.Feed{}, err
	}
	c.Events = append(c.Events, events...)
	c.IdempotentResponse, err = keep(made)
	return made, err
}

// changeSource changes a source and its feeds and tells of what is news.
func (f *Feeds) changeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) ([]feedmill.SourceNews, error)) error {
	due, err := f.store.ChangeSource(ctx, workspace, source, func(c *feedmill.SourceChange) error {
		news, err := change(c)
		if err != nil {
			return err
		}
		events, err := NewsEvents(c, news)
		c.Events = append(c.Events, events...)
		return err
	}, f.maxAttempts)
	if err != nil {
		return err
	}
	f.queue.Offer(due)
	return nil
}

// steer changes how a feed stands with its source.
func (f *Feeds) steer(ctx context.Context, workspace, id feedmill.ID, keep feedmill.FeedResponse, change func(*feedmill.SourceChange) ([]feedmill.SourceNews, error)) (feed feedmill.Feed, err error) {
	if feed, err = f.store.Feed(ctx, workspace, id); err != nil {
		return feedmill.Feed{}, err
	}
	err = f.changeSource(ctx, workspace, feed.Source, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		news, err := change(c)
		if err != nil {
			return nil, err
		}
		feed = *c.Feed(id)
		c.IdempotentResponse, err = keep(feed)
		return news, err
	})
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.Engine.Wake()
	return feed, nil
}

// Pause keeps a feed from fetching.
func (f *Feeds) Pause(ctx context.Context, workspace, id feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	return f.steer(ctx, workspace, id, keep, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) { return c.Pause(id, now()) })
}

// Resume lets a feed fetch again.
func (f *Feeds) Resume(ctx context.Context, workspace, id feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	return f.steer(ctx, workspace, id, keep, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) { return c.Resume(id, now()) })
}

// RefreshFeed has a feed fetch its data now.
func (f *Feeds) RefreshFeed(ctx context.Context, workspace, id feedmill.ID, keep feedmill.RefreshResponse) (feedmill.Refresh, error) {
	feed, err := f.steer(ctx, workspace, id, func(feed feedmill.Feed) (*feedmill.IdempotentResponse, error) { return keep(*feed.LastRefresh) },
		func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
			_, err := c.Request(id, now())
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
	feed, err := f.steer(ctx, workspace, id, func(feedmill.Feed) (*feedmill.IdempotentResponse, error) { return nil, nil },
		func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
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
		feed, err := f.store.Feed(context.WithoutCancel(ctx), workspace, id)
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

// changeFetched changes what people call a feed, and how it fetches its data.
func (f *Feeds) changeFetched(ctx context.Context, before feedmill.Feed, patch feedmill.FeedPatch) (feed feedmill.Feed, err error) {
	redefine := func(*feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		return []feedmill.SourceNews{{Feed: before.ID, Kind: feedmill.NewsUpdated}}, nil
	}
	if patch.Spec != nil {
		if redefine, err = f.redefinition(ctx, before, patch.Spec); err != nil {
			return feedmill.Feed{}, err
		}
	}
	var run int64
	feed, err = f.steer(ctx, before.Workspace, before.ID, func(feedmill.Feed) (*feedmill.IdempotentResponse, error) { return nil, nil },
		func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
			feed := c.Feed(before.ID)
			if feed == nil {
				return nil, feedmill.ErrNotFound
			}
			rename(feed, patch)
			news, err := redefine(c)
			run = c.Source.Run
			return news, err
		})
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.Engine.Cancel(feed.Source, run)
	return feed, nil
}

// redefinition is the change of a source and its feeds that a patch of one
// feed's definition means.
func (f *Feeds) redefinition(ctx context.Context, before feedmill.Feed, patch []byte) (func(*feedmill.SourceChange) ([]feedmill.SourceNews, error), error) {
	source, err := f.store.Source(ctx, before.Workspace, before.Source)
	if err != nil {
		return nil, err
	}
	secrets, err := f.vault.Unseal(ctx, source.Secrets, source.SecretsRecord())
	if err != nil {
		return nil, fmt.Errorf("the secrets of a source: %w", err)
	}
	def, err := rest.Merge(before.Spec, secrets, patch, f.maxBytes)
	if err := f.checkURLs(def, err); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(patch, &members); err != nil {
		return nil, fmt.Errorf("read a patch: %w", err)
	}
	shared := !bytes.Equal(def.SourceSpec(), source.Spec) || !bytes.Equal(def.Secrets(), secrets)
	return func(c *feedmill.SourceChange) (news []feedmill.SourceNews, err error) {
		if !bytes.Equal(c.Source.Spec, source.Spec) || !bytes.Equal(c.Source.Secrets, source.Secrets) || !bytes.Equal(c.Feed(before.ID).Spec, before.Spec) {
			return nil, &feedmill.Error{Kind: feedmill.ErrConflict, Type: "concurrent-change", Detail: "Somebody else has changed the feed at the same time; read it and try again."}
		}
		at := now()
		if err := f.describe(&c.Source, def, at); err != nil {
			return nil, err
		}
		for i := range c.Feeds {
			feed := &c.Feeds[i]
			if feed.ID == before.ID {
				feed.Spec, feed.Mode, feed.Key = def.Public(), def.Mode, def.Key
			} else if feed.Spec, err = rest.Overlay(feed.Spec, c.Source.Spec); err != nil {
				return nil, err
			}
			if feed.ID == before.ID || shared {
				news = append(news, feedmill.SourceNews{Feed: feed.ID, Kind: feedmill.NewsUpdated})
			}
		}
		more, err := f.fetchAnew(c, changed(c, before.ID, shared), members, at)
		return append(news, more...), err
	}, nil
}

// changed are the feeds that a change of one's definition is for.
func changed(c *feedmill.SourceChange, feed feedmill.ID, shared bool) (ids []feedmill.ID) {
	for i := range c.Feeds {
		if c.Feeds[i].ID == feed || shared {
			ids = append(ids, c.Feeds[i].ID)
		}
	}
	return ids
}

// fetchAnew does what a change of some members of a definition calls for. What
// is fetched, or how it is read, is other data: everything is fetched, and takes
// the place of what is there. Another credential is tried where the last was of no
// use. Everything else counts from the next refresh on.
func (f *Feeds) fetchAnew(c *feedmill.SourceChange, feeds []feedmill.ID, members map[string]json.RawMessage, at time.Time) ([]feedmill.SourceNews, error) {
	for _, name := range []string{"request", "response", "pagination", "incremental"} {
		if _, given := members[name]; given {
			return c.Redo(feeds, at)
		}
	}
	if _, given := members["auth"]; given {
		for _, id := range feeds {
			if feed := c.Feed(id); feed.LastError == nil || feed.State == feedmill.FeedPaused {
				continue
			}
			if _, err := c.Request(id, at); err != nil {
				return nil, err
			}
		}
	}
	c.Plan(at)
	return nil, nil
}

// forgetRun ends the run of a source that went with its last feed.
func (f *Feeds) forgetRun(ctx context.Context, feed feedmill.Feed) {
	if _, err := f.store.Source(ctx, feed.Workspace, feed.Source); errors.Is(err, feedmill.ErrNotFound) {
		f.Engine.Cancel(feed.Source, math.MaxInt64)
	}
}

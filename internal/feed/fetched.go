package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// CreateFetched makes a feed that fetches its data, and has its first refresh
// begin.
func (f *Feeds) CreateFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	source, err := f.source(n.Type)
	if err != nil {
		return feedmill.Feed{}, err
	}
	if n.SourceOf != "" {
		if n.Refused != nil {
			return feedmill.Feed{}, n.Refused
		}
		return f.addFetched(ctx, workspace, source, n, respond)
	}
	def, err := source.Define(n.Body)
	def, err = check(ctx, source, workspace, def, err)
	if err = feedmill.WithFaults(n.Refused, err); err != nil {
		return feedmill.Feed{}, err
	}
	parents := source.Parents(def.Spec)
	if err := f.checkParents(ctx, workspace, "", "", parents); err != nil {
		return feedmill.Feed{}, err
	}
	at := now()
	c := feedmill.SourceChange{By: feedmill.TriggerOf(ctx), Source: feedmill.Source{ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: workspace, Type: n.Type, CreatedAt: at}}
	if err := f.defineSource(&c.Source, def.Source, at); err != nil {
		return feedmill.Feed{}, err
	}
	begun := c
	feed := newFetched(def, n.Policy, at)
	feed.Workspace = workspace
	fresh := feed
	err = f.withTableName(ctx, &fresh, func() (err error) {
		c = begun
		if feed, err = f.addFeed(&c, fresh, parents, respond); err != nil {
			return err
		}
		return f.Store.CreateFeed(ctx, feedmill.NewFeed{Feed: feed, Source: &c.Source, Refresh: feed.LastRefresh, Parents: c.Parents}, c.Events, c.IdempotentResponse)
	})
	if err != nil {
		return feedmill.Feed{}, fmt.Errorf("create feed: %w", err)
	}
	f.Engine.Wake()
	return feed, nil
}

// addFetched makes one more feed of a source.
func (f *Feeds) addFetched(ctx context.Context, workspace feedmill.ID, source Source, n feedmill.FetchedFeed, respond feedmill.FeedResponse) (feed feedmill.Feed, err error) {
	other, err := f.Store.Feed(ctx, workspace, n.SourceOf)
	if err != nil {
		return feedmill.Feed{}, err
	}
	stored, err := f.Store.Source(ctx, workspace, other.Source)
	if err != nil {
		return feedmill.Feed{}, err
	}
	at := now()
	define := func(s feedmill.Source) (feedmill.Feed, error) {
		def, err := source.DefineFeed(n.Body, s.Spec)
		if def.Name == "" {
			def.Name = other.Name
		}
		return newFetched(def, n.Policy, at), err
	}
	fresh, err := define(stored)
	if err != nil {
		return feedmill.Feed{}, err
	}
	fresh.Workspace = workspace
	err = f.withTableName(ctx, &fresh, func() error {
		return f.changeSource(ctx, workspace, other.Source, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
			added, err := define(c.Source)
			if err != nil {
				return nil, err
			}
			added.ID, added.TableName = fresh.ID, fresh.TableName
			feed, err = f.addFeed(c, added, source.Parents(added.Spec), respond)
			return nil, err
		})
	})
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.Engine.Wake()
	return feed, nil
}

// defineSource gives a source what a definition says of it.
func (f *Feeds) defineSource(s *feedmill.Source, def feedmill.SourceDefinition, at time.Time) (err error) {
	s.Host, s.Spec, s.Rules, s.Schedule, s.UpdatedAt = def.Host, def.Spec, def.Rules, def.Schedule, at
	s.Secrets, err = f.Vault.Seal(def.Secrets, s.SecretsRecord())
	return err
}

func newFetched(def feedmill.FeedDefinition, policy feedmill.FeedPatch, at time.Time) feedmill.Feed {
	feed := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Name: def.Name, Description: def.Description, State: feedmill.FeedPending,
		Mode: def.Mode, Key: def.Key, Spec: def.Spec, Rules: def.Rules, Pins: def.Pins, CreatedAt: at,
	}
	_ = rename(&feed, policy) // what is expected of columns cannot be wrong before there are any
	feed.UpdatedAt = at
	return feed
}

// addFeed adds a feed to a source, with its first refresh asked for. All feeds of a source
// have the same parents.
func (f *Feeds) addFeed(c *feedmill.SourceChange, feed feedmill.Feed, parents []feedmill.FeedParent, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	feed.Workspace, feed.Source, feed.Type = c.Source.Workspace, c.Source.ID, c.Source.Type
	c.Feeds = append(c.Feeds, feed)
	c.SetParents(parents)
	if _, err := c.Request(feed.ID, feed.CreatedAt); err != nil {
		return feedmill.Feed{}, err
	}
	made := *c.Feed(feed.ID)
	events, err := f.Events.of(made, newsCreated)
	if err != nil {
		return feedmill.Feed{}, err
	}
	c.Events = append(c.Events, events...)
	c.IdempotentResponse, err = respond(made)
	return made, err
}

// changeFetched changes what people call a feed, and how it fetches its data.
func (f *Feeds) changeFetched(ctx context.Context, before feedmill.Feed, patch feedmill.FeedPatch) (feed feedmill.Feed, err error) {
	redefine := func(*feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		return []feedmill.SourceNews{{Feed: before.ID, Kind: feedmill.NewsUpdated, Fields: patch.Fields}}, nil
	}
	if patch.Spec != nil {
		if redefine, err = f.redefinition(ctx, before, patch); err != nil {
			return feedmill.Feed{}, err
		}
	}
	var run int64
	feed, err = f.control(ctx, before.Workspace, before.ID, noResponse, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		feed := c.Feed(before.ID)
		if feed == nil {
			return nil, feedmill.ErrNotFound
		}
		if err := rename(feed, patch); err != nil {
			return nil, err
		}
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
func (f *Feeds) redefinition(ctx context.Context, before feedmill.Feed, patch feedmill.FeedPatch) (func(*feedmill.SourceChange) ([]feedmill.SourceNews, error), error) {
	kind, err := f.source(before.Type)
	if err != nil {
		return nil, err
	}
	source, err := f.Store.Source(ctx, before.Workspace, before.Source)
	if err != nil {
		return nil, err
	}
	secrets, err := f.secrets(ctx, source)
	if err != nil {
		return nil, err
	}
	def, again, err := kind.Redefine(before, secrets, patch.Spec)
	def, err = check(ctx, kind, before.Workspace, def, err)
	if err = feedmill.WithFaults(patch.Refused, err); err != nil {
		return nil, err
	}
	parents := kind.Parents(def.Spec)
	if err := f.checkParents(ctx, before.Workspace, before.ID, before.Source, parents); err != nil {
		return nil, err
	}
	if def.Source.Rules == before.Rules {
		def.Source.Rules = source.Rules // the source may be older than this feed of it
	}
	shared := !bytes.Equal(def.Source.Spec, source.Spec) || !bytes.Equal(def.Source.Secrets, secrets) || def.Source.Rules != source.Rules
	return func(c *feedmill.SourceChange) (news []feedmill.SourceNews, err error) {
		if !bytes.Equal(c.Source.Spec, source.Spec) || !bytes.Equal(c.Source.Secrets, source.Secrets) || !bytes.Equal(c.Feed(before.ID).Spec, before.Spec) {
			return nil, &feedmill.Error{Kind: feedmill.ErrConflict, Type: "concurrent-change", Transient: true, Detail: "The feed was changed by another request. Fetch it again and retry with its new ETag."}
		}
		at := now()
		if err := f.defineSource(&c.Source, def.Source, at); err != nil {
			return nil, err
		}
		c.SetParents(parents)
		var changed []feedmill.ID
		for i := range c.Feeds {
			feed := &c.Feeds[i]
			if feed.ID == before.ID {
				err = redefine(feed, def, patch.Fields)
			} else {
				feed.Spec, err = kind.Describe(feed.Spec, c.Source.Spec)
			}
			if err != nil {
				return nil, err
			}
			if feed.ID == before.ID || shared {
				changed = append(changed, feed.ID)
				news = append(news, feedmill.SourceNews{Feed: feed.ID, Kind: feedmill.NewsUpdated, Fields: patch.Fields})
			}
		}
		refetched, err := fetchAgain(c, again, changed, at)
		return append(news, refetched...), err
	}, nil
}

// redefine gives a feed another definition, of which some fields were set.
func redefine(feed *feedmill.Feed, def feedmill.FeedDefinition, fields []string) error {
	if slices.Contains(fields, "key") || len(feed.Key) != len(def.Key) {
		feed.Key = def.Key // else it follows the names that its columns have got since
	}
	feed.Spec, feed.Mode, feed.Rules, feed.Pins = def.Spec, def.Mode, def.Rules, def.Pins
	if slices.Contains(fields, "columns") {
		return redefineColumns(feed)
	}
	return nil
}

// fetchAgain does what a change of the definition of feeds calls for.
func fetchAgain(c *feedmill.SourceChange, again feedmill.FetchAgain, feeds []feedmill.ID, at time.Time) ([]feedmill.SourceNews, error) {
	switch again {
	case feedmill.FetchAnew:
		return c.Redo(feeds, at)
	case feedmill.FetchFailed:
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

// cancelLastRun ends the run of a source that went with its last feed.
func (f *Feeds) cancelLastRun(ctx context.Context, feed feedmill.Feed) {
	if _, err := f.Store.Source(ctx, feed.Workspace, feed.Source); errors.Is(err, feedmill.ErrNotFound) {
		f.Engine.Cancel(feed.Source, math.MaxInt64)
	}
}

package feed

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is what feeds need of the store.
type Store interface {
	Versions
	Parents
	Tables
	CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, response *feedmill.IdempotentResponse) error
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error)
	TableNames(ctx context.Context, workspace feedmill.ID, base string) ([]string, error)
	NameTables(ctx context.Context, limit int) (named int, err error)
	ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change change) (feedmill.Feed, error)
	SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change change) (feedmill.Feed, error)
	RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change change) (feedmill.Feed, error)
	DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event) error
	ForgetVersions(ctx context.Context, now time.Time, limit int) (files []feedmill.UnreferencedFile, more bool, err error)
	ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []feedmill.UnreferencedFile, more bool, err error)
	CrowdedVersions(ctx context.Context, limit int) ([]feedmill.VersionRef, error)
	JoinFiles(ctx context.Context, of feedmill.VersionRef, files []string, joined feedmill.VersionFile, take func(feedmill.FeedVersion, *feedmill.VersionFile) bool) error
	StaleFeeds(ctx context.Context, at time.Time, limit int) ([]feedmill.Feed, error)
	VersionProfile(ctx context.Context, of feedmill.VersionRef) ([]byte, error)
	KeepProfile(ctx context.Context, of feedmill.VersionRef, profile []byte) error
	Export(ctx context.Context, of feedmill.VersionRef, prefix string) (name string, err error)
	KeepExport(ctx context.Context, of feedmill.VersionRef, file feedmill.VersionFile, replaced string, most int) (dropped []string, err error)
	AbandonedObjects(ctx context.Context, lease time.Duration, gone string, limit int) ([]string, error)
	AbandonObjects(ctx context.Context, files []feedmill.UnreferencedFile) error
	MarkUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error
	UnknownObjects(ctx context.Context, names []string) ([]string, error)
	FoundObjects(ctx context.Context, files []feedmill.UnreferencedFile) error
	BeginDeleting(ctx context.Context, wait time.Duration, most int64, limit int) ([]string, error)
	EndDeleting(ctx context.Context, names []string) error
	ForgetObject(ctx context.Context, name string) error
	ForgetObjects(ctx context.Context, age time.Duration, limit int) (int64, error)
	Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error)
	ChangeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) error) error
}

type change = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

// Engine has sources run.
type Engine interface {
	// Wake has the engine look for what is due now.
	Wake()
	// Cancel breaks off the run of a source whose number is below the given one.
	Cancel(source feedmill.ID, run int64)
}

// Options are what feeds work with, besides their fetcher.
type Options struct {
	Store  Store
	Engine Engine
	Events Events
	// TableRoot is where readers of tables find the files, such as s3://bucket/prefix. It is
	// empty if there are no tables.
	TableRoot string
}

// Feeds makes and changes feeds and keeps them up to date. What happens to a
// feed, the events that tell of it and the response to the request that asked
// for it are written together or not at all.
type Feeds struct {
	*Fetcher
	Options
	exports exports
	adding  feedQueue
	// rewritten has the last version of a feed whose files were rewritten for its table.
	rewritten sync.Map
	// elsewhere has the feeds whose files another replica has.
	elsewhere sync.Map
}

// New makes feeds of what a fetcher brings.
func New(f *Fetcher, o Options) *Feeds { return &Feeds{Fetcher: f, Options: o} }

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Change changes what people call a feed, and how it fetches its data.
func (f *Feeds) Change(ctx context.Context, workspace, id feedmill.ID, patch feedmill.FeedPatch) (feedmill.Feed, error) {
	before, err := f.Store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	if before.Type.HasSource() {
		return f.changeFetched(ctx, before, patch)
	}
	return f.Store.ChangeFeed(ctx, workspace, id, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		if err := rename(feed, patch); err != nil {
			return nil, nil, err
		}
		events, err := f.Events.tell(*feed, feedmill.SourceNews{Kind: feedmill.NewsUpdated, Fields: patch.Fields})
		return nil, events, err
	})
}

// rename changes what people call a feed, what it keeps and what they expect of it.
func rename(feed *feedmill.Feed, patch feedmill.FeedPatch) error {
	if patch.Name != nil {
		feed.Name = *patch.Name
	}
	if patch.Description != nil {
		feed.Description = *patch.Description
	}
	if patch.TableName != nil {
		feed.TableName = *patch.TableName
	}
	if patch.Keep != nil {
		feed.Keep = *patch.Keep
	}
	if patch.Schema != nil {
		feed.Expects.Schema = *patch.Schema
	}
	feed.Rules = patch.Rules.Or(feed.Rules)
	feed.UpdatedAt = now()
	if patch.ExpectEvery != nil {
		feed.Expects.Every = *patch.ExpectEvery
		feed.Watch()
	}
	if patch.Expect != nil {
		feed.Expects.Rows = *patch.Expect
		return checkExpected(feed, *patch.Expect)
	}
	return nil
}

// Delete deletes a feed. Its files are swept later. A feed that other feeds are built
// from is deleted only by force.
func (f *Feeds) Delete(ctx context.Context, workspace, id feedmill.ID, force bool) error {
	feed, err := f.Store.Feed(ctx, workspace, id)
	if err != nil {
		return err
	}
	if !force {
		users, err := f.Store.FeedChildren(ctx, workspace, id)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return feedmill.InUse("Other feeds are built from this feed", users, "Delete or change them first. With force=true the feed is deleted anyway, and their refreshes fail.")
		}
	}
	events, err := f.Events.of(feed, newsDeleted)
	if err != nil {
		return err
	}
	if err := f.Store.DeleteFeed(ctx, workspace, id, now(), events); err != nil {
		return err
	}
	if feed.Type.HasSource() {
		f.cancelLastRun(ctx, feed)
	}
	f.Engine.Wake() // for the feeds that are built from it
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/store/postgres"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// feedStore is where feeds are made without a fetch.
type feedStore interface {
	CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, response *feedmill.IdempotentResponse) error
	Close() error
}

// idle measures two Feedmills at the same time, of which one has many feeds with
// a schedule. Nobody asks them for anything, and nothing is due.
func idle(ctx context.Context, r *rig.Rig, o options) (err error) {
	var mills [2]*rig.Mill
	for i := range mills {
		if mills[i], err = r.Start(ctx, r.Feedmill); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, mills[i].Close()) }()
	}
	full := mills[1]
	if err := makeFeeds(ctx, full, o.feeds); err != nil {
		return err
	}
	const settled = 2 * time.Second // what was written is no concern of the measurement
	if err := pause(ctx, settled); err != nil {
		return err
	}
	var used [2]time.Duration
	for i, m := range mills {
		used[i] = -m.CPUTime()
	}
	if err := pause(ctx, o.idle); err != nil {
		return err
	}
	for i, m := range mills {
		used[i] += m.CPUTime()
		fmt.Printf("  %6d feeds: %.2f s of CPU in %v\n", i*o.feeds, used[i].Seconds(), o.idle)
	}
	fmt.Printf("%-40s %.2f %% of a core (wanted: under %.0f %%)\n", fmt.Sprintf("%d feeds that are not due", o.feeds),
		100*(used[1]-used[0]).Seconds()/o.idle.Seconds(), 100*wantedShare)
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// makeFeeds writes feeds into the store of a Feedmill as they are after their
// first refresh: each is due at some time within the next day.
func makeFeeds(ctx context.Context, mill *rig.Mill, n int) (err error) {
	c := client.New(mill.URL, mill.Key)
	store, err := openStore(ctx, mill)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	def, err := spec.Parse([]byte(`{"name":"idle","request":{"url":"http://127.0.0.1:9/rows"},"schedule":{"every":"24h"}}`), 1<<30)
	if err != nil {
		return err
	}
	const writers = 16
	failures := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n && failures[w] == nil; i += writers {
				failures[w] = store.CreateFeed(ctx, idleFeed(feedmill.ID(mill.Workspace), def, time.Hour+23*time.Hour*time.Duration(i)/time.Duration(n)), nil, nil)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	seen := 0
	for feed, err := range c.DataFeeds(ctx) {
		if err != nil {
			return err
		}
		if feed.State != feedmill.FeedReady || feed.Schedule == nil || time.Until(feed.NextRefreshAt) < time.Minute {
			return fmt.Errorf("feed %s is %s and due at %v", feed.ID, feed.State, feed.NextRefreshAt)
		}
		seen++
	}
	if seen != n {
		return fmt.Errorf("there are %d feeds of %d", seen, n)
	}
	return nil
}

func openStore(ctx context.Context, mill *rig.Mill) (feedStore, error) {
	if mill.Database != "" {
		return postgres.Open(ctx, mill.Database, feedmill.StoreOptions{})
	}
	return sqlite.Open(ctx, filepath.Join(mill.Folder, "feedmill.db"), feedmill.StoreOptions{})
}

// idleFeed is a feed with a source of its own that is due in a while.
func idleFeed(workspace feedmill.ID, def *spec.Definition, in time.Duration) feedmill.NewFeed {
	at := time.Now().UTC().Truncate(time.Millisecond)
	due := at.Add(in)
	source := feedmill.Source{
		ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: workspace, Type: feedmill.FeedREST, Host: def.Host(), Spec: def.SourceSpec(),
		Schedule: def.Schedule, DueAt: due, CreatedAt: at, UpdatedAt: at,
	}
	feed := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: workspace, Source: source.ID, Name: def.Name, Type: source.Type,
		Mode: def.Mode, Spec: def.Public(), Schedule: def.Schedule, NextRefreshAt: due, CreatedAt: at, UpdatedAt: at,
	}
	refresh := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: feed.ID, State: feedmill.RefreshSucceeded, StartedAt: at, EndedAt: at, Unchanged: true}
	feed.Record(refresh)
	return feedmill.NewFeed{Feed: feed, Source: &source, Refresh: &refresh}
}

package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Feeds are the feeds of a store.
type Feeds interface {
	// CreateFeed adds a feed with what is new with it, its events and the kept
	// response, all or none. The feed is written as it is given: one with a
	// version is as feedmill.Feed.Switch leaves it. A Number that is not 1 is
	// feedmill.ErrConflict. One of type rest without a Source is one more feed
	// of a source that is there; where it is not, that is feedmill.ErrNotFound.
	// The files of the version are on disk before. The deliveries of the
	// events are offered, as Accept returns them. All this is so for the changes of
	// feeds and sources below.
	CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, response *feedmill.IdempotentResponse) error
	// Feed finds one, with its last refresh.
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	// Feeds lists feeds, newest first.
	Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error)
	// SearchFeeds finds a part of the feeds of a workspace, with how many there are. A
	// place stays where it is when feeds are made, changed and deleted: whatever has
	// not changed is found once by whoever goes from part to part.
	SearchFeeds(ctx context.Context, workspace feedmill.ID, q feedmill.FeedSearch) (feedmill.FeedsFound, error)
	// FeedSource finds the source behind a feed of the workspace.
	FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error)
	// ChangeFeed changes a feed, alone with it, and accepts the events of the
	// change and keeps its response in the same transaction. It writes every
	// field but the id, the workspace, the source, the type, the version, the
	// last refresh and CreatedAt. An error of change leaves everything as it
	// was. Where the transaction is tried again change is called again, and
	// the last time counts; it must not call the store. All this is so for
	// SwitchVersion and RecordRefresh too.
	ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change FeedChange) (feedmill.Feed, error)
	// SwitchVersion makes v the current version of its feed where the version
	// before it, by its number, is the current one; where it is not, because
	// of another switch, that is feedmill.ErrConflict and nothing is written.
	// The refresh is written as RecordRefresh does. change gets the feed as
	// feedmill.Feed.Switch leaves it. The files of v are on disk before. Refreshes of
	// the feeds that are built from it are requested in the same transaction, as
	// feedmill.SourceChange.Follow does; ChangeSource does so, too.
	SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change FeedChange) (feedmill.Feed, error)
	// RecordRefresh writes a refresh that made no version: one that failed,
	// that found nothing new, or that begins. It becomes the last one of its
	// feed; one with the same id is written over. change gets the feed as
	// feedmill.Feed.Record leaves it.
	RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change FeedChange) (feedmill.Feed, error)
	// DeleteFeed deletes a feed, and with it its versions and refreshes from
	// sight, and accepts the events of that. The versions' files may go
	// feedmill.KeepDeletedFor after at. The source goes with the last feed of
	// it, and with it the lease of a run that is under way. Feeds that are built from it
	// are requested as by a new version.
	DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event) error
}

// feedLists are the cases of lists of feeds.
var feedLists = []testCase{
	{name: "lists of feeds go by what they are asked to, in parts that fit together", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		makeFeed(t, s, newWorkspace(t, s).ID) // of somebody else
		var all []feedmill.Feed
		at := now()
		for i, name := range []string{"Orders", "orders", "50% off_now", "Äpfel", "back\\slash", "orders", "Zebra"} {
			f, v, r := newFeed(w.ID)
			f.Name, f.Spec, f.RowCount, f.ByteSize = name, fmt.Appendf(nil, `{"file":"Part%d.CSV"}`, i%3), int64(i%3), int64(100-i)
			f.State, f.UpdatedAt = feedmill.FeedStates[2+i%2], at.Add(-time.Duration(i%4)*time.Second)
			err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
			must(t, err)
			all = append(all, f)
		}
		less := map[feedmill.FeedSort]func(a, b feedmill.Feed) int{
			feedmill.SortFeedCreated: func(feedmill.Feed, feedmill.Feed) int { return 0 },
			feedmill.SortFeedName:    func(a, b feedmill.Feed) int { return cmp.Compare(a.SearchText(), b.SearchText()) },
			feedmill.SortFeedUpdated: func(a, b feedmill.Feed) int { return a.UpdatedAt.Compare(b.UpdatedAt) },
			feedmill.SortFeedRows:    func(a, b feedmill.Feed) int { return cmp.Compare(a.RowCount, b.RowCount) },
			feedmill.SortFeedBytes:   func(a, b feedmill.Feed) int { return cmp.Compare(a.ByteSize, b.ByteSize) },
		}
		for _, sort := range feedmill.FeedSorts {
			for _, down := range []bool{false, true} {
				for _, states := range [][]feedmill.FeedState{nil, {feedmill.FeedReady}, {feedmill.FeedFailed, feedmill.FeedPaused}} {
					for _, text := range []string{"", "ORD", "part", "part1.csv", "0%", "f_n", "äpf", "k\\s", "zebra\n", "none"} {
						wanted := slices.DeleteFunc(slices.Clone(all), func(f feedmill.Feed) bool {
							return len(states) > 0 && !slices.Contains(states, f.State) || !strings.Contains(f.SearchText(), strings.ToLower(text))
						})
						slices.SortFunc(wanted, func(a, b feedmill.Feed) int {
							order := cmp.Or(less[sort](a, b), cmp.Compare(a.ID, b.ID))
							if down {
								order = -order
							}
							return order
						})
						q := feedmill.FeedSearch{States: states, Text: text, Sort: sort, Descending: down, Limit: 2, CountStates: true}
						equal(t, fmt.Sprintf("%+v", q), ids(wanted), ids(searchAll(t, s, w.ID, q, int64(len(wanted)))))
					}
				}
			}
		}
	}},
	{name: "what has not changed is found once, whatever else happens between two parts", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		var all []feedmill.Feed
		for range 4 {
			all = append(all, makeFeed(t, s, w.ID))
		}
		slices.SortFunc(all, func(a, b feedmill.Feed) int { return cmp.Compare(a.ID, b.ID) })
		q := feedmill.FeedSearch{Sort: feedmill.SortFeedName, Limit: 2}
		first, err := s.SearchFeeds(ctx, w.ID, q)
		must(t, err)
		equal(t, "the first part", ids(all[:2]), ids(first.Feeds))
		err = s.DeleteFeed(ctx, w.ID, all[1].ID, now(), nil) // the place is of it
		must(t, err)
		_, err = s.ChangeFeed(ctx, w.ID, all[0].ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			f.Name = "zzz"
			return nil, nil, nil
		})
		must(t, err)
		q.After = first.Next
		second, err := s.SearchFeeds(ctx, w.ID, q)
		must(t, err)
		equal(t, "the second part", ids(all[2:]), ids(second.Feeds))
		equal(t, "in all", int64(3), second.Total)
	}},
	{name: "feeds are counted by state while many change at once", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		workspaces := []feedmill.ID{newWorkspace(t, s).ID, newWorkspace(t, s).ID}
		var tasks sync.WaitGroup
		for i := range 8 {
			tasks.Go(func() {
				for turn := range 3 {
					f, v, r := newFeed(workspaces[i%2])
					f.State = feedmill.FeedPending
					if err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil); err != nil {
						t.Error(err)
						return
					}
					_, err := s.ChangeFeed(ctx, f.Workspace, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
						f.State = feedmill.FeedFailed
						return nil, nil, nil
					})
					if err == nil && turn == 2 {
						err = s.DeleteFeed(ctx, f.Workspace, f.ID, now(), nil)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		makeFeed(t, s, workspaces[0])
		tasks.Wait()
		for i, counts := range []map[feedmill.FeedState]int64{{feedmill.FeedReady: 1, feedmill.FeedFailed: 8}, {feedmill.FeedFailed: 8}} {
			found, err := s.SearchFeeds(ctx, workspaces[i], feedmill.FeedSearch{Sort: feedmill.SortFeedName, Limit: 2, CountStates: true, States: []feedmill.FeedState{feedmill.FeedFailed}})
			must(t, err)
			equal(t, "by state", counts, found.ByState)
			equal(t, "failed", int64(8), found.Total)
		}
	}},
}

func ids(feeds []feedmill.Feed) (all []feedmill.ID) {
	for _, f := range feeds {
		all = append(all, f.ID)
	}
	return all
}

// searchAll goes through all parts of a list.
func searchAll(t *testing.T, s Store, workspace feedmill.ID, q feedmill.FeedSearch, total int64) (all []feedmill.Feed) {
	t.Helper()
	for {
		found, err := s.SearchFeeds(t.Context(), workspace, q)
		must(t, err)
		equal(t, "total", total, found.Total)
		counted := found.ByState[feedmill.FeedReady] + found.ByState[feedmill.FeedFailed]
		if len(q.States) == 0 {
			equal(t, "by state", total, counted)
		}
		all = append(all, found.Feeds...)
		if q.After = found.Next; q.After == nil {
			return all
		}
	}
}

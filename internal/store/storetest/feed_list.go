package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

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

package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// sourceAloneCases hold that whoever changes a source is alone with it.
var sourceAloneCases = []testCase{
	{name: "changes at the same time are alone with the source and its feeds", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		changesAtOnce(t, s, s)
	}},
	{name: "changes of two replicas are alone with the source and its feeds", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		changesAtOnce(t, open(t), open(t))
	}},
	{name: "a source is claimed once by two replicas", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		stores := []Store{open(t), open(t)}
		source, _ := makeSource(t, stores[0], newWorkspace(t, stores[0]).ID, 1)
		var wg sync.WaitGroup
		claimed := make(chan int, 8)
		for i := range cap(claimed) {
			wg.Go(func() {
				err := stores[i%2].ChangeSource(t.Context(), source.Workspace, source.ID, func(c *feedmill.SourceChange) error {
					if c.Source.Leased(now()) {
						return feedmill.ErrConflict
					}
					c.Source.Run++
					c.Source.LeasedUntil = now().Add(time.Hour)
					return nil
				})
				if err == nil {
					claimed <- i
				} else if err != feedmill.ErrConflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(claimed) != 1 {
			t.Errorf("%d have claimed it", len(claimed))
		}
	}},
	{name: "the last feed goes and one more comes at the same time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		for range 8 {
			source, feeds := makeSource(t, s, w.ID, 1)
			more := fetched(source)
			var wg sync.WaitGroup
			var deleted, created error
			wg.Go(func() { deleted = s.DeleteFeed(ctx, w.ID, feeds[0].ID, now(), nil) })
			wg.Go(func() { created = s.CreateFeed(ctx, more, nil, nil) })
			wg.Go(func() {
				err := s.ChangeSource(ctx, w.ID, source.ID, func(*feedmill.SourceChange) error { return nil })
				if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
					t.Error(err)
				}
			})
			wg.Wait()
			must(t, deleted)
			if created == nil {
				foundSource(t, s, source)
				found(t, s, more.Feed)
			} else {
				want(t, created, feedmill.ErrNotFound)
				noSource(t, s, w.ID, source.ID)
			}
		}
	}},
}

// changesAtOnce holds that no change, of the source or of one of its feeds alone,
// is lost to another.
func changesAtOnce(t *testing.T, first, second Store) {
	t.Helper()
	ctx, stores := t.Context(), []Store{first, second}
	source, feeds := makeSource(t, first, newWorkspace(t, first).ID, 2)
	const changes = 8
	var wg sync.WaitGroup
	for i := range changes {
		wg.Go(func() {
			err := stores[i%2].ChangeSource(ctx, source.Workspace, source.ID, func(c *feedmill.SourceChange) error {
				c.Source.Run++
				for i := range c.Feeds {
					brings(c, &c.Feeds[i])
					c.Events = append(c.Events, told(c.Feeds[i], "refreshed"))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			_, err := stores[i%2].ChangeFeed(ctx, source.Workspace, feeds[i%2].ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				f.Key = append(f.Key, fmt.Sprint(i))
				return nil, nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := first.Source(ctx, source.Workspace, source.ID)
	must(t, err)
	if got.Run != source.Run+changes {
		t.Errorf("the run is %d, want %d", got.Run, source.Run+changes)
	}
	for _, f := range feeds {
		got, err := first.Feed(ctx, f.Workspace, f.ID)
		must(t, err)
		if got.Version != changes || len(got.Key) != changes/2 {
			t.Errorf("the feed has version %d and key %q after %d changes", got.Version, got.Key, changes)
		}
	}
}

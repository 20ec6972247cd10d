package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

var (
	never    = feedmill.Schedule{}
	minutely = feedmill.Schedule{Every: time.Minute}
)

func TestARunIsCommittedWithAllThatItMeans(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		asked := f.LastRefresh.ID
		e := b.start(Options{}, succeeds(5*time.Second))
		b.sleep(4 * time.Second)
		if got := b.feed(f); got.State != feedmill.FeedRefreshing || got.LastRefresh.State != feedmill.RefreshRunning || !b.sourceOf(f).Leased(time.Now()) {
			t.Errorf("during the run the feed is %+v", got)
		}
		b.sleep(2 * time.Second)
		got, s := b.feed(f), b.sourceOf(f)
		if got.State != feedmill.FeedReady || got.Version != 1 || got.LastRefresh.ID != asked || got.LastRefresh.RowsStored != 1 || !got.NextRefreshAt.Equal(s.DueAt) {
			t.Errorf("after it %+v", got)
		}
		if s.Leased(time.Now()) || !s.DueAt.After(time.Now()) || string(got.Position) != "1" || s.Run != 1 {
			t.Errorf("after it %+v", s)
		}
		if trace, err := b.db.RefreshTrace(b.Context(), b.ws, f.ID, asked); err != nil || len(trace) != 1 {
			t.Errorf("the trace is %v, %v", trace, err)
		}
		if got := b.events(); !slices.Equal(got, []string{"datafeed.source.refreshed"}) {
			t.Errorf("the events are %v", got)
		}
		if e.runner.drops() != 0 || e.ended(changedRun) != 1 {
			t.Errorf("%d drops, %d runs", e.runner.drops(), e.ended(changedRun))
		}
		e.halt()
	})
}

func TestASmallWorkspaceIsNotHeldUpByABusyOne(t *testing.T) {
	for _, share := range []int{2, 4} {
		onBench(t, func(b *bench) {
			for i := range 100 {
				b.source(b.ws, fmt.Sprint("h", i), never)
			}
			e := b.start(Options{MaxRuns: 4, MaxOfWorkspace: share}, succeeds(10*time.Second))
			b.sleep(25 * time.Second)
			small := b.workspace("small")
			asked := time.Now()
			f := b.source(small, "s", never)
			e.Wake()
			b.sleep(11 * time.Second)
			runs := e.runner.runs()
			i := slices.IndexFunc(runs, func(r began) bool { return r.source == f.Source })
			if i < 0 || share == 2 && runs[i].at.After(asked) {
				t.Errorf("with a share of %d of 4 the small workspace was not run in time: %v after %v", share, runs, asked)
			}
			if most := e.runner.most[string(b.ws)]; most != share {
				t.Errorf("the busy workspace had %d runs under way, want %d", most, share)
			}
			e.halt()
		})
	}
}

func TestNoMoreThanAFewRunsAskOneHost(t *testing.T) {
	onBench(t, func(b *bench) {
		other := b.workspace("other")
		for range 10 {
			b.source(b.ws, "busy", never)
			b.source(other, "busy", never)
		}
		f := b.source(b.ws, "idle", never)
		e := b.start(Options{}, succeeds(10*time.Second))
		if runs := e.runner.runs(); !slices.ContainsFunc(runs, func(r began) bool { return r.source == f.Source }) || len(runs) != 9 {
			t.Errorf("at first these were run: %v", runs)
		}
		b.sleep(52 * time.Second)
		if most := e.runner.most["busy"]; most != 8 || e.ended(changedRun) != 21 {
			t.Errorf("%d runs of two workspaces asked the host at once, and %d of 21 have ended", most, e.ended(changedRun))
		}
		e.halt()
	})
}

// Two replicas together run no more than a few refreshes of one host, and all of them.
func TestReplicasShareTheRunsOfAHost(t *testing.T) {
	onBench(t, func(b *bench) {
		other := b.workspace("other")
		for range 6 {
			b.source(b.ws, "busy", never)
			b.source(other, "busy", never)
		}
		var now, most atomic.Int64
		run := func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
			if c.Source.Workspace == b.ws {
				n := now.Add(1)
				defer now.Add(-1)
				for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
				}
			}
			return succeeds(10*time.Second)(ctx, c)
		}
		permits := func(holder string) *share.Permits {
			return share.NewPermits(b.db, holder, slog.New(slog.DiscardHandler))
		}
		one := b.start(Options{MaxOfHost: 2, Permits: permits("one")}, run)
		two := b.start(Options{MaxOfHost: 2, Permits: permits("two")}, run)
		b.sleep(45 * time.Second)
		if ended := one.ended(changedRun) + two.ended(changedRun); most.Load() != 2 || ended != 12 {
			t.Errorf("%d runs of a workspace at the same time, and %d of 12 have ended", most.Load(), ended)
		}
		one.halt()
		two.halt()
	})
}

// failing is the result of a run that failed for all feeds.

func TestAPausedSourceIsLeftAlone(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		b.change(f, func(c *feedmill.SourceChange) error {
			due := c.Source.DueAt
			_, err := c.Pause(f.ID, moment())
			c.Source.DueAt = due // as if it had been paused in a run that died
			return err
		})
		e := b.start(Options{}, succeeds(0))
		b.sleep(time.Hour)
		if len(e.runner.runs()) != 0 || !b.sourceOf(f).DueAt.IsZero() || e.store.changes.Load() != 1 {
			t.Errorf("%d runs, %d changes, %+v", len(e.runner.runs()), e.store.changes.Load(), b.sourceOf(f))
		}
		e.halt()
	})
}

func TestAPausedFeedOfASourceIsNotFetchedFor(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		paused := newSource(b.ws, "", never).Feed
		paused.Source, paused.State = f.Source, feedmill.FeedPaused
		err := b.db.CreateFeed(b.Context(), feedmill.NewFeed{Feed: paused}, nil, nil)
		b.must(err)
		var claimed []feedmill.Feed
		e := b.start(Options{}, func(_ context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
			claimed = c.Feeds
			return versions(c), nil
		})
		b.sleep(10 * time.Second)
		if len(claimed) != 1 || claimed[0].ID != f.ID || b.feed(f).Version != 1 || b.feed(paused).Version != 0 {
			t.Errorf("fetched for %+v", claimed)
		}
		e.halt()
	})
}

func TestTenThousandSourcesThatAreNotDueCostOneQuestion(t *testing.T) {
	onBench(t, func(b *bench) {
		const sources, at = 10_000, 64
		var making sync.WaitGroup
		for worker := range at {
			making.Go(func() {
				for i := worker; i < sources; i += at {
					n := newSource(b.ws, fmt.Sprint("h", i), minutely)
					n.Source.DueAt = n.Source.CreatedAt.Add(24 * time.Hour)
					if err := b.db.CreateFeed(b.Context(), n, nil, nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		making.Wait()
		e := b.start(Options{}, succeeds(0))
		b.sleep(10 * time.Minute)
		synctest.Wait()
		if looks := e.store.looks.Load(); looks != 601 || e.store.changes.Load()+e.store.renews.Load() != 0 {
			t.Errorf("in ten minutes the store was asked %d times and written to %d times", looks, e.store.changes.Load()+e.store.renews.Load())
		}
		e.halt()
	})
}

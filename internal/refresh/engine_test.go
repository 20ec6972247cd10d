package refresh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
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
		if e.runner.drops() != 0 || e.ended(changedRun) != 1 || e.store.offers.Load() == 0 {
			t.Errorf("%d drops, %d runs", e.runner.drops(), e.ended(changedRun))
		}
		e.halt()
	})
}

func TestTwoEnginesNeverRunOneSourceAtOnce(t *testing.T) {
	onBench(t, func(b *bench) {
		const sources = 20
		for i := range sources {
			b.source(b.ws, fmt.Sprint("h", i), minutely)
		}
		var mu sync.Mutex
		running := make(map[feedmill.ID]bool)
		run := func(ctx context.Context, c Claim) (Result, error) {
			mu.Lock()
			if running[c.Source.ID] {
				t.Errorf("%s is run twice at once", c.Source.ID)
			}
			running[c.Source.ID] = true
			mu.Unlock()
			defer func() {
				mu.Lock()
				running[c.Source.ID] = false
				mu.Unlock()
			}()
			return succeeds(time.Duration(c.Source.Run%7*10)*time.Second)(ctx, c)
		}
		one, two := b.start(Options{MaxRuns: 12}, run), b.start(Options{MaxRuns: 12}, run)
		b.sleep(10 * time.Minute)
		one.halt()
		two.halt()
		count := make(map[feedmill.ID]int)
		for _, r := range slices.Concat(one.runner.runs(), two.runner.runs()) {
			count[r.source]++
		}
		for id, n := range count {
			if n < 5 {
				t.Errorf("%s was run %d times in ten minutes", id, n)
			}
		}
		if len(count) != sources || len(one.runner.runs()) == 0 || len(two.runner.runs()) == 0 {
			t.Errorf("%d sources were run, %d times by one engine and %d times by the other", len(count), len(one.runner.runs()), len(two.runner.runs()))
		}
		if lost := one.ended(lostRun) + two.ended(lostRun); lost > 0 {
			t.Errorf("%d runs lost their lease", lost)
		}
	})
}

func TestWhatADeadEngineHadIsTakenOver(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		died := moment()
		b.change(f, func(c *feedmill.SourceChange) error {
			_, err := c.Begin(died, died.Add(leaseTime))
			return err
		})
		e := b.start(Options{}, succeeds(time.Second))
		b.sleep(time.Minute)
		runs := e.runner.runs()
		if len(runs) != 1 || runs[0].at.Before(died.Add(leaseTime)) || runs[0].at.After(died.Add(leaseTime+2*time.Second)) {
			t.Errorf("died at %v, and taken over at %v", died, runs)
		}
		if got := b.feed(f); got.State != feedmill.FeedReady || got.LastRefresh.ID != f.LastRefresh.ID || !b.sourceOf(f).DueAt.IsZero() {
			t.Errorf("%+v", got)
		}
		e.halt()
	})
}

func TestAnEngineWithoutItsStoreGivesUpBeforeAnotherTakesOver(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		var lost time.Time
		one := b.start(Options{}, func(ctx context.Context, c Claim) (Result, error) {
			<-ctx.Done()
			lost = time.Now()
			return versions(c), nil
		})
		two := b.start(Options{}, succeeds(time.Second))
		one.store.away.Store(true)
		b.sleep(time.Minute)
		runs := two.runner.runs()
		if len(runs) != 1 || runs[0].at.Before(lost) || lost.IsZero() {
			t.Errorf("lost at %v, taken over at %v", lost, runs)
		}
		if one.runner.drops() != 1 || one.ended(lostRun) != 1 || b.feed(f).Version != 1 {
			t.Errorf("%d results were dropped, and the feed is %+v", one.runner.drops(), b.feed(f))
		}
		one.halt()
		two.halt()
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

func TestCancel(t *testing.T) {
	for _, here := range []bool{true, false} {
		onBench(t, func(b *bench) {
			f := b.source(b.ws, "h", never)
			var ended atomic.Int64
			e := b.start(Options{}, func(ctx context.Context, c Claim) (Result, error) {
				<-ctx.Done()
				ended.Store(time.Now().UnixNano())
				return versions(c), nil
			})
			b.sleep(500 * time.Millisecond)
			var run int64
			b.change(f, func(c *feedmill.SourceChange) error {
				_, err := c.Cancel(f.ID, c.Feeds[0].LastRefresh.ID, moment())
				run = c.Source.Run
				return err
			})
			cancelled := time.Now().UnixNano()
			if e.Cancel(f.Source, run-1); here {
				e.Cancel(f.Source, run)
			}
			synctest.Wait()
			if here != (ended.Load() == cancelled) {
				t.Errorf("cancelled at %d, ended at %d", cancelled, ended.Load())
			}
			b.sleep(renewEvery + time.Second)
			got := b.feed(f)
			if ended.Load() == 0 || e.runner.drops() != 1 || got.State != feedmill.FeedFailed || got.LastError.Type != "/problems/cancelled" || got.Failures != 0 || got.Version != 0 {
				t.Errorf("ended at %d, %d drops, and the feed is %+v", ended.Load(), e.runner.drops(), got)
			}
			if s := b.sourceOf(f); s.Leased(time.Now()) || len(e.runner.runs()) != 1 {
				t.Errorf("%+v", s)
			}
			e.halt()
		})
	}
}

func TestAFeedThatIsDeletedInARun(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(5*time.Second))
		_, err := b.db.DeleteFeed(b.Context(), b.ws, f.ID, moment(), nil, 10)
		b.must(err)
		b.sleep(10 * time.Second)
		if e.runner.drops() != 1 || e.ended(lostRun) != 1 {
			t.Errorf("%d results were dropped", e.runner.drops())
		}
		e.halt()
	})
}

func TestOneOfTwoFeedsIsDeletedInARun(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		second := newSource(b.ws, "", never).Feed
		second.Source = f.Source
		_, err := b.db.CreateFeed(b.Context(), feedmill.NewFeed{Feed: second}, nil, 10, nil)
		b.must(err)
		e := b.start(Options{}, stubborn(5*time.Second))
		_, err = b.db.DeleteFeed(b.Context(), b.ws, second.ID, moment(), nil, 10)
		b.must(err)
		b.sleep(10 * time.Second)
		if e.runner.drops() != 1 || len(e.runner.dropped[0].Outcomes) != 1 || e.runner.dropped[0].Outcomes[0].Feed != second.ID || b.feed(f).Version != 1 {
			t.Errorf("dropped: %+v, and the other feed is %+v", e.runner.dropped, b.feed(f))
		}
		e.halt()
	})
}

func TestStoppingGivesSourcesBack(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		due := b.sourceOf(f).DueAt
		e := b.start(Options{}, succeeds(time.Hour))
		b.sleep(45 * time.Second)
		stopped := time.Now()
		e.halt()
		s, got := b.sourceOf(f), b.feed(f)
		if s.Leased(time.Now()) || !s.DueAt.Equal(due) || !time.Now().Equal(stopped) || got.Failures != 0 || got.LastRefresh.State != feedmill.RefreshPending {
			t.Errorf("after %v the source is %+v and the feed %+v", time.Since(stopped), s, got)
		}
		if e.ended(releasedRun) != 1 || len(b.events()) != 0 {
			t.Errorf("%d runs were released, with the events %v", e.ended(releasedRun), b.events())
		}
		next := b.start(Options{}, succeeds(0))
		if got := b.feed(f); got.Version != 1 || got.LastRefresh.ID != f.LastRefresh.ID {
			t.Errorf("the next engine left %+v", got)
		}
		next.halt()
	})
}

func TestStoppingDoesNotChargeAFailure(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		e := b.start(Options{}, func(ctx context.Context, c Claim) (Result, error) {
			<-ctx.Done()
			return failing(c), nil
		})
		e.halt()
		if got := b.feed(f); got.Failures != 0 || got.LastRefresh.State != feedmill.RefreshPending {
			t.Errorf("%+v", got)
		}
	})
}

// failing is the result of a run that failed for all feeds.
func failing(c Claim) (r Result) {
	for _, f := range c.Feeds {
		r.Outcomes = append(r.Outcomes, feedmill.FeedOutcome{Feed: f.ID, Error: &feedmill.FeedError{Type: "/problems/broken", Title: "Broken", At: moment()}})
	}
	return r
}

func TestFailuresBackOffAndPause(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		e := b.start(Options{PollEvery: time.Minute}, func(_ context.Context, c Claim) (Result, error) { return failing(c), nil })
		b.sleep(10 * 24 * time.Hour)
		runs := e.runner.runs()
		if got := b.feed(f); len(runs) != feedmill.MaxFailures || got.State != feedmill.FeedPaused || !b.sourceOf(f).DueAt.IsZero() {
			t.Fatalf("%d runs, and the feed is %+v", len(runs), got)
		}
		for i, want := range []time.Duration{5 * time.Minute, 30 * time.Minute, 6 * time.Hour, 6 * time.Hour} {
			if wait := runs[i+1].at.Sub(runs[i].at); wait < want || wait > want+want/10+time.Minute {
				t.Errorf("failure %d was followed by a run after %v, want about %v", i+1, wait, want)
			}
		}
		events := b.events()
		if len(events) != feedmill.MaxFailures+1 || events[len(events)-1] != "datafeed.source.paused" {
			t.Errorf("the events are %v", events)
		}
		e.halt()
	})
}

func TestMissedRunsRunOnce(t *testing.T) {
	onBench(t, func(b *bench) {
		b.source(b.ws, "h", minutely)
		e := b.start(Options{}, succeeds(0))
		b.sleep(10 * time.Second)
		e.halt()
		b.sleep(10 * time.Hour)
		e = b.start(Options{}, succeeds(0))
		b.sleep(10 * time.Second)
		if runs := e.runner.runs(); len(runs) != 1 {
			t.Errorf("after ten hours %d runs made up for what was missed", len(runs))
		}
		b.sleep(5 * time.Minute)
		if runs := e.runner.runs(); len(runs) != 6 {
			t.Errorf("in the five minutes after it there were %d", len(runs)-1)
		}
		e.halt()
	})
}

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

func TestAPanicFailsItsRunOnly(t *testing.T) {
	onBench(t, func(b *bench) {
		bad, good := b.source(b.ws, "bad", never), b.source(b.ws, "good", never)
		unwell := b.source(b.ws, "unwell", never)
		e := b.start(Options{}, func(ctx context.Context, c Claim) (Result, error) {
			switch c.Source.Host {
			case "bad":
				panic("at the disco")
			case "unwell":
				return Result{}, errors.New("no room on the disk of host 10.0.0.7")
			}
			return succeeds(time.Second)(ctx, c)
		})
		b.sleep(2 * time.Second)
		for _, f := range []feedmill.Feed{bad, unwell} {
			if got := b.feed(f); got.State != feedmill.FeedFailed || got.Failures != 1 || got.LastError.Type != "/problems/internal" {
				t.Errorf("%+v, %+v", got, got.LastError)
			}
		}
		if got := b.feed(good); got.State != feedmill.FeedReady {
			t.Errorf("%+v", got)
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
					if _, err := b.db.CreateFeed(b.Context(), n, nil, 10, nil); err != nil {
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

package refresh

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestTwoEnginesNeverRunOneSourceAtOnce(t *testing.T) {
	onBench(t, func(b *bench) {
		const sources = 20
		for i := range sources {
			b.source(b.ws, fmt.Sprint("h", i), minutely)
		}
		var mu sync.Mutex
		running := make(map[feedmill.ID]bool)
		run := func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
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
		one := b.start(Options{}, func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
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
		e := b.start(Options{}, func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
			<-ctx.Done()
			return failing(c), nil
		})
		e.halt()
		if got := b.feed(f); got.Failures != 0 || got.LastRefresh.State != feedmill.RefreshPending {
			t.Errorf("%+v", got)
		}
	})
}

package refresh

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestACommitIsTriedAgainWhileTheLeaseHolds(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.away.Store(true)
		time.Sleep(15 * time.Second)
		e.store.away.Store(false)
		time.Sleep(15 * time.Second)
		if got := b.feed(f); got.Version != 1 || e.runner.drops() != 0 || len(e.runner.runs()) != 1 || e.ended(changedRun) != 1 {
			t.Errorf("%d runs, %d drops, and the feed is %+v", len(e.runner.runs()), e.runner.drops(), got)
		}
		if got := b.events(); len(got) != 1 {
			t.Errorf("the events are %v", got)
		}
		e.halt()
	})
}

func TestACommitIsGivenUpWithTheLease(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.away.Store(true)
		time.Sleep(leaseTime + 5*time.Second)
		if e.ended(lostRun) != 1 || e.runner.drops() != 0 {
			t.Errorf("%d runs were lost, and %d results dropped of which the store may have one", e.ended(lostRun), e.runner.drops())
		}
		e.store.away.Store(false)
		time.Sleep(5 * time.Second)
		if got := b.feed(f); got.Version != 1 || len(e.runner.runs()) != 2 {
			t.Errorf("%d runs, and the feed is %+v", len(e.runner.runs()), got)
		}
		e.halt()
	})
}

func TestACommitWhoseAnswerIsLostIsNotMadeTwice(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.unheard.Store(true)
		time.Sleep(10 * time.Second)
		if got := b.feed(f); got.Version != 1 || e.runner.drops() != 0 || len(e.runner.runs()) != 1 || len(b.events()) != 1 || e.ended(changedRun) != 1 {
			t.Errorf("%d runs, %d drops, events %v, and the feed is %+v", len(e.runner.runs()), e.runner.drops(), b.events(), got)
		}
		e.halt()
	})
}

func TestWhatCannotBeWrittenIsAFailure(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.refusesEvents.Store(true)
		time.Sleep(time.Minute)
		got := b.feed(f)
		if got.State != feedmill.FeedFailed || got.Version != 0 || got.LastError.Type != "/problems/internal" || e.runner.drops() != 1 || len(e.runner.runs()) != 1 {
			t.Errorf("%d runs, %d drops, and the feed is %+v", len(e.runner.runs()), e.runner.drops(), got)
		}
		if got := b.events(); !slices.Equal(got, []string{"datafeed.source.refresh_failed"}) {
			t.Errorf("the events are %v", got)
		}
		e.halt()
	})
}

func TestAVersionThatAnotherTookIsTriedAnew(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		first := true
		e := b.start(Options{}, func(_ context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
			time.Sleep(time.Second)
			r := versions(c)
			if first {
				r[0].Version.Number++
				first = false
			}
			return r, nil
		})
		time.Sleep(5 * time.Second)
		if got := b.feed(f); got.Version != 1 || e.runner.drops() != 1 || len(e.runner.runs()) != 2 {
			t.Errorf("%d runs, %d drops, and the feed is %+v", len(e.runner.runs()), e.runner.drops(), got)
		}
		e.halt()
	})
}

func TestProgressIsWrittenEachSecondWhileItChanges(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, func(_ context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
			r := *c.Feeds[0].LastRefresh
			for range 1000 { // for ten seconds
				time.Sleep(10 * time.Millisecond)
				r.Requests++
				r.Pages++
				r.BytesIn += 100
				r.RowsIn += 10
				c.Report(r)
			}
			time.Sleep(time.Minute)
			return versions(c), nil
		})
		time.Sleep(5500 * time.Millisecond)
		r, err := b.db.Refresh(b.Context(), b.ws, f.ID, f.LastRefresh.ID)
		if err != nil || r.Pages < 450 || r.Pages > 550 || r.Requests != r.Pages || r.BytesIn != 100*r.Pages || r.RowsIn != 10*r.Pages {
			t.Errorf("after five seconds the refresh is %+v, %v", r, err)
		}
		time.Sleep(5 * time.Second)
		if renews := e.store.renews.Load(); renews < 9 || renews > 11 {
			t.Errorf("progress was written %d times in ten seconds", renews)
		}
		time.Sleep(50 * time.Second)
		if r, err := b.db.Refresh(b.Context(), b.ws, f.ID, f.LastRefresh.ID); err != nil || r.Pages != 1000 {
			t.Errorf("at the end the refresh is %+v, %v", r, err)
		}
		if renews := e.store.renews.Load(); renews > 17 {
			t.Errorf("without progress the lease was renewed too often: %d times in a minute", renews)
		}
		e.halt()
	})
}

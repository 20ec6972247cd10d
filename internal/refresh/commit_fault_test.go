package refresh

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// While nobody knows whether the store has a result, its files stay.
func TestWhatTheStoreMayHaveIsNotDropped(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.changesAway.Store(true)
		b.sleep(5 * time.Second)
		b.change(f, func(c *feedmill.SourceChange) error {
			_, err := c.Cancel(f.ID, c.Feeds[0].LastRefresh.ID, moment())
			return err
		})
		e.store.changesAway.Store(false)
		b.sleep(5 * time.Second)
		if e.ended(lostRun) != 1 || e.runner.drops() != 0 {
			t.Errorf("%d runs were lost, and %d results dropped", e.ended(lostRun), e.runner.drops())
		}
		e.halt()
	})
}

// The lease is renewed while a commit is tried again.
func TestACommitThatTakesLongKeepsItsLease(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.changesAway.Store(true)
		b.sleep(3 * leaseTime)
		e.store.changesAway.Store(false)
		b.sleep(5 * time.Second)
		if got := b.feed(f); got.Version != 1 || len(e.runner.runs()) != 1 || e.ended(changedRun) != 1 {
			t.Errorf("%d runs, and the feed is %+v", len(e.runner.runs()), got)
		}
		e.halt()
	})
}

// What cannot be written even as a failure is given up and tried by the next run.
func TestAFailureThatCannotBeWrittenIsGivenUp(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.refusesAll.Store(true)
		b.sleep(10 * time.Second)
		if e.ended(lostRun) != 1 || e.runner.drops() != 1 || b.feed(f).Version != 0 {
			t.Errorf("%d runs were lost, %d results dropped, and the feed is %+v", e.ended(lostRun), e.runner.drops(), b.feed(f))
		}
		e.store.refusesAll.Store(false)
		b.sleep(leaseTime)
		if got := b.feed(f); got.Version != 1 || len(e.runner.runs()) != 2 {
			t.Errorf("%d runs, and the feed is %+v", len(e.runner.runs()), got)
		}
		e.halt()
	})
}

// A shutdown waits for one short try to write what a run brought.
func TestStoppingWaitsForOneTryToCommit(t *testing.T) {
	onBench(t, func(b *bench) {
		b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(2*time.Second))
		e.store.hangs.Store(true)
		begun := time.Now()
		e.halt()
		if took := time.Since(begun); took != 2*time.Second+lastWrite || e.ended(lostRun) != 1 {
			t.Errorf("stopping took %v, and %d runs were lost", took, e.ended(lostRun))
		}
	})
}

// A change that the store makes twice, because a transaction is tried again, drops
// what nobody needs once.
func TestAChangeThatIsTriedAgainDropsOnce(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		second := newSource(b.ws, "", never).Feed
		second.Source = f.Source
		err := b.db.CreateFeed(b.Context(), feedmill.NewFeed{Feed: second}, nil, nil)
		b.must(err)
		e := b.start(Options{}, stubborn(5*time.Second))
		e.store.repeats.Store(true)
		err = b.db.DeleteFeed(b.Context(), b.ws, second.ID, moment(), nil)
		b.must(err)
		b.sleep(10 * time.Second)
		if e.runner.drops() != 1 || len(e.runner.dropped[0]) != 1 || b.feed(f).Version != 1 || len(b.events()) != 1 {
			t.Errorf("dropped: %+v, and the feed is %+v with the events %v", e.runner.dropped, b.feed(f), b.events())
		}
		e.halt()
	})
}

func TestWhatAStoreAnswers(t *testing.T) {
	for _, c := range []struct {
		err               error
		unreachable, over bool
	}{
		{feedmill.ErrUnavailable, true, false},
		{context.DeadlineExceeded, true, false},
		{context.Canceled, true, false},
		{feedmill.ErrConflict, false, true},
		{feedmill.ErrNotFound, false, true},
		{feedmill.ErrRunEnded, false, true},
		{errors.New("disk full"), false, false},
	} {
		err := fmt.Errorf("change a source: %w", c.err)
		if unreachable(err) != c.unreachable || over(err) != c.over {
			t.Errorf("%v: unreachable is %v, over is %v", err, unreachable(err), over(err))
		}
	}
}

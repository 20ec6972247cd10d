package refresh

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

func TestCancel(t *testing.T) {
	for _, here := range []bool{true, false} {
		onBench(t, func(b *bench) {
			f := b.source(b.ws, "h", never)
			var ended atomic.Int64
			e := b.start(Options{}, func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
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
			trace, err := b.db.RefreshTrace(b.Context(), b.ws, f.ID, got.LastRefresh.ID)
			b.must(err)
			if kept := len(trace) == 1; kept != here {
				t.Errorf("cancelled here is %v, and the trace is %v", here, trace)
			}
			e.halt()
		})
	}
}

func TestAFeedThatIsDeletedInARun(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		e := b.start(Options{}, stubborn(5*time.Second))
		err := b.db.DeleteFeed(b.Context(), b.ws, f.ID, moment(), nil)
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
		err := b.db.CreateFeed(b.Context(), feedmill.NewFeed{Feed: second}, nil, nil)
		b.must(err)
		e := b.start(Options{}, stubborn(5*time.Second))
		err = b.db.DeleteFeed(b.Context(), b.ws, second.ID, moment(), nil)
		b.must(err)
		b.sleep(10 * time.Second)
		if e.runner.drops() != 1 || len(e.runner.dropped[0]) != 1 || e.runner.dropped[0][0].Feed != second.ID || b.feed(f).Version != 1 {
			t.Errorf("dropped: %+v, and the other feed is %+v", e.runner.dropped, b.feed(f))
		}
		e.halt()
	})
}

package refresh

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

func TestDefaultsOfAnEngine(t *testing.T) {
	for _, c := range []struct {
		options                   Options
		runs, ofWorkspace, ofHost int
		pollEvery                 time.Duration
	}{
		{Options{}, 32, 16, 4, time.Second},
		{Options{MaxRuns: 5}, 5, 3, 4, time.Second},
		{Options{MaxRuns: 1}, 1, 1, 4, time.Second},
		{Options{MaxRuns: 6, MaxOfWorkspace: 5, MaxOfHost: 2, PollEvery: time.Minute}, 6, 5, 2, time.Minute},
	} {
		c.options.Metrics = prometheus.NewRegistry()
		e := New(c.options)
		if e.MaxRuns != c.runs || e.MaxOfWorkspace != c.ofWorkspace || e.MaxOfHost != c.ofHost || e.PollEvery != c.pollEvery ||
			e.turns.max != c.runs || e.turns.ofWorkspace != c.ofWorkspace || e.turns.ofHost != c.ofHost {
			t.Errorf("%d runs, %d of a workspace, %d of a host, every %v; want %+v", e.MaxRuns, e.MaxOfWorkspace, e.MaxOfHost, e.PollEvery, c)
		}
	}
}

// A run is cancelled by a number that is later than its own, and not before it has one.
func TestRunIsCancelledByALaterOne(t *testing.T) {
	for _, c := range []struct {
		number, lost int64
		cancelled    bool
	}{{0, 0, false}, {0, 1, false}, {1, 1, false}, {1, 2, true}, {2, 1, false}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		u := &underWay{cancel: cancel, number: c.number, lost: c.lost}
		u.check()
		if (ctx.Err() != nil) != c.cancelled {
			t.Errorf("run %d, lost to %d: cancelled is %v", c.number, c.lost, ctx.Err() != nil)
		}
		cancel(nil)
	}
}

// An engine that has no room asks for nothing, and at once when there is some.
func TestAFullEngineDoesNotAsk(t *testing.T) {
	onBench(t, func(b *bench) {
		b.source(b.ws, "a", never)
		b.source(b.ws, "b", never)
		e := b.start(Options{MaxRuns: 1}, succeeds(10*time.Second))
		b.sleep(9500 * time.Millisecond)
		if looks := e.store.looks.Load(); looks != 1 {
			t.Errorf("the store was asked %d times while there was no room", looks)
		}
		b.sleep(time.Second)
		if runs := e.runner.runs(); len(runs) != 2 || runs[1].at.Sub(runs[0].at) != 10*time.Second {
			t.Errorf("the runs began at %v", runs)
		}
		e.halt()
	})
}

// A store that does not answer is asked again.
func TestAQuestionThatIsNotAnsweredEnds(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", never)
		b.change(f, func(c *feedmill.SourceChange) error { c.Source.DueAt = moment().Add(time.Second / 2); return nil })
		e := b.start(Options{}, succeeds(0))
		e.store.hangs.Store(true)
		b.sleep(2 * time.Second)
		e.store.hangs.Store(false)
		if b.sleep(storeTimeout - 2*time.Second); b.feed(f).Version != 0 {
			t.Errorf("an answer came while none could")
		}
		if b.sleep(2 * time.Second); b.feed(f).Version != 1 {
			t.Errorf("%+v", b.feed(f))
		}
		e.halt()
	})
}

func TestOutcomeOfARun(t *testing.T) {
	good, bad := feedmill.FeedOutcome{}, feedmill.FeedOutcome{Error: &feedmill.FeedError{}}
	newer, refused := feedmill.FeedOutcome{Version: &feedmill.FeedVersion{}}, feedmill.FeedOutcome{Error: &feedmill.FeedError{}, AuthRequired: true}
	for _, c := range []struct {
		outcomes []feedmill.FeedOutcome
		want     string
	}{
		{nil, failedRun},
		{[]feedmill.FeedOutcome{bad}, failedRun},
		{[]feedmill.FeedOutcome{bad, refused}, refusedRun},
		{[]feedmill.FeedOutcome{refused, bad}, refusedRun},
		{[]feedmill.FeedOutcome{refused, good, refused}, unchangedRun},
		{[]feedmill.FeedOutcome{good, bad, refused}, unchangedRun},
		{[]feedmill.FeedOutcome{bad, good, newer}, changedRun},
		{[]feedmill.FeedOutcome{newer, bad}, changedRun},
	} {
		if got := outcomeOf(c.outcomes); got != c.want {
			t.Errorf("%+v is %s, want %s", c.outcomes, got, c.want)
		}
	}
}

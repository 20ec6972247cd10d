package refresh

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func failing(c feedmill.Claim) (r []feedmill.FeedOutcome) {
	for _, f := range c.Feeds {
		r = append(r, feedmill.FeedOutcome{Feed: f.ID, Error: &feedmill.FeedError{Type: "/problems/broken", Title: "Broken", At: moment()}})
	}
	return r
}

func TestFailuresBackOffAndPause(t *testing.T) {
	onBench(t, func(b *bench) {
		f := b.source(b.ws, "h", minutely)
		e := b.start(Options{PollEvery: time.Minute}, func(_ context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) { return failing(c), nil })
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

func TestAPanicFailsItsRunOnly(t *testing.T) {
	onBench(t, func(b *bench) {
		bad, good := b.source(b.ws, "bad", never), b.source(b.ws, "good", never)
		unwell := b.source(b.ws, "unwell", never)
		e := b.start(Options{}, func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
			switch c.Source.Host {
			case "bad":
				panic("at the disco")
			case "unwell":
				return nil, errors.New("no room on the disk of host 10.0.0.7")
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

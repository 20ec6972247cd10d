package refresh

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// commit writes what a run brought. While the store cannot be reached it is
// tried again for as long as the lease holds, or once more after ctx has ended.
// It returns what came of the run.
//
// The files of outcomes that are not committed are dropped, except after a try of
// which nobody knows whether the store has it: those are left to be swept.
func (e *Engine) commit(ctx context.Context, l *lease, outcomes []feedmill.FeedOutcome) string {
	doubt, replaced := false, false
	for {
		last := ctx.Err() != nil
		unused, err := e.tryCommit(ctx, l.claim.Source, outcomes)
		switch {
		case err == nil:
			e.drop(unused)
			e.Runner.Committed(l.claim, outcomes)
			return outcomeOf(outcomes)
		case errors.Is(err, feedmill.ErrRunEnded):
			// A try came through whose answer did not.
			return outcomeOf(outcomes)
		case over(err):
			if !doubt {
				e.drop(outcomes)
			}
			// A version that another took is no reason to wait for the lease.
			e.release(l.claim)
			return lostRun
		case unreachable(err):
			doubt = true
		case replaced:
			e.Log.Error("committing a run failed", "source", l.claim.Source.ID, "run", l.claim.Source.Run, "error", err)
			return lostRun
		default:
			// It cannot be written, now or later: so that is what is written.
			e.Log.Error("committing a run failed", "source", l.claim.Source.ID, "run", l.claim.Source.Run, "error", err)
			if !doubt {
				e.drop(outcomes)
			}
			outcomes, replaced = faulty(l.claim, err), true
			continue
		}
		e.Log.Warn("committing a run failed", "source", l.claim.Source.ID, "run", l.claim.Source.Run, "error", err)
		if last {
			return lostRun
		}
		pause(ctx)
		if ctx.Err() == nil {
			l.keep()
		}
		if !time.Now().Before(l.until) {
			return lostRun
		}
	}
}

// tryCommit writes outcomes. It returns the outcomes that nobody needs any more,
// because their feeds are gone.
func (e *Engine) tryCommit(ctx context.Context, s feedmill.Source, outcomes []feedmill.FeedOutcome) (unused []feedmill.FeedOutcome, err error) {
	ctx, cancel := storeCall(ctx)
	defer cancel()
	now := moment()
	err = e.change(ctx, s.Workspace, s.ID, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		unused = nil
		news, err := c.Finish(s.Run, outcomes, now)
		for _, o := range outcomes {
			if !slices.ContainsFunc(c.Refreshes, func(r feedmill.Refresh) bool { return r.Feed == o.Feed }) {
				unused = append(unused, o)
			}
		}
		return news, err
	})
	return unused, err
}

// unreachable reports whether the store could not be asked, or did not answer.
func unreachable(err error) bool {
	return errors.Is(err, feedmill.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// pause waits a moment before the next try, or until ctx ends.
func pause(ctx context.Context) {
	wait := time.NewTimer(retryCommit)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

package refresh

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// runSource claims a source, fetches it and commits what comes of it, or gives the
// source back where ctx ends before. It returns whether there was a run.
func (e *Engine) runSource(ctx context.Context, s feedmill.DueSource, u *underWay) bool {
	if e.elsewhere(ctx, s) {
		e.leave(s)
		return false
	}
	release, ok, err := e.Permits.Try(ctx, "refresh "+string(s.Workspace)+" "+s.Host, 0, e.MaxOfHost-1)
	if err != nil && ctx.Err() == nil {
		e.Log.Warn("limiting the refreshes of a host failed", "source", s.ID, "error", err)
	}
	if !ok {
		return false // other replicas have the runs of the host; the next poll tries again
	}
	defer release()
	claim, err := e.claim(ctx, s)
	if err != nil {
		// Who was faster, and who deleted it, need not be told of.
		if ctx.Err() == nil && !errors.Is(err, feedmill.ErrConflict) && !errors.Is(err, feedmill.ErrNotFound) {
			e.Log.Warn("claiming a source failed", "source", s.ID, "error", err)
		}
		return false
	}
	if claim.Feeds == nil {
		return false
	}
	began := time.Now()
	e.count.lag.Observe(max(began.Sub(s.DueAt).Seconds(), 0))
	e.mu.Lock()
	u.number = claim.Source.Run
	u.check()
	e.mu.Unlock()

	l := e.hold(ctx, claim, u.cancel)
	claim.Report = l.progress.report
	outcomes, err := e.fetch(ctx, claim)
	l.stop()

	var outcome string
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errLost), errors.Is(cause, errCancelled):
		e.drop(outcomes)
		if errors.Is(cause, errCancelled) {
			e.keepTraces(claim, outcomes)
		}
		outcome = lostRun
	case cause != nil && (err != nil || anyFailed(outcomes)):
		// It was broken off, which is no failure of the source.
		e.drop(outcomes)
		e.release(claim)
		outcome = releasedRun
	case err != nil:
		e.Log.Error("running a source failed", "source", s.ID, "run", claim.Source.Run, "error", err)
		outcome = e.commit(ctx, l, faulty(claim, err))
	default:
		outcome = e.commit(ctx, l, outcomes)
	}
	took := time.Since(began)
	e.count.ended(outcome, took)
	e.Log.Debug("run", "source", s.ID, "workspace", s.Workspace, "run", claim.Source.Run, "feeds", len(claim.Feeds), "outcome", outcome, "duration", took)
	return true
}

// claim begins a run. A claim without feeds is of a source that has none to
// bring anything.
func (e *Engine) claim(ctx context.Context, s feedmill.DueSource) (claim feedmill.Claim, err error) {
	// A claim is not broken off: it could be made and nobody know of it.
	ctx, cancel := storeCall(ctx)
	defer cancel()
	now := moment()
	err = e.change(ctx, s.Workspace, s.ID, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		claim = feedmill.Claim{}
		news, err := c.Begin(now, now.Add(leaseTime))
		if err != nil || !c.Source.Leased(now) {
			return news, err
		}
		c.Source.LeasedBy = e.Holder
		claim.Source = c.Source
		for _, f := range c.Feeds {
			if f.Active() {
				claim.Feeds = append(claim.Feeds, f)
			}
		}
		return news, nil
	})
	return claim, err
}

// change changes a source and tells of what is news.
func (e *Engine) change(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) ([]feedmill.SourceNews, error)) error {
	return e.Store.ChangeSource(ctx, workspace, source, func(c *feedmill.SourceChange) error {
		news, err := change(c)
		if err != nil {
			return err
		}
		if len(news) > 0 {
			events, err := e.Events(c, news)
			if err != nil {
				return fmt.Errorf("emit the events of a run: %w", err)
			}
			c.Events = append(c.Events, events...)
		}
		c.CatchUp(moment()) // after the events, which are about the run that has ended
		return nil
	})
}

// fetch lets the runner run. If it panics, this run alone has failed.
func (e *Engine) fetch(ctx context.Context, claim feedmill.Claim) (outcomes []feedmill.FeedOutcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.count.panics.Inc()
			outcomes, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return e.Runner.Run(ctx, claim)
}

// drop removes the files of outcomes, where they have any.
func (e *Engine) drop(outcomes []feedmill.FeedOutcome) {
	if len(outcomes) == 0 {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			e.count.panics.Inc()
			e.Log.Error("discarding outcomes panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	e.Runner.Drop(outcomes)
}

// keepTraces writes what was asked for in a run that somebody cancelled, for
// whoever wants to know why it took so long.
func (e *Engine) keepTraces(claim feedmill.Claim, outcomes []feedmill.FeedOutcome) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWrite)
	defer cancel()
	s := claim.Source
	err := e.change(ctx, s.Workspace, s.ID, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) {
		for _, o := range outcomes {
			was := slices.IndexFunc(claim.Feeds, func(f feedmill.Feed) bool { return f.ID == o.Feed })
			if was >= 0 && c.Feed(o.Feed) != nil && len(o.Trace) > 0 {
				c.Traces = append(c.Traces, feedmill.Trace{Refresh: claim.Feeds[was].LastRefresh.ID, Feed: o.Feed, Requests: o.Trace})
			}
		}
		return nil, nil
	})
	if err != nil && !over(err) {
		e.Log.Warn("storing the trace of a canceled run failed", "source", s.ID, "error", err)
	}
}

// release gives a source back, so that another replica takes it at once.
func (e *Engine) release(claim feedmill.Claim) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWrite)
	defer cancel()
	s := claim.Source
	err := e.change(ctx, s.Workspace, s.ID, func(c *feedmill.SourceChange) ([]feedmill.SourceNews, error) { return nil, c.Release(s.Run) })
	if err != nil && !over(err) {
		e.Log.Warn("releasing a source failed", "source", s.ID, "error", err)
	}
}

// over reports whether an error means that the run has nothing to say any more.
func over(err error) bool {
	return errors.Is(err, feedmill.ErrConflict) || errors.Is(err, feedmill.ErrNotFound) || errors.Is(err, feedmill.ErrRunEnded)
}

func anyFailed(outcomes []feedmill.FeedOutcome) bool {
	for _, o := range outcomes {
		if o.Error != nil {
			return true
		}
	}
	return false
}

// faulty is what comes of a run in which the service itself failed.
func faulty(claim feedmill.Claim, err error) (outcomes []feedmill.FeedOutcome) {
	for _, f := range claim.Feeds {
		problem := problemOf(err)
		problem.At = moment()
		outcomes = append(outcomes, feedmill.FeedOutcome{Feed: f.ID, Error: &problem})
	}
	return outcomes
}

// problemOf is a fault of the service as users see it: what they or the operator can do
// something about, and else nothing of its reasons.
func problemOf(err error) feedmill.FeedError {
	refusal, _ := errors.AsType[*feedmill.Error](err)
	switch {
	case feedmill.IsNoRoom(err):
		problem := feedmill.FeedError{Type: "/problems/no-room", Title: "The disk is full", Detail: "Nothing was stored. Feedmill retries the refresh. Ask the operator to free disk space."}
		if refusal != nil && refusal.Detail != "" {
			problem.Detail = refusal.Detail
		}
		return problem
	case refusal != nil && refusal.Type == filesElsewhere:
		return feedmill.FeedError{Type: "/problems/" + filesElsewhere, Title: refusal.Title, Detail: refusal.Detail}
	case errors.Is(err, feedmill.ErrDamaged) && refusal != nil:
		return feedmill.FeedError{Type: "/problems/file-damaged", Title: "A stored file is damaged", Detail: refusal.Detail}
	}
	return feedmill.FeedError{
		Type: "/problems/internal", Title: "Internal server error",
		Detail: "Feedmill retries the refresh. If it fails again, report the refresh ID to the operator.",
	}
}

package refresh

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// lease is what a run holds its source by.
type lease struct {
	engine   *Engine
	run      context.Context // ends when the engine stops
	claim    feedmill.Claim
	progress *progress
	// until is when the lease ends. It is the keeper's until that is stopped.
	until   time.Time
	renewed time.Time

	ended  chan struct{}
	keeper sync.WaitGroup
}

// hold renews the lease of a claim and writes its progress until the lease is
// stopped, or lost, which it tells.
func (e *Engine) hold(ctx context.Context, claim feedmill.Claim, lose context.CancelCauseFunc) *lease {
	l := &lease{
		engine: e, run: ctx, claim: claim, progress: newProgress(), until: claim.Source.LeasedUntil, ended: make(chan struct{}),
	}
	l.renewed = l.until.Add(-leaseTime)
	l.keeper.Go(func() {
		tick := time.NewTicker(writeProgressEvery)
		defer tick.Stop()
		for {
			select {
			case <-l.ended:
				return
			case <-tick.C:
			}
			if !l.keep() {
				lose(errLost)
				return
			}
		}
	})
	return l
}

// stop ends the keeping of the lease, which runs on as long as it has been
// renewed for.
func (l *lease) stop() {
	close(l.ended)
	l.keeper.Wait()
}

// keep renews the lease where there is reason to. It returns false if the lease
// is lost.
func (l *lease) keep() bool {
	fresh := l.progress.takeAll()
	if len(fresh) == 0 && time.Since(l.renewed) < renewEvery {
		return true
	}
	now := moment()
	if !now.Before(l.until) {
		return false
	}
	call, end := storeCall(l.run)
	defer end()
	ctx, cancel := context.WithDeadline(call, l.until)
	defer cancel()
	s, until := l.claim.Source, now.Add(leaseTime)
	err := l.engine.Store.RenewSource(ctx, s.Workspace, s.ID, s.Run, until, fresh)
	switch {
	case err == nil:
		l.renewed, l.until = now, until
	case over(err):
		return false
	default:
		l.progress.giveBack(fresh)
		l.engine.Log.Warn("renewing a lease failed", "source", s.ID, "error", err)
	}
	return time.Now().Before(l.until)
}

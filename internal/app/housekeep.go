package app

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/subscribe"
)

const (
	// sweepFilesEvery is how often all files are searched for those that no
	// version has and that were there the time before. It is longer than any
	// upload takes from its last byte to its commit.
	sweepFilesEvery = time.Hour
)

// housekeep removes what is past its time, and seals what former releases did
// not: a little at a time, so that nobody waits for it, and at once, so that a
// store has room for the days to come. The process began to serve at the given
// time.
func (a *App) housekeep(ctx context.Context, began time.Time, feeds *feeds) {
	const every = time.Minute
	tick := time.NewTicker(every)
	defer tick.Stop()
	// Nobody else writes files here: what is older than this process and has
	// no version was broken off. File systems tell the time in steps.
	const clockStep = 20 * time.Millisecond
	var swept time.Time
	orphans := began.Add(-clockStep)
	sealer := subscribe.NewSealer(a.store, a.vault)
	for {
		if now := time.Now(); now.Sub(swept) >= sweepFilesEvery {
			a.sweep(ctx, "files", func(time.Time) (bool, error) { return false, feeds.SweepFiles(ctx, orphans) })
			swept, orphans = now, now
		}
		a.sweep(ctx, "versions", func(now time.Time) (bool, error) { return feeds.ForgetVersions(ctx, now) })
		a.sweep(ctx, "crowds of files", func(time.Time) (bool, error) { return feeds.JoinFiles(ctx) })
		a.sweep(ctx, "refreshes", func(now time.Time) (bool, error) { return feeds.ForgetRefreshes(ctx, now) })
		a.sweep(ctx, "idempotency keys", func(now time.Time) (bool, error) {
			const step = 500
			n, err := a.store.ForgetResponses(ctx, now, step)
			return n == step, err
		})
		a.sweep(ctx, "sessions", func(now time.Time) (bool, error) {
			const step = 500
			n, err := a.store.ForgetSessions(ctx, now.Add(-feedmill.SessionAge), step)
			return n == step, err
		})
		a.sweep(ctx, "audit log", func(now time.Time) (bool, error) {
			const step = 500
			n, err := a.store.ForgetAudit(ctx, now.Add(-feedmill.AuditRetention), step)
			return n == step, err
		})
		a.sweep(ctx, "counts of deliveries", func(now time.Time) (bool, error) {
			const step = 500
			n, err := a.store.ForgetDeliveryCounts(ctx, now.Add(-feedmill.CountRetention), step)
			return n == step, err
		})
		a.sweep(ctx, "listeners", func(now time.Time) (bool, error) {
			const step = 50
			n, err := a.store.ExpireListeners(ctx, now, step)
			return n == step, err
		})
		a.sweep(ctx, "events", func(now time.Time) (bool, error) {
			return a.store.Prune(ctx, now, now.Add(-a.config.EventRetention))
		})
		a.sweep(ctx, "URLs that are not sealed", func(time.Time) (bool, error) { return sealer.Step(ctx) })
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sweep takes steps until there is nothing more to remove. After each it rests for
// as long as it took: those who publish come before it.
func (a *App) sweep(ctx context.Context, what string, step func(now time.Time) (more bool, err error)) {
	for ctx.Err() == nil {
		began := time.Now()
		more, err := step(began)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("keeping house; it is tried again in a minute", "what", what, "error", err)
		}
		if err != nil || !more {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Since(began)):
		}
	}
}

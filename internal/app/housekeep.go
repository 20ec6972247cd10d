package app

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/subscribe"
)

// sweepFilesEvery is how often all files are searched for those that no version has
// and that were there the time before. It is longer than any upload takes from its
// last byte to its commit.
const sweepFilesEvery = time.Hour

// housekeepingStore removes what is past its time.
type housekeepingStore interface {
	ForgetSignIns(ctx context.Context, before time.Time, limit int) (int64, error)
	ForgetResponses(ctx context.Context, now time.Time, limit int) (int64, error)
	ForgetSessions(ctx context.Context, before time.Time, limit int) (int64, error)
	ForgetPortalLinks(ctx context.Context, before time.Time, limit int) (int64, error)
	ForgetRateLimits(ctx context.Context, now time.Time, limit int) (int64, error)
	ForgetSendWindows(ctx context.Context, now time.Time, limit int) (int64, error)
	ForgetAudit(ctx context.Context, before time.Time, limit int) (int64, error)
	ForgetDeliveryCounts(ctx context.Context, before time.Time, limit int) (int64, error)
	ExpireListeners(ctx context.Context, now time.Time, limit int) (int, error)
	Prune(ctx context.Context, now, before time.Time) (more bool, err error)
}

// housekeep removes what is past its time, and seals what former releases did
// not: a little at a time, so that nobody waits for it, and at once, so that a
// store has room for the days to come. The process began to serve at the given
// time.
func (a *App) housekeep(ctx context.Context, began time.Time, feeds *feeds, paused *pause) {
	const every = time.Minute
	tick := time.NewTicker(every)
	defer tick.Stop()
	// Nobody else writes files here: what is older than this process and has
	// no version was broken off. File systems tell the time in steps.
	const clockStep = 20 * time.Millisecond
	var swept time.Time
	missing := 0
	orphans := began.Add(-clockStep)
	sealer := subscribe.NewSealer(a.store, a.vault)
	forget := func(what string, age time.Duration, do func(context.Context, time.Time, int) (int64, error)) {
		const step = 500
		a.sweep(ctx, what, func(now time.Time) (bool, error) {
			n, err := do(ctx, now.Add(-age), step)
			return n == step, err
		})
	}
	for {
		// With SQLite or a bucket no other process can have the files. Those that are missing may be restored.
		if a.config.DatabaseURL != "" && feeds.bucket == nil && (missing > 0 || feeds.files.LacksFiles() || time.Since(swept) >= sweepFilesEvery) {
			a.sweep(ctx, "missing files", func(time.Time) (more bool, err error) {
				missing, err = feeds.files.CountMissing(ctx, missing)
				return false, err
			})
		}
		if now := time.Now(); now.Sub(swept) >= sweepFilesEvery {
			a.sweep(ctx, "files", func(time.Time) (bool, error) { return false, feeds.SweepFiles(ctx, orphans) })
			swept, orphans = now, now
		}
		a.sweep(ctx, "versions and refreshes", func(now time.Time) (bool, error) { return feeds.Tend(ctx, now) })
		forget("idempotency keys", 0, a.store.ForgetResponses)
		forget("sessions", feedmill.SessionAge, a.store.ForgetSessions)
		forget("portal links", feedmill.PortalLinkRetention, a.store.ForgetPortalLinks)
		forget("rate limits", 0, a.store.ForgetRateLimits)
		forget("counts of messages", 0, a.store.ForgetSendWindows)
		if !paused.is() { // the original of a restored store may use them
			forget("unused grants", 0, feeds.people.GiveBack)
		}
		forget("sign-ins", feedmill.SignInVisit, a.store.ForgetSignIns)
		forget("audit log", feedmill.AuditRetention, a.store.ForgetAudit)
		forget("delivery counts", feedmill.CountRetention, a.store.ForgetDeliveryCounts)
		a.sweep(ctx, "listeners", func(now time.Time) (bool, error) {
			const step = 50
			n, err := a.store.ExpireListeners(ctx, now, step)
			return n == step, err
		})
		a.sweep(ctx, "events", func(now time.Time) (bool, error) {
			return a.store.Prune(ctx, now, now.Add(-a.config.EventRetention))
		})
		a.sweep(ctx, "unmasked errors", func(time.Time) (bool, error) { return feeds.connections.MaskErrors(ctx) })
		a.sweep(ctx, "unencrypted URLs", func(time.Time) (bool, error) { return sealer.Step(ctx) })
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
			a.log.Warn("housekeeping failed; will retry in a minute", "what", what, "error", err)
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

package app

import (
	"context"
	"time"
)

// pause holds the parts of the service back that would act in place of the original of a restored
// store: deliveries, refreshes, and revocations of grants.
type pause struct{ ended chan struct{} }

// newPause finds out whether the store is paused.
func (a *App) newPause(ctx context.Context) (*pause, error) {
	p := &pause{make(chan struct{})}
	backup, err := a.store.PausedFrom(ctx)
	if err != nil {
		return nil, err
	}
	if backup == "" {
		close(p.ended)
		return p, nil
	}
	a.log.Warn("the store was restored from a backup; it sends no deliveries and runs no refreshes until you run 'feedmill resume'", "backup", backup)
	return p, nil
}

// is reports whether the store is paused.
func (p *pause) is() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// wait waits until the store is not paused. It reports false if the context ends first.
func (p *pause) wait(ctx context.Context) bool {
	select {
	case <-p.ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitResume ends the pause when the store is resumed.
func (a *App) awaitResume(ctx context.Context, p *pause) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for p.is() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if backup, err := a.store.PausedFrom(ctx); err == nil && backup == "" {
			a.log.Info("the store was resumed; deliveries and refreshes start")
			close(p.ended)
		}
	}
}

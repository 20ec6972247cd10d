package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// writeUsedEvery is how far the stored last-used times trail the truth.
	writeUsedEvery = 5 * time.Second
	// writeUsedTimeout bounds one write, and lastWriteTimeout the last one of a process.
	writeUsedTimeout = 5 * time.Second
	lastWriteTimeout = 3 * time.Second
)

// lastUsed collects when keys were used until it is written. It is apart from
// the cache, so that neither a forgotten nor an evicted key takes its time
// along. Only keys that are good enter it.
type lastUsed struct {
	mu      sync.Mutex
	pending map[feedmill.ID]time.Time
}

func (u *lastUsed) note(key feedmill.ID, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pending == nil {
		u.pending = make(map[feedmill.ID]time.Time)
	}
	if at.After(u.pending[key]) {
		u.pending[key] = at
	}
}

// takeNoted returns what was noted since it was last called.
func (u *lastUsed) takeNoted() map[feedmill.ID]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.pending
	u.pending = nil
	return taken
}

// Run writes the last-used times of keys once a minute, and once more when ctx
// ends, with a deadline of its own. It returns the error of that last write;
// times that an earlier one could not write are kept for the next. End it after
// the last request was answered.
func (a *Authenticator) Run(ctx context.Context) error {
	ticker := time.NewTicker(writeUsedEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := a.writeUsed(ctx, writeUsedTimeout); err != nil && ctx.Err() == nil {
				a.logger.WarnContext(ctx, "last-used times of API keys not written, will be tried again", "error", err)
			}
		case <-ctx.Done():
			return a.writeUsed(context.WithoutCancel(ctx), lastWriteTimeout)
		}
	}
}

// writeUsed writes what is pending, and keeps it pending when that fails.
func (a *Authenticator) writeUsed(ctx context.Context, timeout time.Duration) error {
	used := a.used.takeNoted()
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := a.store.TouchKeys(ctx, used); err != nil {
		for key, at := range used {
			a.used.note(key, at)
		}
		return fmt.Errorf("write last-used times: %w", err)
	}
	return nil
}

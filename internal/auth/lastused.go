package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// writeUsedEvery is the interval at which last-used times are written.
	writeUsedEvery = 5 * time.Second
	// writeUsedTimeout is the timeout of a write, and lastWriteTimeout that of the last one
	// of a process.
	writeUsedTimeout = 5 * time.Second
	lastWriteTimeout = 3 * time.Second
)

// lastUsed collects the last-used times of valid keys until they are written. It is
// separate from the cache, so that a key's time survives its eviction.
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

// takePending returns the times that were noted since the last call.
func (u *lastUsed) takePending() map[feedmill.ID]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.pending
	u.pending = nil
	return taken
}

// Run writes the last-used times of keys every 5 seconds, and once more when ctx ends, with
// a timeout of its own. It returns the error of that last write; times of an earlier failed
// write are kept for the next. End ctx after the last request.
func (a *Authenticator) Run(ctx context.Context) error {
	ticker := time.NewTicker(writeUsedEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := a.writeUsed(ctx, writeUsedTimeout); err != nil && ctx.Err() == nil {
				a.logger.WarnContext(ctx, "writing last-used times of API keys failed; will retry", "error", err)
			}
		case <-ctx.Done():
			return a.writeUsed(context.WithoutCancel(ctx), lastWriteTimeout)
		}
	}
}

// writeUsed writes the pending times. They stay pending if the write fails.
func (a *Authenticator) writeUsed(ctx context.Context, timeout time.Duration) error {
	used := a.used.takePending()
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

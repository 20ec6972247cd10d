package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// Retries are due by the system's clock. One that is set back would make them
// wait for as long as it was set back by, so their times are put right: when the
// clock is seen to step, and when slots are taken over, from another replica or
// from this one before it was started again. Nothing waits for that meanwhile.

const (
	// clockStep is how far the clock must be set back to count as a step.
	clockStep = time.Second
	// rewindStep is how many retries are looked at in one go.
	rewindStep = 500
)

// setBack reports whether the clock was set back between two moments: whether
// less time has passed by it than by the one that never steps.
func setBack(from, to time.Time) bool {
	return !from.IsZero() && to.Sub(from)-to.Round(0).Sub(from.Round(0)) >= clockStep
}

// rewindRetries puts times right whenever it is asked to, until ctx ends.
func (d *Dispatcher) rewindRetries(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.rewindNow:
		}
		d.mu.Lock()
		slots := d.unwound.list()
		d.unwound = slotSet{}
		d.mu.Unlock()
		if len(slots) > 0 {
			d.rewind(ctx, slots)
		}
	}
}

// rewind puts right the times of all retries in the slots. A step that fails is
// tried again, and those before it are not.
func (d *Dispatcher) rewind(ctx context.Context, slots []int) {
	var reached feedmill.RetryPosition
	for more := true; more && ctx.Err() == nil; {
		call, cancel := context.WithTimeout(ctx, storeTimeout)
		next, again, err := d.Store.Rewind(call, slots, time.Now(), reached, rewindStep)
		cancel()
		if err == nil {
			reached, more = next, again
			continue
		}
		if !errors.Is(err, context.Canceled) {
			d.Log.Error("putting times of retries right", "error", err)
		}
		pause(ctx, retryRead, nil)
	}
}

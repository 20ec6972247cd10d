package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Retries are due by the system's clock. One that is set back would make them
// wait for as long as it was set back by, so their times are put right: when the
// clock is seen to step, and when slots are taken over, from another replica or
// from this one before it was started again.

// clockStep is how far the clock must be set back to count as a step.
const clockStep = time.Second

// setBack reports whether the clock was set back between two moments: whether
// less time has passed by it than by the one that never steps.
func setBack(from, to time.Time) bool {
	return !from.IsZero() && to.Sub(from)-to.Round(0).Sub(from.Round(0)) >= clockStep
}

// rewindAll puts right the times of all subscriptions in the slots.
func (d *Dispatcher) rewindAll(ctx context.Context, slots []int, now time.Time) error {
	const step = 1000
	// Whatever is open is due by then.
	end := now.AddDate(100, 0, 0)
	for after := feedmill.ID(""); ; {
		ids, err := d.Store.DueSubscriptions(ctx, slots, end, after, step)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := d.Store.Rewind(ctx, id, now); err != nil {
				return err
			}
		}
		if len(ids) < step {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

package deliver

import (
	"context"
	"time"
)

// fanoutStep is how many promised deliveries are made in one transaction:
// publishers wait for no more than that.
const fanoutStep = 250

// runFanouts makes the deliveries that were promised, step by step. After each it
// rests for as long as it took, so that at least half of the store's time is for
// others.
func (d *Dispatcher) runFanouts(ctx context.Context) {
	for {
		began := time.Now()
		due, worked, err := d.Store.StepFanout(ctx, began, fanoutStep)
		if err != nil && ctx.Err() == nil {
			d.Log.Error("making promised deliveries", "error", err)
		}
		wait := d.PollEvery
		var wake <-chan struct{} = d.fanoutNow
		if worked && err == nil {
			d.Offer(due)
			wait, wake = time.Since(began), nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

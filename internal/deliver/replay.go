package deliver

import (
	"context"
	"time"
)

// replayStep is how many deliveries of a replay are made in one transaction.
const replayStep = 500

// runReplays works on unfinished replays, step by step and no faster than each of
// them may go, and asks for ones that another process has left now and then.
func (d *Dispatcher) runReplays(ctx context.Context) {
	const pollEvery = 30 * time.Second
	for ctx.Err() == nil {
		worked, next, err := d.Store.StepReplay(ctx, time.Now(), replayStep)
		if err != nil && ctx.Err() == nil {
			d.Log.Error("replaying deliveries", "error", err)
		}
		if worked && err == nil {
			signal(d.pollNow) // there is something to send
			continue
		}
		wait := pollEvery
		if err == nil && !next.IsZero() { // it is throttled
			wait = min(wait, max(time.Until(next), time.Millisecond))
		}
		pause(ctx, wait, d.replayNow)
	}
}

package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// lockedWait is how long outcomes wait whose deliveries somebody has locked.
const lockedWait = time.Second

// holdUp settles what of a batch was written, and the rest when it may be free.
// Meanwhile nothing more is sent for the subscriptions of the rest: there would be
// no end to what waits to be written.
func (d *Dispatcher) holdUp(ctx context.Context, batch []settling, locked map[feedmill.ID]struct{}) {
	var written, rest []settling
	d.mu.Lock()
	for _, s := range batch {
		if _, ok := locked[s.outcome.Delivery]; !ok {
			written = append(written, s)
			continue
		}
		if !s.heldUp {
			s.heldUp = true
			s.lane.heldUp++
		}
		rest = append(rest, s)
	}
	d.mu.Unlock()
	d.settled(written, false) // nobody says of each whether it was this replica's
	if len(rest) == 0 {
		return
	}
	d.Log.Warn("another transaction locks deliveries; their outcomes are written later", "outcomes", len(rest))
	d.heldUp.Go(func() {
		pause(ctx, lockedWait, nil)
		d.settle(ctx, rest)
	})
}

package rig

import (
	"context"
	"time"
)

const (
	// restLook is how often it is seen whether a Feedmill rests: the kernel counts
	// in hundredths of a second, and two of them in a look are housekeeping.
	restLook  = 100 * time.Millisecond
	restTicks = 20 * time.Millisecond
)

// Rested waits until the Feedmill and its workers use next to nothing of the
// processors, and returns how long that took, to a tenth of a second.
func (m *Mill) Rested(ctx context.Context) (time.Duration, error) {
	tick := time.NewTicker(restLook)
	defer tick.Stop()
	began, before := time.Now(), m.CPUTime()
	for {
		looked := time.Since(began)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		now := m.CPUTime()
		// A worker that has ended takes its time along until it is waited for.
		if now-before <= restTicks {
			return looked, nil
		}
		before = now
	}
}

package deliver

import (
	"context"
	"runtime"
	"slices"
	"time"

	requests "github.com/feedmill/feedmill/internal/share"
)

const (
	// fanoutStep is how many promised deliveries are made in one transaction, and
	// shortFanoutStep how many while somebody makes requests: publishers wait for no
	// more than that.
	fanoutStep      = 64
	shortFanoutStep = 16
	// wholeFanout is how many are made in one transaction where that keeps promises as a
	// whole: those of events that few hear of, and that had to wait for others. While
	// another workspace makes requests it is fanoutStep.
	wholeFanout = 256
	// fanoutPortion is how many of them, for each processor, are handed out to be
	// sent before requests have their turn.
	fanoutPortion = 4
)

// runFanouts makes the deliveries that were promised, step by step. After each it
// rests for as long as it took, so that at least half of the store's time is for
// others; and while some other workspace makes requests, it leaves processors to it.
func (d *Dispatcher) runFanouts(ctx context.Context) {
	processors := runtime.GOMAXPROCS(0)
	b := newBreather(processors, time.Now(), processorTime())
	var workspace string // of the last step
	for ctx.Err() == nil {
		began, step, whole := time.Now(), fanoutStep, wholeFanout
		if requests.Anybody() {
			step = shortFanoutStep
		}
		if requests.AnybodyBut(workspace) {
			whole = fanoutStep
		}
		due, worked, err := d.Store.StepFanout(ctx, began, step, whole)
		if err != nil && ctx.Err() == nil {
			d.Log.Error("making promised deliveries", "error", err)
		}
		if !worked || err != nil {
			pause(ctx, d.PollEvery, d.fanoutNow)
			continue
		}
		d.readTargets(ctx, due)
		rest := time.Since(began)
		for portion := range slices.Chunk(due, fanoutPortion*processors) {
			workspace = string(portion[0].Workspace)
			d.Offer(portion)
			if breath := b.rest(time.Now(), processorTime()); requests.AnybodyBut(workspace) {
				pause(ctx, breath, nil)
				rest -= breath
			}
		}
		pause(ctx, rest, nil)
	}
}

// pause waits for some time, or until it is woken or ctx ends.
func pause(ctx context.Context, wait time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

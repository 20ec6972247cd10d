package deliver

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	requests "github.com/feedmill/feedmill/internal/share"
)

const (
	// fanoutStep is how many promised deliveries are made in one transaction, and
	// shortFanoutStep how many while another workspace makes requests, which wait for it.
	fanoutStep      = 64
	shortFanoutStep = 16
	// wholeFanout is how many are made in one transaction where that keeps promises as a
	// whole: those of events that few hear of, and that had to wait for others.
	// shortWholeFanout is the same while another workspace makes requests.
	wholeFanout      = 256
	shortWholeFanout = 64
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
	for ctx.Err() == nil {
		began := time.Now()
		due, worked, err := d.Store.StepFanout(ctx, began, fanoutSize)
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
			d.Offer(portion)
			if breath := b.rest(time.Now(), processorTime()); requests.AnybodyBut(string(due[0].Workspace)) {
				pause(ctx, breath, nil)
				rest -= breath
			}
		}
		pause(ctx, rest, nil)
	}
}

// fanoutSize is how many promised deliveries of a workspace are made in one transaction:
// of one event, and of events of which all are made.
func fanoutSize(workspace feedmill.ID) (limit, whole int) {
	if requests.AnybodyBut(string(workspace)) {
		return shortFanoutStep, shortWholeFanout
	}
	return fanoutStep, wholeFanout
}

// pause waits for some time, or until it is woken or ctx ends. It reports whether it was
// woken.
func pause(ctx context.Context, wait time.Duration, wake <-chan struct{}) (woken bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
		return true
	case <-timer.C:
	}
	return false
}

package deliver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// Signals are how replicas that share a store tell each other what they would find
// out by themselves a moment later.
type Signals interface {
	Tell(context.Context, feedmill.Signal, []feedmill.ID) error
	Hear(context.Context, func(feedmill.Signal, []feedmill.ID)) error
}

const (
	// tellEvery is how often replicas are told of what was accepted for them.
	tellEvery = 20 * time.Millisecond
	// tellPatience bounds how long that may take.
	tellPatience = 5 * time.Second
	// hearAgain is how soon it is listened again after that has failed.
	hearAgain = time.Second
)

// foreign notes that there is something to tell about a subscription that another
// replica sends for. The mutex is held.
func (d *Dispatcher) foreign(s feedmill.Signal, subscription feedmill.ID) {
	if d.Signals == nil {
		return
	}
	if d.toTell[s] == nil {
		d.toTell[s] = make(map[feedmill.ID]struct{})
	}
	d.toTell[s][subscription] = struct{}{}
	signal(d.tellNow)
}

// tellReplicas tells what there is to tell until ctx ends. What cannot be told is
// left for the others to find.
func (d *Dispatcher) tellReplicas(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-d.tellNow:
		}
		d.mu.Lock()
		telling := d.toTell
		d.toTell = make(map[feedmill.Signal]map[feedmill.ID]struct{})
		d.mu.Unlock()
		for s, subscriptions := range telling {
			call, cancel := context.WithTimeout(ctx, tellPatience)
			if err := d.Signals.Tell(call, s, slices.Collect(maps.Keys(subscriptions))); err != nil && ctx.Err() == nil {
				d.Log.Debug("telling other replicas", "error", err)
			}
			cancel()
		}
		pause(ctx, tellEvery, nil)
	}
}

// hearReplicas acts on what other replicas tell until ctx ends.
func (d *Dispatcher) hearReplicas(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.Signals.Hear(ctx, d.heard); ctx.Err() == nil {
			d.Log.Warn("listening to other replicas; meanwhile the store is polled", "error", err)
		}
		pause(ctx, hearAgain, nil)
	}
}

// heard acts on what a replica tells, which may be this one.
func (d *Dispatcher) heard(s feedmill.Signal, subscriptions []feedmill.ID) {
	switch s {
	case feedmill.SignalDue:
		d.mu.Lock()
		for _, id := range subscriptions {
			d.found(id, told, time.Time{})
		}
		d.mu.Unlock()
		if len(subscriptions) == 0 {
			signal(d.pollNow)
		}
	case feedmill.SignalChanged:
		for _, id := range subscriptions {
			d.changedHere(id)
			// What another replica has made due by hand is not known to the lanes, and
			// a poll of all of them comes late where they have much work.
			d.mu.Lock()
			d.found(id, asked, time.Now())
			d.mu.Unlock()
		}
	case feedmill.SignalSlots:
		signal(d.leaseNow)
	}
}

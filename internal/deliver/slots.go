package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// leaseTime is how long a slot stays with a replica that is not heard of.
	leaseTime = 15 * time.Second
	// leaseEvery is how often the lease is renewed.
	leaseEvery = 5 * time.Second
	// leaseMargin is how long before its end a lease that could not be
	// renewed is taken for lost, so that two replicas never both believe
	// that they hold it.
	leaseMargin = 3 * time.Second
)

// slotSet is the slots that this process owns.
type slotSet [feedmill.Slots]bool

func (s *slotSet) has(subscription feedmill.ID) bool { return s[feedmill.Slot(subscription)] }

func (s *slotSet) list() []int {
	var held []int
	for slot, mine := range s {
		if mine {
			held = append(held, slot)
		}
	}
	return held
}

// keepSlots renews the lease until ctx ends. A lease that cannot be renewed is
// taken for lost in time, even where the call that renews it hangs.
func (d *Dispatcher) keepSlots(ctx context.Context) {
	tick := time.NewTicker(leaseEvery)
	defer tick.Stop()
	fence := time.AfterFunc(leaseTime-leaseMargin, func() { d.setSlots(nil) })
	defer fence.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		call, cancel := context.WithTimeout(ctx, leaseEvery)
		if d.lease(call) {
			fence.Reset(leaseTime - leaseMargin - time.Since(began))
		}
		d.handOver(call)
		cancel()
	}
}

// handOver gives back slots that another replica shall have, once nothing of
// theirs is under way: until then the lease keeps the other one waiting, so
// that two never send for the same subscription.
func (d *Dispatcher) handOver(ctx context.Context) {
	d.mu.Lock()
	ready := d.leaving // those of them of which nothing is under way
	for _, l := range d.lanes {
		if len(l.backlog.known) > 0 || l.backlog.reading {
			ready[l.slot] = false
		}
	}
	slots := ready.list()
	d.mu.Unlock()
	if len(slots) == 0 {
		return
	}
	if err := d.Store.ReleaseSlots(ctx, d.Replica, slots); err != nil {
		return // the lease ends by itself
	}
	d.mu.Lock()
	for _, slot := range slots {
		d.leaving[slot] = false
	}
	d.mu.Unlock()
}

// lease renews what this replica holds and takes what it may.
func (d *Dispatcher) lease(ctx context.Context) bool {
	held, err := d.Store.LeaseSlots(ctx, d.Replica, leaseTime)
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Warn("renewing delivery slots", "error", err)
		}
		return false
	}
	d.setSlots(held)
	return true
}

// setSlots takes over a new set of slots and lets go of lanes in those that are
// lost.
func (d *Dispatcher) setSlots(held []int) {
	var now slotSet
	for _, slot := range held {
		now[slot] = true
	}
	d.mu.Lock()
	gained := 0
	for slot := range now {
		switch {
		case now[slot] && !d.slots[slot]:
			gained++
			d.leaving[slot], d.polled[slot] = false, false
		case !now[slot] && d.slots[slot]:
			d.leaving[slot] = true
		}
	}
	d.slots = now
	d.rewind = d.rewind || gained > 0
	d.loseLanes()
	d.mu.Unlock()
	if gained > 0 {
		d.count.takeovers.Add(float64(gained))
		d.Wake()
	}
}

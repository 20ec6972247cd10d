package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// leaseRenewals is how often a lease is renewed in its time.
	leaseRenewals = 3
	// leaseAgain is how soon it is tried again after that has failed.
	leaseAgain = time.Second
	// takeEvery is how often a replica with less than its share asks for more:
	// nobody sends for a slot between the one who gave it back and the next.
	takeEvery = 200 * time.Millisecond
	// leaseMargin is the part of its time by which a lease that could not be
	// renewed is taken for lost before its end, so that two replicas never both
	// believe that they hold it.
	leaseMargin = 5
)

// leases is what is known of the slots that this process sends for.
type leases struct {
	slots  slotSet // those that this process sends for
	polled slotSet // of these, those that were polled since
	// until is when the leases of slots end, zero where they are not ours.
	until [feedmill.Slots]time.Time
	// leaving are ours, to be given back. Those that are stopped for it are
	// not in slots, since stoppedAt.
	leaving   slotSet
	stoppedAt [feedmill.Slots]time.Time
	// unwound are those that may hold due times of a clock that was ahead of ours.
	unwound slotSet
	// short says that there are fewer than our share; gained counts those that
	// were taken.
	short, leaseFailed bool
	gained             int
}

// slotSet is some of the slots.
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

// keepSlots renews the lease until ctx ends, and gives back what others shall
// have. A lease that cannot be renewed is taken for lost in time, even where the
// call that renews it hangs.
func (d *Dispatcher) keepSlots(ctx context.Context) {
	fence := time.AfterFunc(d.trustedTime(), d.endLeases)
	defer fence.Stop()
	next := time.Now() // when to lease
	for {
		if pause(ctx, d.untilSlots(next), d.leaseNow) {
			next = time.Now()
		}
		if ctx.Err() != nil {
			return
		}
		call, cancel := context.WithTimeout(ctx, d.LeaseTime/leaseRenewals)
		if began := time.Now(); !began.Before(next) {
			if d.lease(call) {
				fence.Reset(d.trustedTime() - time.Since(began))
			}
			next = began.Add(d.leaseAfter())
		}
		d.handOver(call)
		cancel()
	}
}

// untilSlots is how long there is nothing to do for slots that are leased next
// at a time.
func (d *Dispatcher) untilSlots(next time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := max(time.Until(next), 0)
	if d.leaving != (slotSet{}) {
		wait = min(wait, leaveStep)
	}
	return wait
}

// leaseAfter is how long after the last time to lease again.
func (d *Dispatcher) leaseAfter() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.leaseFailed:
		return leaseAgain
	case d.short:
		return takeEvery
	}
	return d.LeaseTime / leaseRenewals
}

// trustedTime is how long a lease is relied on.
func (d *Dispatcher) trustedTime() time.Duration { return d.LeaseTime - d.LeaseTime/leaseMargin }

// lease renews what this replica holds and takes what it may.
func (d *Dispatcher) lease(ctx context.Context) bool {
	began := time.Now()
	held, share, err := d.Store.LeaseSlots(ctx, d.Replica, d.LeaseTime)
	d.mu.Lock()
	d.leaseFailed = err != nil
	d.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Warn("renewing delivery slots", "error", err)
		}
		return false
	}
	d.setSlots(held, share, began.Add(d.trustedTime()))
	return true
}

// setSlots notes that slots are held until a time, of which this replica may keep
// a share. One that is not among them is ours for as long as it was before: its
// row may be locked by somebody.
func (d *Dispatcher) setSlots(held []int, share int, until time.Time) {
	d.mu.Lock()
	d.expire(time.Now())
	gained := 0
	for _, slot := range held {
		if d.until[slot].IsZero() {
			gained++
			d.slots[slot], d.leaving[slot], d.polled[slot], d.unwound[slot] = true, false, false, true
		}
		d.until[slot] = until
	}
	d.short = len(held) < share
	d.gained += gained
	d.keepShare(held, share)
	d.loseLanes()
	d.mu.Unlock()
	if gained > 0 {
		d.count.takeovers.Add(float64(gained))
		signal(d.rewindNow)
		d.Wake()
	}
}

// hasEnded reports whether a lease has ended: by the clock that never steps, or by the one
// that goes on while the machine sleeps.
func hasEnded(until, now time.Time) bool {
	return !now.Before(until) || !now.Round(0).Before(until.Round(0))
}

// endLeases lets go of the slots whose lease has ended, and asks for them anew.
func (d *Dispatcher) endLeases() {
	d.mu.Lock()
	ended := d.expire(time.Now())
	d.mu.Unlock()
	if ended {
		signal(d.leaseNow)
	}
}

// expire lets go of the slots whose lease has ended.
func (d *Dispatcher) expire(now time.Time) (ended bool) {
	for slot, until := range d.until {
		if !until.IsZero() && hasEnded(until, now) {
			d.slots[slot], d.leaving[slot], d.until[slot] = false, false, time.Time{}
			ended = true
		}
	}
	if ended {
		d.loseLanes()
		d.breakOffOrdered()
	}
	return ended
}

// underLease reports whether a task may be sent still: its process may have been
// frozen since it was taken. The context of one that is ordered ends with the
// lease.
func (d *Dispatcher) underLease(ctx context.Context, t task, now time.Time) (_ context.Context, end context.CancelFunc, held bool) {
	if !t.target.Settings.Ordered {
		return ctx, func() {}, !hasEnded(t.until, now)
	}
	ctx, end = context.WithCancel(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sending[t.due.id] = end
	return ctx, end, !hasEnded(t.until, now) && !d.until[t.lane.slot].IsZero()
}

// breakOffOrdered ends the attempts of ordered subscriptions whose slot is lost:
// whoever has it now begins with the same delivery.
func (d *Dispatcher) breakOffOrdered() {
	for _, l := range d.lanes {
		if !d.until[l.slot].IsZero() {
			continue
		}
		for id := range l.backlog.known {
			if breakOff := d.sending[id]; breakOff != nil {
				breakOff()
			}
		}
	}
}

// signal wakes whoever waits for it, now or the next time.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

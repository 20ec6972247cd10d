package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// A slot that another replica shall have is given back when nothing of it is
// under way, so that no two replicas ever send for the same subscription; until
// then its lease is renewed. All its subscriptions stop for that moment. Where
// some take long to end what they have begun, the others go on meanwhile: nobody
// waits for the slow endpoint of a neighbour.

const (
	// leaveStep is how often slots that are to be given back are looked at.
	leaveStep = 50 * time.Millisecond
	// leavePause is how long all subscriptions of a slot may be stopped.
	leavePause = 400 * time.Millisecond
)

// keepShare makes as many of the slots that are held leave as are beyond the
// share: first those of which nothing is under way.
func (d *Dispatcher) keepShare(held []int, share int) {
	excess := len(held) - share
	for _, slot := range held {
		if !d.leaving[slot] {
			continue
		}
		if excess > 0 {
			excess--
		} else {
			d.leaving[slot], d.slots[slot] = false, true
		}
	}
	if excess <= 0 {
		return
	}
	busy := d.busySlots(func(l *lane) bool { return l.backlog.hasWork() || l.underWay() })
	for _, wanted := range []bool{false, true} {
		for _, slot := range held {
			if excess > 0 && !d.leaving[slot] && busy[slot] == wanted {
				d.leaving[slot] = true
				excess--
			}
		}
	}
}

// busySlots are the slots with a lane of which something is true.
func (d *Dispatcher) busySlots(is func(*lane) bool) (busy slotSet) {
	for _, l := range d.lanes {
		busy[l.slot] = busy[l.slot] || is(l)
	}
	return busy
}

// underWay reports whether something of the lane is: an attempt, its outcome, or
// a read.
func (l *lane) underWay() bool {
	return len(l.backlog.known) > l.backlog.waiting || l.backlog.reading
}

// handOver brings the slots that leave a step further, and gives back those that
// can be.
func (d *Dispatcher) handOver(ctx context.Context) {
	ready := d.stepLeaving(time.Now())
	if len(ready) == 0 {
		return
	}
	if err := d.Store.ReleaseSlots(ctx, d.Replica, ready); err != nil {
		return // it is tried again, or the lease ends by itself
	}
	d.mu.Lock()
	for _, slot := range ready {
		if d.leaving[slot] {
			d.leaving[slot], d.slots[slot], d.until[slot] = false, false, time.Time{}
		}
	}
	d.mu.Unlock()
}

// leave gives all slots back, each as soon as nothing of it is under way, until ctx
// ends: what a few slow endpoints hold up at a shutdown is not what the others wait
// for.
func (d *Dispatcher) leave(ctx context.Context) {
	if err := d.Store.LeaveReplicas(ctx, d.Replica); err != nil {
		if ctx.Err() == nil {
			d.Log.Warn("leaving the replicas", "error", err)
		}
		return // all slots are given back in the end
	}
	d.mu.Lock()
	for slot, until := range d.until {
		d.leaving[slot] = !until.IsZero()
	}
	d.mu.Unlock()
	if d.Signals != nil {
		d.Signals.Tell(ctx, feedmill.SignalSlots, nil) // else they see it later
	}
	for ctx.Err() == nil {
		d.handOver(ctx)
		pause(ctx, leaveStep, nil)
	}
}

// stepLeaving stops the slots that leave and returns those of which nothing is
// under way any more. One for which that takes too long goes on, but for the lanes
// that it waits for, and is stopped again when those have ended.
func (d *Dispatcher) stepLeaving(now time.Time) (ready []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaving == (slotSet{}) {
		return nil
	}
	underWay := d.busySlots((*lane).underWay)
	awaited := d.busySlots(func(l *lane) bool { return l.state == lost && l.underWay() })
	for slot, leaves := range d.leaving {
		switch stopped := !d.slots[slot]; {
		case !leaves:
		case stopped && !underWay[slot]:
			ready = append(ready, slot)
		case stopped && now.Sub(d.stoppedAt[slot]) >= leavePause:
			d.slots[slot] = true
		case !stopped && !awaited[slot]:
			d.slots[slot], d.stoppedAt[slot] = false, now
		}
	}
	d.loseLanes()
	return ready
}

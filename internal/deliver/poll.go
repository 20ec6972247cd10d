package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// pollStore finds due work in the store: at a known due time, when woken, and now
// and then in any case.
func (d *Dispatcher) pollStore(ctx context.Context) {
	for {
		if err := d.pollOnce(ctx); err != nil && !errors.Is(err, context.Canceled) {
			d.Log.Error("looking for due deliveries", "error", err)
		}
		timer := time.NewTimer(d.untilNextPoll())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-d.pollNow:
			timer.Stop()
		case <-timer.C:
		}
	}
}

func (d *Dispatcher) untilNextPoll() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := d.PollEvery
	if len(d.due) > 0 {
		wait = min(wait, max(time.Until(d.due[0]), time.Millisecond))
	}
	return wait
}

// dueAt notes that something in the store comes due at t. The mutex is held.
func (d *Dispatcher) dueAt(t time.Time) {
	if d.due.add(t, maxDueTimes) && time.Until(t) < d.PollEvery {
		signal(d.pollNow)
	}
}

func (d *Dispatcher) pollOnce(ctx context.Context) error {
	const step = 1000
	now := time.Now()
	d.mu.Lock()
	slots := d.slots.list()
	d.due.pass(now)
	d.forgetIdle(now)
	if setBack(d.polledAt, now) {
		d.unwound = d.slots
		signal(d.rewindNow)
	}
	d.polledAt = now
	gained := d.gained
	d.mu.Unlock()
	if len(slots) == 0 {
		return nil
	}
	var after feedmill.ID
	for {
		call, cancel := context.WithTimeout(ctx, storeTimeout)
		ids, err := d.Store.DueSubscriptions(call, slots, now, after, step)
		cancel()
		if err != nil {
			return err
		}
		d.mu.Lock()
		for _, id := range ids {
			d.found(id, false)
		}
		d.wakeWorker()
		through := len(ids) < step
		if through && gained == d.gained { // else slots were taken meanwhile
			for _, slot := range slots {
				d.polled[slot] = d.slots[slot]
			}
		}
		d.mu.Unlock()
		if through {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// found notes that the store has due deliveries of a subscription; told says that
// some were accepted just now.
func (d *Dispatcher) found(id feedmill.ID, told bool) {
	if !d.slots.has(id) {
		return
	}
	// The workspace is read with the subscription; until then the lane takes its
	// turn among those of unknown ones.
	l, now := d.lane(id, ""), time.Now()
	if l.subscription.target.held() && now.Sub(l.subscription.readAt) >= heldAge {
		l.subscription.target = nil // another replica may have resumed it
	}
	if l.backlog.found(now, told) {
		d.refresh(l)
	}
}

// heldAge is how long a subscription is taken to be paused still.
const heldAge = 5 * time.Second

// idleTime is how long a lane without work keeps what it has learnt.
const idleTime = 10 * time.Minute

func (d *Dispatcher) forgetIdle(now time.Time) {
	for id, l := range d.lanes {
		resting := l.state == idle || l.state == held || l.state == lost
		if resting && !(l.awaited && d.leaving[l.slot]) && len(l.backlog.known) == 0 && !l.backlog.reading && now.Sub(l.usedAt) > idleTime {
			delete(d.lanes, id)
		}
	}
}

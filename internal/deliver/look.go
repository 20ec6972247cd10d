package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// look finds due work in the store: at a known due time, when woken, and now
// and then in any case.
func (d *Dispatcher) look(ctx context.Context) {
	for {
		if err := d.lookOnce(ctx); err != nil && !errors.Is(err, context.Canceled) {
			d.Log.Error("looking for due deliveries", "error", err)
		}
		timer := time.NewTimer(d.untilNext())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-d.poll:
			timer.Stop()
		case <-timer.C:
		}
	}
}

func (d *Dispatcher) untilNext() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := d.PollEvery
	if !d.wakeAt.IsZero() {
		wait = min(wait, max(time.Until(d.wakeAt), time.Millisecond))
	}
	return wait
}

// dueAt notes that something in the store comes due at t.
func (d *Dispatcher) dueAt(t time.Time) {
	d.mu.Lock()
	earlier := d.wakeAt.IsZero() || t.Before(d.wakeAt)
	if earlier {
		d.wakeAt = t
	}
	d.mu.Unlock()
	if earlier && time.Until(t) < d.PollEvery {
		select {
		case d.poll <- struct{}{}:
		default:
		}
	}
}

func (d *Dispatcher) lookOnce(ctx context.Context) error {
	const step = 1000
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now := time.Now()
	d.mu.Lock()
	slots := d.slots.list()
	if !d.wakeAt.After(now) {
		d.wakeAt = time.Time{}
	}
	d.forgetIdle(now)
	rewind := d.rewind || setBack(d.looked, now)
	d.rewind, d.looked = false, now
	d.mu.Unlock()
	if len(slots) == 0 {
		return nil
	}
	if rewind {
		if err := d.rewindAll(ctx, slots, now); err != nil {
			d.mu.Lock()
			d.rewind = true
			d.mu.Unlock()
			return err
		}
	}
	var after feedmill.ID
	for {
		ids, err := d.Store.DueSubscriptions(ctx, slots, now, after, step)
		if err != nil {
			return err
		}
		d.mu.Lock()
		for _, id := range ids {
			d.found(id)
		}
		d.hire()
		through := len(ids) < step
		if through && !d.rewind { // which says that slots were taken meanwhile
			for _, slot := range slots {
				d.seen[slot] = d.slots[slot]
			}
		}
		d.mu.Unlock()
		if through {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// found notes that the store has due deliveries of a subscription. They may be
// known already: then reading waits until the lane has worked them off.
func (d *Dispatcher) found(id feedmill.ID) {
	if !d.slots.has(id) {
		return
	}
	l, ok := d.lanes[id]
	if !ok {
		// The workspace is read with the subscription; until then the
		// lane takes its turn among those of unknown ones.
		l = d.lane(id, "")
	}
	now := time.Now()
	if l.held && now.Sub(l.readAt) >= heldAge {
		l.held, l.target = false, nil // another replica may have resumed it
	}
	retries := !l.retryAt.IsZero() && !now.Before(l.retryAt)
	if len(l.known) > 0 && !retries && now.Sub(l.checkedAt) < recheckAfter {
		l.recheck = true
		return
	}
	l.from, l.late = "", "" // what has come due meanwhile may stand before it
	l.more = true
	d.makeReady(l)
}

// recheckAfter is how long a lane that has deliveries in hand takes them for all
// that the store calls due.
const recheckAfter = 5 * time.Second

// heldAge is how long a subscription is taken to be paused still.
const heldAge = 5 * time.Second

// idleTime is how long a lane without work keeps what it has learnt.
const idleTime = 10 * time.Minute

func (d *Dispatcher) forgetIdle(now time.Time) {
	for id, l := range d.lanes {
		if len(l.known) == 0 && !l.busy && !l.waiting && !l.inRing && now.Sub(l.usedAt) > idleTime {
			delete(d.lanes, id)
		}
	}
}

package deliver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// polling is what is known of when the store must be polled.
type polling struct {
	// due are the known due times of lanes in the store, and unnoted is the last of
	// those that were too many.
	due     dueTimes
	unnoted time.Time
	// pollFrom is behind which subscription the next poll begins, since there was no
	// room for the lane of the one after it.
	pollFrom feedmill.ID
	// polledAt is when the store was last polled, by both of our clocks.
	polledAt time.Time
}

// pollStore finds due work in the store, when woken and now and then in any case.
// At a known due time of a lane it looks at that lane alone.
func (d *Dispatcher) pollStore(ctx context.Context) {
	for how := asked; ctx.Err() == nil; {
		found, err := d.pollOnce(ctx, how)
		if err != nil && !errors.Is(err, context.Canceled) {
			d.Log.Error("looking for due deliveries", "error", err)
		}
		how = d.awaitPoll(ctx, time.Now().Add(d.untilPoll(found)))
	}
}

// A poll that finds many subscriptions takes as much longer, and most of what it finds
// is known: it is made as much less often, and takes about a hundredth of a
// processor. What waits for nothing but a poll comes that much later.
const (
	restForFound = 1500 * time.Microsecond
	longestRest  = 5 * time.Second
)

// untilPoll is how long it is until the poll after one that found so many subscriptions.
// Retries that were too many to be noted do not wait for longer.
func (d *Dispatcher) untilPoll(found int) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Now().Before(d.unnoted) {
		return d.PollEvery
	}
	return max(d.PollEvery, min(time.Duration(found)*restForFound, longestRest))
}

// awaitPoll waits until the store is to be polled, and returns why. Meanwhile it
// hands what comes due to its lanes.
func (d *Dispatcher) awaitPoll(ctx context.Context, next time.Time) hint {
	for {
		wait := d.passDue(time.Now(), next)
		if wait <= 0 {
			return seen
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return seen
		case <-d.pollNow:
			timer.Stop()
			return asked
		case <-d.dueSooner:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// passDue has the lanes read the store of which something has come due, and returns
// how long it is until the next poll, or until there are others.
func (d *Dispatcher) passDue(now, poll time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range d.due.pass(now) {
		d.found(id, asked, now)
	}
	wait := poll.Sub(now)
	if len(d.due) > 0 {
		wait = min(wait, d.due[0].at.Sub(now))
	}
	return wait
}

// dueAt notes that something of a lane in the store comes due at t. The mutex is held.
func (d *Dispatcher) dueAt(t time.Time, lane feedmill.ID) {
	if n := len(d.due); n >= maxDueLanes {
		for _, at := range []time.Time{t, d.due[n-1].at} { // The later of them is left out.
			if at.After(d.unnoted) {
				d.unnoted = at
			}
		}
	}
	if d.due.add(t, lane, maxDueLanes) && time.Until(t) < max(d.PollEvery, longestRest) {
		signal(d.dueSooner)
	}
}

// pollOnce looks for all due work, and returns how many subscriptions have some, none
// where it has not seen all of them.
func (d *Dispatcher) pollOnce(ctx context.Context, how hint) (found int, err error) {
	const step = 1000
	now := time.Now()
	d.forgetIdle(now)
	d.mu.Lock()
	slots := d.slots.list()
	if setBack(d.polledAt, now) {
		d.unwound = d.slots
		signal(d.rewindNow)
	}
	d.polledAt = now
	gained, begin := d.gained, d.pollFrom
	d.pollFrom = ""
	d.mu.Unlock()
	if len(slots) == 0 {
		return 0, nil
	}
	after, again, left := begin, false, false
	for {
		call, cancel := context.WithTimeout(ctx, storeTimeout)
		ids, err := d.Store.DueSubscriptions(call, slots, now, after, step)
		cancel()
		if err != nil {
			return 0, err
		}
		through := len(ids) < step
		if again { // those behind were seen
			n, last := slices.BinarySearch(ids, begin)
			if last {
				n++
			}
			through = through || last || n < len(ids)
			ids = ids[:n]
		}
		found += len(ids)
		d.readUnread(ctx, ids)
		d.mu.Lock()
		for _, id := range ids {
			if !d.found(id, how, now) && !left {
				d.pollFrom, left = after, true // it comes first the next time
			}
			after = id
		}
		ended := through && (again || begin == "")
		if ended && gained == d.gained && !left { // else slots were taken meanwhile
			for _, slot := range slots {
				d.polled[slot] = d.slots[slot]
			}
		}
		d.mu.Unlock()
		switch {
		case ended:
			return found, nil
		case through:
			after, again = "", true
		}
	}
}

// readUnread reads the subscriptions of lanes that have none, such as all lanes after a start,
// in batches. What it leaves out the lanes read one by one.
func (d *Dispatcher) readUnread(ctx context.Context, ids []feedmill.ID) {
	var unread []feedmill.DueDelivery
	d.mu.Lock()
	for _, id := range ids {
		if l := d.lanes[id]; l == nil || l.subscription.target == nil && !l.state.onTimer() {
			var due feedmill.DueDelivery
			due.Subscription = id // its workspace is read with it
			unread = append(unread, due)
		}
	}
	d.mu.Unlock()
	for step := range slices.Chunk(unread, wholeFanout) {
		d.readTargets(ctx, step)
	}
}

// hint is how one knows that the store has due deliveries of a subscription.
type hint uint8

const (
	// seen is by the poll that looks in any case. They are most likely those that
	// are known; where they are not, a poll of soon after sees them again.
	seen hint = iota
	// asked is by a poll that somebody asked for, or by a time that has come.
	asked
	// told is by who has just accepted some.
	told
)

// found notes that the store had due deliveries of a subscription at a time. It reports
// false where there is no room for its lane: then a poll finds them again.
func (d *Dispatcher) found(id feedmill.ID, how hint, at time.Time) bool {
	if !d.slots.has(id) {
		return true
	}
	// The workspace is read with the subscription; until then the lane takes its
	// turn among those of unknown ones.
	l, now := d.laneWithin(id, ""), time.Now()
	if l == nil {
		return false
	}
	if l.subscription.target.held() && now.Sub(l.subscription.readAt) >= heldAge {
		l.subscription.target = nil // another replica may have resumed it
	}
	if l.backlog.found(now, how, at) {
		d.refresh(l)
	}
	return true
}

// heldAge is how long a subscription is taken to be paused still.
const heldAge = 5 * time.Second

package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// The lanes in memory have a bound: a failing endpoint's is wanted for each of its
// retries, and hundreds of thousands of them may wait for one. A lane is no more than
// what was read and learnt, so one that rests gives way to another, and one for which there is
// no room is made when a poll finds its deliveries again.
const (
	// maxLanes bounds the lanes. A workspace may have no more than there is still room
	// for, so that others find some whatever it does; and polls, which do not know
	// whose lanes they make, leave a quarter to those who have just accepted something.
	maxLanes = 16_000
	// fewLanes is how many of a workspace give way to nobody.
	fewLanes = 1000
	// minRest is how long a lane must rest before it gives way: it may have been made
	// for what is about to be offered.
	minRest = 250 * time.Millisecond
)

// lane is the lane of a subscription in one of our slots.
func (d *Dispatcher) lane(id, workspace feedmill.ID) *lane {
	l, ok := d.lanes[id]
	if !ok {
		l = &lane{id: id, workspace: workspace, slot: feedmill.Slot(id), backlog: newBacklog(&d.memory), pace: newPace()}
		l.attempt.lane, l.read.lane = l, l
		if d.polled[l.slot] {
			l.backlog.checkedAt = time.Now() // what was due then was found, and made a lane
		}
		d.lanes[id] = l
		d.lanesOf[workspace]++
	}
	return l
}

// laneWithin is the lane of a subscription in one of our slots, nil where it has none
// and there is no room for one.
func (d *Dispatcher) laneWithin(id, workspace feedmill.ID) *lane {
	if l, ok := d.lanes[id]; ok {
		return l
	}
	now := time.Now()
	if !d.hasRoomFor(workspace) && !d.dropResting(now) {
		d.polled[feedmill.Slot(id)] = false
		return nil
	}
	l := d.lane(id, workspace)
	l.usedAt = now
	return l
}

// hasRoomFor reports whether a workspace may have another lane, or where it is not
// known a poll may make one.
func (d *Dispatcher) hasRoomFor(workspace feedmill.ID) bool {
	if workspace == "" {
		return len(d.lanes) < d.maxLanes/4*3
	}
	return d.lanesOf[workspace] < d.maxLanes-len(d.lanes)
}

// dropResting forgets a lane that rests, if one of a few does, and reports whether
// it has.
func (d *Dispatcher) dropResting(now time.Time) bool {
	steps := searchSteps
	for _, l := range d.lanes { // it begins anywhere
		if l.givesWay() && l.state == idle && !l.subscription.target.held() && d.lanesOf[l.workspace] > min(fewLanes, d.maxLanes/4) && now.Sub(l.usedAt) >= minRest {
			d.forgetLane(l)
			return true
		}
		if steps--; steps == 0 {
			return false
		}
	}
	return false
}

func (d *Dispatcher) forgetLane(l *lane) {
	if d.lanes[l.id] == l { // else it was forgotten while somebody looked at all of them
		delete(d.lanes, l.id)
		d.countLanes(l.workspace, -1)
	}
}

// countLanes counts lanes of a workspace more, or fewer where it is negative.
func (d *Dispatcher) countLanes(workspace feedmill.ID, n int) {
	if d.lanesOf[workspace] += n; d.lanesOf[workspace] <= 0 {
		delete(d.lanesOf, workspace)
	}
}

const (
	// idleTime is how long a lane without work keeps what it has learnt, and
	// crowdedIdleTime how long at least where there are more than manyLanes: an event that
	// everybody hears of must not make memory grow with the number of those who do.
	idleTime        = 10 * time.Minute
	manyLanes       = 8_000
	crowdedIdleTime = 5 * time.Second
	// lookedAtOnce is how many lanes are looked at before others have their turn.
	lookedAtOnce = 256
)

// forgetIdle forgets lanes without work. It gives the mutex up now and then: to look
// at all lanes can take longer than a request may wait.
func (d *Dispatcher) forgetIdle(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	looked := 0
	for _, l := range d.lanes {
		if looked++; looked%lookedAtOnce == 0 {
			d.mu.Unlock()
			d.mu.Lock()
		}
		if !l.isResting() || l.awaited && d.leaving[l.slot] {
			continue
		}
		unused := now.Sub(l.usedAt)
		crowded := len(d.lanes) > manyLanes && d.lanesOf[l.workspace] > fewLanes
		if unused > idleTime || crowded && unused > crowdedIdleTime && l.givesWay() {
			d.forgetLane(l)
		}
	}
}

// isResting reports whether a lane has nothing to do and knows of nothing.
func (l *lane) isResting() bool {
	return (l.state == idle || l.state == lost) && len(l.backlog.known) == 0 && !l.backlog.reading
}

// givesWay reports whether a lane rests and may be forgotten early: what it holds its
// endpoint to is not.
func (l *lane) givesWay() bool { return l.isResting() && l.limiter == nil && !l.pace.isOpen() }

package deliver

import "time"

// state is where a lane stands; the package comment has the picture.
type state uint8

const (
	// idle lanes have nothing to do, or as much under way as they may; or their
	// subscription is held. What happens to one makes it ready.
	idle state = iota
	// ready lanes stand in the ring and wait for their turn.
	ready
	// limited lanes wait for time to pass because of their rate limit, tripped
	// ones because their breaker is open, and stalled ones because the store
	// could not be read, or not written to.
	limited
	tripped
	stalled
	// filling lanes wait for more events for their next array (batch.go).
	filling
	// waiting lanes wait for a grant of a budget: to send, or to be read.
	waiting
	// lost lanes are in a slot that another replica has, or shall have.
	lost
)

// onTimer reports whether time alone ends the state.
func (s state) onTimer() bool {
	return s == limited || s == tripped || s == stalled || s == filling
}

// refresh puts a lane where it belongs after something has happened to it. A
// lane that has its turn to come, that waits for time or that is lost stays where
// it is.
func (d *Dispatcher) refresh(l *lane) {
	switch {
	case l.state == filling && l.fillingEnds():
		d.enter(l, ready)
	case l.state == ready, l.state.onTimer(), l.state == lost:
	case l.backlog.hasWork() && !l.subscription.target.held():
		d.enter(l, ready)
	default:
		d.enter(l, idle)
	}
}

// enter moves a lane to another state. A place in the ring, a timer, and claims on
// the budgets are given up with the states that they belong to: claims are for lanes that
// are ready or waiting.
func (d *Dispatcher) enter(l *lane, s state) {
	switch {
	case l.state == ready:
		d.ring.remove(l)
	case l.state.onTimer():
		l.timer.Stop()
	}
	l.state = s
	switch s {
	case ready:
		d.ring.push(l)
		d.wakeWorker()
	case waiting:
	default:
		d.attempts.drop(&l.attempt)
		d.reads.drop(&l.read)
	}
}

// takeNow takes a lane out of the ring before its turn, with what it was granted. It
// reports whether the lane may have a task.
func (d *Dispatcher) takeNow(l *lane) bool {
	if l.state == ready {
		d.ring.remove(l)
		l.state = idle
	}
	return l.state == idle
}

// putBack puts a lane where it belongs after its turn, and gives back what it was
// granted and has no use for.
func (d *Dispatcher) putBack(l *lane, begun bool) {
	if begun {
		d.refresh(l)
	}
	if l.state != waiting {
		d.reads.drop(&l.read)
	}
	if l.state == idle {
		d.attempts.drop(&l.attempt)
	}
}

// wait makes a lane wait for time to pass.
func (d *Dispatcher) wait(l *lane, s state, wait time.Duration) {
	d.enter(l, s)
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if l.timer != timer || !l.state.onTimer() {
			return // it was moved while this was about to run
		}
		d.enter(l, idle)
		d.refresh(l)
	})
	l.timer = timer
}

// loseLanes gives up the lanes of slots that are not ours to send for any more,
// and takes up those of slots that are again; but not one that its slot had to wait
// for when it was to be given back, which would only make it wait once more.
func (d *Dispatcher) loseLanes() {
	for _, l := range d.lanes {
		switch owned := d.slots[l.slot]; {
		case !owned && l.state != lost:
			d.enter(l, lost)
			l.backlog.abandon()
		case owned && l.state == lost && d.leaving[l.slot] && (l.awaited || l.underWay()):
			l.awaited = true
		case owned && l.state == lost:
			l.awaited = false
			l.backlog.dropQueue() // what it was told meanwhile is in the store
			d.enter(l, idle)
			d.refresh(l)
		}
	}
}

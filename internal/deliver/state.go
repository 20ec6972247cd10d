package deliver

import "time"

// state is where a lane stands; the package comment has the picture.
type state uint8

const (
	// idle lanes have nothing to do, or as much under way as they may. What
	// happens to one makes it ready.
	idle state = iota
	// ready lanes stand in the ring and wait for their turn.
	ready
	// limited lanes wait for time to pass because of their rate limit, tripped
	// ones because their breaker is open, and stalled ones because the store
	// could not be read, or not written to.
	limited
	tripped
	stalled
	// crowded lanes stand in a line of the share and wait for an attempt of
	// others to end.
	crowded
	// hungry lanes stand in line to read a delivery that memory has no room for.
	hungry
	// unfed lanes stand in line to be read from the store, which as many are as may be.
	unfed
	// held lanes have a subscription that is paused, or whose listener fetches
	// what is due, and wait for it to change.
	held
	// lost lanes are in a slot that another replica has, or shall have.
	lost
)

// onTimer reports whether time alone ends the state.
func (s state) onTimer() bool { return s == limited || s == tripped || s == stalled }

// refresh puts a lane where it belongs after something has happened to it. A
// lane that has its turn to come, that waits for time or that is lost stays where
// it is.
func (d *Dispatcher) refresh(l *lane) {
	switch {
	case l.state == ready, l.state.onTimer(), l.state == lost:
	case l.subscription.target.held():
		d.enter(l, held)
	case l.backlog.hasWork():
		d.enter(l, ready)
	default:
		d.enter(l, idle)
	}
}

// enter moves a lane to another state. A place in the ring or in a line, and a
// timer, are taken and given up with the state that they belong to.
func (d *Dispatcher) enter(l *lane, s state) {
	switch {
	case l.state == ready:
		d.ring.remove(l)
	case l.state == crowded, l.state == hungry, l.state == unfed:
		l.leaveLine()
	case l.state.onTimer():
		l.timer.Stop()
	}
	l.state = s
	switch s {
	case ready:
		d.ring.push(l)
	case crowded:
		l.joinLine(d.share.lineFor(l))
	case hungry:
		l.joinLine(&d.memory.hungry)
	case unfed:
		l.joinLine(d.reads.lineFor(l))
	}
}

// takeTurn takes the lane whose turn it is from the ring, nil where there is
// none.
func (d *Dispatcher) takeTurn() *lane {
	l := d.ring.pop()
	if l != nil {
		l.state = idle
	}
	return l
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
		d.wakeWorker()
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

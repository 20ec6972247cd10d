package deliver

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/feedmill/feedmill"
)

// lane is the work of one subscription. It is guarded by the dispatcher's
// mutex; a worker that holds one of its deliveries holds no lock.
type lane struct {
	id, workspace feedmill.ID
	// target is nil until it is read, and again after a change.
	target *Target
	readAt time.Time
	// changes counts how often somebody said that the subscription changed.
	changes int

	queue []feedmill.DueDelivery
	// known are the deliveries that are queued, under way or being settled:
	// those that the store still calls due although they are taken care of.
	known   map[feedmill.ID]struct{}
	running int
	// more says that the store may hold due deliveries that are not known.
	more bool
	// busy says that a worker reads the subscription or its deliveries.
	// settled are those whose outcome was written meanwhile: what is being
	// read may still show them as they were.
	busy    bool
	settled map[feedmill.ID]struct{}
	// held says that the subscription is paused: nothing is sent until it
	// changes.
	held bool
	// waiting says that a timer will make the lane ready.
	waiting bool
	inRing  bool
	usedAt  time.Time

	pace    pace
	limiter *rate.Limiter
}

func (d *Dispatcher) lane(id, workspace feedmill.ID) *lane {
	l, ok := d.lanes[id]
	if !ok {
		l = &lane{id: id, workspace: workspace, known: make(map[feedmill.ID]struct{}), pace: newPace()}
		d.lanes[id] = l
	}
	return l
}

// add queues a delivery, or leaves it to the store where memory is full.
func (d *Dispatcher) add(l *lane, due feedmill.DueDelivery) {
	if _, ok := l.known[due.ID]; ok {
		return
	}
	ordered := l.target != nil && l.target.Settings.Ordered
	switch {
	case l.held || l.pace.open():
		l.more = true
	case ordered, l.more, !d.fits(l):
		// Only the store knows which delivery is the first of its
		// resource; and what waits there goes first.
		l.more = true
		d.makeReady(l)
	default:
		l.queue = append(l.queue, due)
		l.known[due.ID] = struct{}{}
		d.queued++
		d.makeReady(l)
	}
}

// dropQueue forgets what waits in memory; the store still has it.
func (d *Dispatcher) dropQueue(l *lane) {
	for i := range l.queue {
		delete(l.known, l.queue[i].ID)
	}
	d.queued -= len(l.queue)
	l.queue = nil
	l.more = true
}

// settle lets go of a delivery whose outcome is written.
func (l *lane) settle(delivery feedmill.ID) {
	delete(l.known, delivery)
	if l.busy {
		if l.settled == nil {
			l.settled = make(map[feedmill.ID]struct{})
		}
		l.settled[delivery] = struct{}{}
	}
}

// task is what a worker does next: send one delivery, or bring a lane up to date.
type task struct {
	lane   *lane
	due    feedmill.DueDelivery
	target Target
	read   bool // bring the lane up to date instead
}

// next takes a task from a lane, false where it has none. now is the present.
func (d *Dispatcher) next(l *lane, now time.Time) (task, bool) {
	if l.busy || l.held || l.waiting {
		return task{}, false
	}
	if wait := l.pace.wait(now); wait > 0 {
		d.waitFor(l, wait)
		return task{}, false
	}
	stale := l.target == nil || now.Sub(l.readAt) >= targetAge
	if (stale && (len(l.queue) > 0 || l.more)) || (l.more && d.wantsMore(l)) {
		l.busy = true
		l.settled = nil
		return task{lane: l, read: true}, true
	}
	if len(l.queue) == 0 || l.running >= l.pace.limit(l.target.Settings.Concurrency) {
		return task{}, false
	}
	if l.limiter != nil {
		r := l.limiter.ReserveN(now, 1)
		if wait := r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
			d.waitFor(l, wait)
			return task{}, false
		}
	}
	t := task{lane: l, due: l.queue[0], target: *l.target}
	l.queue[0] = feedmill.DueDelivery{}
	l.queue = l.queue[1:]
	d.queued--
	l.running++
	l.usedAt = now
	d.sending[t.due.ID] = struct{}{}
	return t, true
}

// wantsMore reports whether a lane should read more of its deliveries before it
// sends on: where it has none, or few and memory has room.
func (d *Dispatcher) wantsMore(l *lane) bool {
	return len(l.queue) == 0 || (len(l.queue) < d.MaxLane/8 && d.queued < d.MaxQueued)
}

// fits reports whether one more delivery may wait in memory. A lane may always
// have one, however full memory is, or it would never get on.
func (d *Dispatcher) fits(l *lane) bool {
	return len(l.queue) == 0 || (len(l.queue) < d.MaxLane && d.queued < d.MaxQueued)
}

// waitFor makes the lane ready again after a time.
func (d *Dispatcher) waitFor(l *lane, wait time.Duration) {
	l.waiting = true
	time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		l.waiting = false
		d.makeReady(l)
		d.hire()
	})
}

// setTarget takes over what was read of the subscription.
func (l *lane) setTarget(t *Target, now time.Time) {
	l.target, l.readAt = t, now
	s := t.Settings
	if s.RateLimit == 0 {
		l.limiter = nil
		return
	}
	every := rate.Limit(float64(s.RateLimit) / s.RatePer.Seconds())
	// The burst is one: a rate is kept to within every window, not on average.
	if l.limiter == nil || l.limiter.Limit() != every {
		l.limiter = rate.NewLimiter(every, 1)
	}
}

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

	queue []queued
	// known are the deliveries that are queued, under way or being settled:
	// those that the store still calls due although they are taken care of.
	known   map[feedmill.ID]struct{}
	running int
	// more says that the store may hold due deliveries that are not known.
	more bool
	// checkedAt is when the store was last read for deliveries, or seen to have
	// none. recheck says that it called some due since, which may be those
	// that are known; retryAt is when one that failed here comes due, zero
	// where none does.
	checkedAt time.Time
	recheck   bool
	retryAt   time.Time
	// from is where the next read for pending deliveries begins: what stands
	// before it is known. Where it is empty that is the beginning.
	from feedmill.ID
	// late is the first delivery that was offered after the store was read
	// beyond it. Most of these were read before; whether all of them were is
	// seen to when there is nothing more to read.
	late feedmill.ID
	// readTo is the highest Seq that was read from the store. A delivery up
	// to it that is offered later may have been read, sent and settled by
	// then: the store knows.
	readTo int64
	// size is about how many bytes a delivery of the lane takes.
	size int
	// busy says that a worker reads the subscription or its deliveries. What
	// is queued goes on meanwhile, unless it is ordered.
	// settled are those whose outcome was written meanwhile: what is being
	// read may still show them as they were.
	busy    bool
	settled map[feedmill.ID]struct{}
	// held says that the subscription is paused: nothing is sent until it
	// changes.
	held bool
	// waiting says that a timer will make the lane ready, crowded that the
	// end of an attempt of its workspace will.
	waiting bool
	crowded bool
	inRing  bool
	// turn is how many tasks it has had in its turn.
	turn   int
	usedAt time.Time

	pace    pace
	limiter *rate.Limiter
}

func (d *Dispatcher) lane(id, workspace feedmill.ID) *lane {
	l, ok := d.lanes[id]
	if !ok {
		l = &lane{id: id, workspace: workspace, known: make(map[feedmill.ID]struct{}), pace: newPace(), size: firstSize}
		if d.seen.has(id) {
			l.checkedAt = time.Now() // what was due then was found, and made a lane
		}
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
		l.leave(due.ID)
	case due.Seq <= l.readTo:
		l.more = true
		if l.late == "" || due.ID < l.late {
			l.late = due.ID
		}
		d.makeReady(l)
	case ordered, l.more, !d.fits(l):
		// Only the store knows which delivery is the first of its
		// resource; and what waits there goes first.
		l.leave(due.ID)
		d.makeReady(l)
	default:
		d.push(l, due)
		l.from = max(l.from, due.ID)
		d.makeReady(l)
	}
}

// leave leaves a delivery to the store. Offers that come at once have no order
// among them: some behind it may be queued already.
func (l *lane) leave(id feedmill.ID) {
	l.more = true
	l.from = min(l.from, id)
}

// push puts a delivery at the end of a lane's queue.
func (d *Dispatcher) push(l *lane, due feedmill.DueDelivery) {
	l.queue = append(l.queue, d.events.take(due))
	l.known[due.ID] = struct{}{}
	l.size += (len(due.Payload) + itemBytes - l.size) / 8
	d.queued++
}

// itemBytes is about how much memory a delivery takes while it waits, without
// its text.
const itemBytes = 128

// dropQueue forgets what waits in memory; the store still has it.
func (d *Dispatcher) dropQueue(l *lane) {
	for i := range l.queue {
		delete(l.known, l.queue[i].id)
		d.events.drop(l.queue[i])
	}
	d.queued -= len(l.queue)
	l.queue = nil
	l.more = true
	l.from, l.late = "", ""
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
	due    queued
	target Target
	read   bool // bring the lane up to date instead
}

// next takes a task from a lane, false where it has none. now is the present.
func (d *Dispatcher) next(l *lane, now time.Time) (task, bool) {
	if l.held || l.waiting || d.disowned(l) {
		return task{}, false
	}
	if wait := l.pace.wait(now); wait > 0 {
		d.waitFor(l, wait)
		return task{}, false
	}
	if !l.busy && (d.stale(l, now) && (len(l.queue) > 0 || l.more) || l.more && d.wantsMore(l)) {
		l.busy = true
		l.settled = nil
		return task{lane: l, read: true}, true
	}
	if l.target == nil || l.busy && l.target.Settings.Ordered {
		return task{}, false // it is being read
	}
	if len(l.queue) == 0 || l.running >= l.pace.limit(l.target.Settings.Concurrency) || !d.share.allows(l) {
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
	l.queue[0] = queued{}
	l.queue = l.queue[1:]
	d.queued--
	d.events.drop(t.due)
	d.share.begin(l)
	l.usedAt = now
	d.sending[t.due.id] = struct{}{}
	return t, true
}

const (
	// laneFloor is how many deliveries of a lane may wait in memory however
	// full it is, so that slow lanes cannot make all others read one by one.
	laneFloor = 32
	// firstSize is what a delivery is taken to need before one is seen.
	firstSize = 16 << 10
	// readBytes is about how much one read of a lane's deliveries brings.
	readBytes = 4 << 20
	// readMost is how many deliveries it brings at most.
	readMost = 500
)

// stale reports whether a lane's subscription must be read before it sends on.
func (d *Dispatcher) stale(l *lane, now time.Time) bool {
	return l.target == nil || now.Sub(l.readAt) >= d.TargetAge
}

// wantsMore reports whether a lane should read more of its deliveries: where it
// has few, or not many and memory has room for all that a read may bring.
func (d *Dispatcher) wantsMore(l *lane) bool {
	return len(l.queue) < laneFloor/4 || (len(l.queue) < min(readMost, d.MaxLane)/2 && d.room() >= readMost)
}

// fits reports whether one more delivery of the lane may wait in memory.
func (d *Dispatcher) fits(l *lane) bool {
	return len(l.queue) < min(laneFloor, d.MaxLane) || (len(l.queue) < d.MaxLane && d.room() > 0)
}

// room is how many more deliveries may wait in memory.
func (d *Dispatcher) room() int {
	if d.events.bytes+d.queued*itemBytes >= maxQueuedBytes {
		return 0
	}
	return d.MaxQueued - d.queued - d.awaited
}

// dueQuery asks for more of the lane's deliveries, as many as there is room for.
// From the beginning on, those that are known come first, and have to be read over.
func (d *Dispatcher) dueQuery(l *lane, now time.Time, heads bool) feedmill.DueQuery {
	q := feedmill.DueQuery{Subscription: l.id, Now: now, Heads: heads, Limit: laneFloor}
	if d.room() >= readMost {
		q.Limit = min(max(readBytes/l.size, laneFloor), readMost)
	}
	if heads || l.from == "" {
		q.Limit += len(l.known)
	} else {
		q.From = l.from
	}
	return q
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
	if l.target == nil && l.readAt.IsZero() {
		l.workspace = t.Workspace // unknown so far; it never changes after this
	}
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

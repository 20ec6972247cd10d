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
	slot          int
	subscription  subscription
	backlog       backlog
	// heldUp is how many outcomes cannot be written because somebody has locked their
	// deliveries.
	heldUp int
	pace   pace
	// trustedAt is when its endpoint was last said to work: failures of
	// attempts that were begun before that say nothing.
	trustedAt time.Time
	limiter   *rate.Limiter
	usedAt    time.Time
	// complaint is why it could not be read, as far as that was logged.
	complaint string

	state state
	// awaited says that the slot is to be given back and waited for this lane.
	awaited bool
	tenant  *tenant     // in whose part of the ring a ready lane stands
	turn    int         // how many tasks it has had in its turn
	timer   *time.Timer // that ends a state of waiting for time
	// attempt and read are its claims on the budgets, one of which it waits for, or of which
	// it has grants that it does not use yet.
	attempt, read claim
}

// subscription is what a lane knows of its subscription.
type subscription struct {
	// target is nil until it is read, and again after a change.
	target *Target
	readAt time.Time
	// changes counts how often it changed, or what is known of it did: what
	// was being read meanwhile may be older.
	changes int
}

// set takes over a target, or forgets it.
func (s *subscription) set(t *Target) {
	s.target = t
	s.changes++
}

// stale reports whether the subscription must be read before it is sent to.
func (s *subscription) stale(now time.Time, maxAge time.Duration) bool {
	return s.target == nil || now.Sub(s.readAt) >= maxAge
}

// offer takes a delivery that is due now.
func (d *Dispatcher) offer(l *lane, due feedmill.DueDelivery) {
	target := l.subscription.target
	switch {
	case l.backlog.has(due.ID):
	case target.held(), l.pace.isOpen(), l.state == lost:
		l.backlog.leaveToStore(due)
		if l.attempt.inUse() == 0 {
			d.refresh(l) // its endpoint may be probed with it
		}
	default:
		// What is ordered, or to be discarded, goes by way of the store.
		l.backlog.offer(due, !target.ordered() && !target.ended())
		d.refresh(l)
	}
}

// task is what a worker does next: send a delivery, or read of the store what a lane
// wants.
type task struct {
	lane   *lane
	kind   taskKind
	due    queued   // to be sent
	more   []queued // to be sent with it, in an array
	target Target
	until  time.Time // when the lease ends that it is sent under
	// changes counts those of the subscription until it is read.
	changes int
	query   feedmill.DueQuery
	// orderFor is when the subscription was read for which the store is to put in order
	// what is open before the query; zero where it has.
	orderFor time.Time
	single   bool // the query is for one delivery that memory has no room for, to be sent at once
	// attempt and read are what the task uses.
	attempt, read grant
}

type taskKind uint8

const (
	sendDelivery taskKind = iota
	readSubscription
	readDeliveries
)

// nextTask takes a task from a lane that has its turn. Where it may have none, it
// goes to the state that says why, and false is returned.
func (d *Dispatcher) nextTask(l *lane, now time.Time) (task, bool) {
	switch wait := l.pace.wait(now); {
	case hasEnded(d.until[l.slot], now):
		// The timer that says so may be late, as after the process was frozen.
		d.expire(now)
		signal(d.leaseNow)
	case l.heldUp > 0:
		d.wait(l, stalled, lockedWait)
	case l.subscription.target.held():
	case wait > 0:
		d.wait(l, tripped, wait)
	default:
		return d.plan(l, now)
	}
	return task{}, false
}

// plan is nextTask for a lane that nothing but the budgets and its rate limit keeps from
// a task.
func (d *Dispatcher) plan(l *lane, now time.Time) (task, bool) {
	b, target := &l.backlog, l.subscription.target
	// What is open of a subscription that has ended is discarded, so it must be so still.
	stale := l.subscription.stale(now, d.TargetAge) || target.ended()
	fills := target.batches() && d.fills(l, now)
	if !b.reading && b.hasWork() && (stale || b.wantsRead()) {
		t, ok := d.nextRead(l, stale, now)
		if ok || l.state != idle || stale || len(b.queue) == 0 {
			return t, ok
		}
	}
	if fills {
		d.waitToFill(l, now)
		return task{}, false
	}
	if target == nil || len(b.queue) == 0 || !d.maySend(l, now) { // or it is being read
		return task{}, false
	}
	if l.limiter != nil {
		l.limiter.AllowN(now, 1) // which maySend has seen to
	}
	t := task{lane: l, attempt: l.attempt.take(), target: *target, until: d.until[l.slot]}
	if target.batches() {
		t.due, t.more = b.popBatch(target.Settings.Batch)
	} else {
		t.due = b.pop()
	}
	l.usedAt = now
	d.sending[t.due.id] = nil
	for _, q := range t.more {
		d.sending[q.id] = nil
	}
	return t, true
}

// nextRead takes the task of reading a lane: its subscription where that is stale, else
// its deliveries. A lane that has deliveries in memory does not wait to be read.
func (d *Dispatcher) nextRead(l *lane, stale bool, now time.Time) (task, bool) {
	b := &l.backlog
	t := task{lane: l, kind: readSubscription, changes: l.subscription.changes}
	if !stale {
		t.kind, t.single = readDeliveries, b.wantsSingle(l.workspace)
	}
	var past size // what it takes beyond what memory has room for
	if t.single {
		if !d.maySend(l, now) {
			return task{}, false
		}
		past.bytes = feedmill.MaxPayloadBytes
	}
	if !d.reads.ask(&l.read, past) {
		switch {
		case !stale && len(b.queue) > 0:
			d.reads.drop(&l.read)
			return task{}, false
		case !t.single:
			d.attempts.drop(&l.attempt)
		}
		d.enter(l, waiting)
		return task{}, false
	}
	t.read = l.read.take()
	if t.single {
		t.attempt = l.attempt.take()
	}
	b.reading, b.settled = true, nil
	if t.kind == readDeliveries {
		t.query = b.beginQuery(l.id, now)
		if readAt := l.subscription.readAt; t.query.Heads && !b.heads.orderedAt.Equal(readAt) {
			t.orderFor = readAt
		}
	}
	return t, true
}

// maySend reports whether a lane may begin an attempt, for which it has a grant then.
// Where it may not, and does not wait for one of its own to end, it goes to the state
// that says why.
func (d *Dispatcher) maySend(l *lane, now time.Time) bool {
	if l.attempt.inUse() >= l.pace.limit(l.subscription.target.Settings.Concurrency) {
		return false
	}
	if l.limiter != nil {
		r := l.limiter.ReserveN(now, 1)
		wait := r.DelayFrom(now)
		r.CancelAt(now)
		if wait > 0 {
			// Another replica may lift the limit, so it is read again meanwhile.
			d.wait(l, limited, min(wait, d.TargetAge))
			return false
		}
	}
	// Until its delivery is read, its size is a guess.
	next := size{bytes: attemptBytes + l.backlog.itemSize}
	switch queue := l.backlog.queue; {
	case len(queue) == 0:
	case l.subscription.target.batches():
		// The payloads, and the array of them.
		next = size{bytes: attemptBytes + 2*min(l.backlog.payloadBytes(), feedmill.MaxBatchBytes)}
	default:
		next = size{queue[0].event, attemptBytes}
	}
	if !d.attempts.ask(&l.attempt, next) {
		d.reads.drop(&l.read)
		d.enter(l, waiting)
		return false
	}
	return true
}

const (
	// maxUnderWayBytes bounds what the attempts under way take, their payloads included.
	maxUnderWayBytes = 64 << 20
	// attemptBytes is about how much an attempt takes besides its payload while it waits
	// for the endpoint: the stack of its goroutine and its connection.
	attemptBytes = 20 << 10
)

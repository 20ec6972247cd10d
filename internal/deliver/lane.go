package deliver

import (
	"container/list"
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
	// running is how many attempts are under way, and heldUp how many outcomes
	// cannot be written because somebody has locked their deliveries.
	running, heldUp int
	pace            pace
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
	tenant  *tenant       // in whose part of the ring a ready lane stands
	turn    int           // how many tasks it has had in its turn
	timer   *time.Timer   // that ends a state of waiting
	line    *list.List    // in which a crowded, hungry or unfed lane stands
	place   *list.Element // and where
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
		if l.running == 0 {
			d.refresh(l) // its endpoint may be probed with it
		}
	default:
		// What is ordered, or to be discarded, goes by way of the store.
		l.backlog.offer(due, !target.ordered() && !target.ended())
		d.refresh(l)
	}
}

// setTarget takes over what was read of the subscription.
func (l *lane) setTarget(t *Target, now time.Time) {
	if l.workspace == "" {
		l.workspace = t.Workspace // unknown so far; it never changes after this
	}
	l.subscription.target, l.subscription.readAt = t, now
	l.pace.recall(t)
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

// task is what a worker does next: send one delivery, or bring a lane up to date.
type task struct {
	lane   *lane
	due    queued
	target Target
	until  time.Time // when the lease ends that it is sent under
	read   bool      // bring the lane up to date instead
	single bool      // with one delivery that memory has no room for, to be sent at once
}

// nextTask takes a task from a lane that has its turn. Where it may have none, it
// goes to the state that says why, and false is returned.
func (d *Dispatcher) nextTask(l *lane, now time.Time) (task, bool) {
	b, target := &l.backlog, l.subscription.target
	if d.leaseEnded(l.slot, now) {
		// The timer that says so may be late, as after the process was frozen.
		d.expire(now)
		signal(d.leaseNow)
		return task{}, false
	}
	if l.heldUp > 0 {
		d.wait(l, stalled, lockedWait)
		return task{}, false
	}
	if target.held() {
		d.enter(l, held)
		return task{}, false
	}
	if wait := l.pace.wait(now); wait > 0 {
		d.wait(l, tripped, wait)
		return task{}, false
	}
	stale := l.subscription.stale(now, d.TargetAge)
	fed := !stale && len(b.queue) > 0 // it need not stand in line to be read
	if !b.reading && b.hasWork() && (stale || b.wantsRead()) && (d.reads.running < maxReads || !fed) {
		if d.reads.running == maxReads {
			d.enter(l, unfed)
			return task{}, false
		}
		single := !stale && b.wantsSingle(l.workspace)
		if single && !d.mayReadSingle(l, now) {
			return task{}, false
		}
		b.reading, b.settled = true, nil
		d.reads.running++
		return task{lane: l, read: true, single: single}, true
	}
	if target == nil {
		return task{}, false // it is being read
	}
	if len(b.queue) == 0 || !d.maySend(l, now) {
		return task{}, false
	}
	if l.limiter != nil {
		l.limiter.AllowN(now, 1) // which maySend has seen to
	}
	d.share.begin(l, b.queue[0].event)
	if next := d.share.beside(l); next != nil {
		d.refresh(next)
	}
	t := task{lane: l, due: b.pop(), target: *target, until: d.until[l.slot]}
	l.usedAt = now
	d.sending[t.due.id] = nil
	return t, true
}

// maySend reports whether a lane may begin an attempt. Where it may not, and does not
// wait for one of its own to end, it goes to the state that says why.
func (d *Dispatcher) maySend(l *lane, now time.Time) bool {
	if l.running >= l.pace.limit(l.subscription.target.Settings.Concurrency) {
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
	if !d.share.allows(l, l.wants()) {
		d.enter(l, crowded)
		return false
	}
	return true
}

// wants is how many bytes the next attempt takes.
func (l *lane) wants() int {
	if len(l.backlog.queue) > 0 {
		return l.backlog.queue[0].event.unsent()
	}
	return l.backlog.itemSize
}

func (l *lane) joinLine(line *list.List) {
	l.line = line
	l.place = line.PushBack(l)
}

func (l *lane) leaveLine() {
	l.line.Remove(l.place)
	l.line, l.place = nil, nil
}

package deliver

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/feedmill/feedmill"
)

const (
	// maxReads is the maximum number of lanes that are read concurrently. More would only wait
	// for a connection to the store, each with a goroutine and what it has read so far.
	maxReads = 256
	// maxReadBytes is the maximum that is read beyond the limit on what waits in memory.
	maxReadBytes = 64 << 20
)

// readLane does a task that reads a lane: it fetches what was planned, without the mutex, and
// applies it. It returns the task that follows, if any.
func (d *Dispatcher) readLane(ctx context.Context, t task) (next task, more bool) {
	now := time.Now()
	target, due, err := d.fetch(ctx, t)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apply(t, target, due, err, now)
	return d.proceed(t)
}

// fetch reads a subscription, or deliveries. It holds or discards the open deliveries of
// a subscription that is paused or has ended.
func (d *Dispatcher) fetch(ctx context.Context, t task) (target *Target, due []feedmill.DueDelivery, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if t.kind == readSubscription {
		target, err = d.readTarget(ctx, t.lane.id)
		if err == nil && (target.ended() || target.held() && !target.listening) {
			err = d.holdOrDiscard(ctx, t.lane.id, target)
		}
		return target, nil, err
	}
	// What was accepted before the subscription became ordered is put in order first.
	for more := !t.orderFor.IsZero(); more && err == nil; {
		more, err = d.Store.OrderOpen(ctx, t.lane.id, feedmill.DiscardStep)
	}
	if err == nil {
		due, err = d.Store.Due(ctx, t.query)
	}
	return nil, due, err
}

// apply updates a lane with what was fetched for it.
func (d *Dispatcher) apply(t task, target *Target, due []feedmill.DueDelivery, err error, now time.Time) {
	l, b := t.lane, &t.lane.backlog
	b.reading = false
	b.expectNothing()
	if err == nil {
		l.complaint = ""
	}
	switch {
	case l.state == lost:
		b.abandon()
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			d.complain(l, err, now)
		}
		b.readAll()
		d.wait(l, stalled, retryRead)
	case t.kind == readDeliveries:
		if !t.orderFor.IsZero() {
			b.heads.orderedAt = t.orderFor
		}
		b.endQuery(t.query, due, t.single)
	default:
		unchanged := l.subscription.changes == t.changes // else it is read again
		if unchanged {
			d.setTarget(l, target, now)
		}
		if target.held() || target.ended() {
			b.dropQueue()
			if unchanged {
				b.rest = allKnown
			}
			l.usedAt = now // to know that it is held saves reading it again
		}
	}
}

// proceed ends a task that has read a lane. If the lane should and may proceed without
// waiting for its turn, it returns the next task, which has the grants of this one.
func (d *Dispatcher) proceed(t task) (next task, ok bool) {
	l, b := t.lane, &t.lane.backlog
	if (t.single || t.kind == readSubscription && len(b.queue) == 0) && d.takeNow(l) {
		d.attempts.keep(t.attempt)
		if !t.single {
			d.reads.keep(t.read)
			t.read = grant{}
		}
		next, ok = d.nextTask(l, time.Now())
	} else {
		d.attempts.release(t.attempt)
	}
	if t.single && !ok && d.memory.isOver() {
		b.dropQueue() // it is read again when it may be sent
	}
	d.putBack(l, true)
	d.reads.release(t.read)
	return next, ok
}

// setTarget updates a lane with what was read of its subscription. The mutex is held.
func (d *Dispatcher) setTarget(l *lane, t *Target, now time.Time) {
	if l.workspace == "" { // unknown so far; it never changes after this
		l.workspace = t.Workspace
		if d.lanes[l.id] == l {
			d.countLanes("", -1)
			d.countLanes(l.workspace, 1)
		}
	}
	l.subscription.target, l.subscription.readAt = t, now
	l.pace.recall(t)
	l.backlog.setOrdered(t.ordered())
	limiter, s := l.limiter, t.Settings
	switch every := rate.Limit(float64(s.RateLimit) / s.RatePer.Seconds()); {
	case s.RateLimit == 0:
		l.limiter = nil
	case limiter == nil || limiter.Limit() != every:
		// The burst is one: a rate is kept to within every window, not on average.
		l.limiter = rate.NewLimiter(every, 1)
	}
	if l.limiter != limiter && l.state == limited {
		d.enter(l, idle) // it waits for what holds no more
	}
}

// readTargets reads the subscriptions of deliveries that are about to be offered, all
// at once, where they must be read before they are sent to. What it leaves out, because
// there is more to do or something is wrong, the lanes read one by one.
func (d *Dispatcher) readTargets(ctx context.Context, due []feedmill.DueDelivery) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now := time.Now()
	var ids []feedmill.ID
	before := make(map[feedmill.ID]int) // how often they had changed
	lanes := make(map[feedmill.ID]*lane)
	d.mu.Lock()
	for i := range due {
		id := due[i].Subscription
		if lanes[id] != nil || !d.slots.has(id) {
			continue
		}
		if l := d.laneWithin(id, due[i].Workspace); l != nil && !l.backlog.reading && l.subscription.stale(now, d.TargetAge) {
			ids = append(ids, id)
			lanes[id], before[id] = l, l.subscription.changes
		}
	}
	d.mu.Unlock()
	subs, err := d.Store.SubscriptionsForDelivery(ctx, ids)
	if err != nil {
		return
	}
	for _, s := range subs {
		target, err := d.openTarget(ctx, s)
		if err != nil || target.held() || target.ended() {
			continue
		}
		d.mu.Lock()
		if l := lanes[s.ID]; d.lanes[s.ID] == l && l.subscription.changes == before[s.ID] {
			d.setTarget(l, target, now)
			d.refresh(l)
		}
		d.mu.Unlock()
	}
}

// holdOrDiscard makes what is open of a paused subscription pending, and ends what
// is open of one that is disabled or deleted.
func (d *Dispatcher) holdOrDiscard(ctx context.Context, id feedmill.ID, t *Target) (err error) {
	for n := feedmill.DiscardStep; n >= feedmill.DiscardStep && err == nil; {
		if t.held() {
			n, err = d.Store.HoldOpen(ctx, id, feedmill.DiscardStep)
		} else {
			n, err = d.Store.DiscardOpen(ctx, id, t.endedReason(), time.Now(), feedmill.DiscardStep)
		}
	}
	return err
}

package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// hire makes sure that a worker looks at the ring. The mutex is held.
func (d *Dispatcher) hire() {
	if d.closed || d.ctx == nil || len(d.ring.tenants) == 0 || d.fresh >= d.maxFresh {
		return
	}
	if d.idle > 0 {
		d.work.Signal()
		return
	}
	if d.workers < d.MaxInFlight {
		d.workers++
		d.wg.Go(d.worker)
	}
}

// worker does tasks while there are any, and waits for more.
func (d *Dispatcher) worker() {
	var ripe *time.Timer
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		t, ok := d.take()
		if !ok {
			d.workers--
			return
		}
		ctx := d.ctx
		d.fresh++
		d.hire() // somebody else may begin the next task
		d.mu.Unlock()
		if ripe == nil {
			ripe = time.AfterFunc(freshTime, d.ripen)
		} else {
			ripe.Reset(freshTime)
		}
		if t.read {
			d.bringUpToDate(ctx, t.lane)
		} else {
			d.attempt(ctx, t)
		}
		if ripe.Stop() {
			d.ripen()
		}
		d.mu.Lock()
	}
}

// A task is fresh for its first moment. Only so many tasks are fresh at once:
// more than keep the processors busy would only take turns with each other, and
// open a connection each. A task that waits for a slow endpoint is not fresh for
// long, and so makes room for another.
const (
	freshTime        = 5 * time.Millisecond
	freshOnProcessor = 32
)

func (d *Dispatcher) ripen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh--
	d.hire()
}

// keepIdle is how many workers wait for work; more than that leave.
const keepIdle = 64

// take waits for a task. It answers false when the worker should leave.
func (d *Dispatcher) take() (task, bool) {
	for {
		if d.closed {
			return task{}, false
		}
		for d.fresh < d.maxFresh {
			l := d.ring.pop()
			if l == nil {
				break
			}
			if t, ok := d.next(l, time.Now()); ok {
				d.makeReady(l)
				return t, true
			}
		}
		if d.idle >= keepIdle {
			return task{}, false
		}
		d.idle++
		d.work.Wait()
		d.idle--
	}
}

// attempt sends one delivery and hands on what comes of it.
func (d *Dispatcher) attempt(ctx context.Context, t task) {
	m := Message{
		Delivery: t.due.id, Event: t.due.of.id, Type: t.due.of.kind, Payload: t.due.of.payload,
		Attempt: int(t.due.attempts) + 1, At: time.Now(),
	}
	if t.due.attempts == 0 {
		d.count.firstAttempt.Observe(m.At.Sub(t.due.createdAt()).Seconds())
	}
	r := d.Sender.Send(ctx, t.target, m)
	now := time.Now()
	if ctx.Err() != nil && !r.ok() {
		// Broken off by a shutdown: given back, and nothing charged.
		d.finished(t, r, now, false)
		return
	}
	o := d.decide(t, m, r, now)
	d.count.attempt(r, o, t.due.createdAt(), now)
	d.finished(t, r, now, true)
	d.outcomes <- settling{o, t.lane}
}

// finished ends an attempt. The delivery stays known until its outcome is
// written, so that it is not read again meanwhile.
func (d *Dispatcher) finished(t task, r Result, now time.Time, settles bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := t.lane
	for _, next := range d.share.end(l) {
		d.makeReady(next)
	}
	if !settles {
		delete(d.sending, t.due.id)
		delete(l.known, t.due.id)
		return
	}
	if l.pace.saw(r, now, t.target.Settings.Concurrency) {
		d.dropQueue(l)
	}
	d.makeReady(l)
	d.hire()
}

// bringUpToDate reads a lane's subscription where it may have changed, and its
// due deliveries where the store may hold more.
func (d *Dispatcher) bringUpToDate(ctx context.Context, l *lane) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now := time.Now()
	d.mu.Lock()
	stale := d.stale(l, now)
	old, changes := l.target, l.changes
	d.mu.Unlock()

	target, err := old, error(nil)
	if stale {
		target, err = d.readTarget(ctx, l.id)
	}
	if err == nil && (target.ended() || target.held() && !target.listening) {
		err = d.holdOrDiscard(ctx, l.id, target)
	}

	d.mu.Lock()
	if err == nil && stale && l.changes == changes {
		l.setTarget(target, now)
	}
	fetch := err == nil && !target.held() && !target.ended() && (l.more && d.wantsMore(l) || target.Settings.Ordered)
	if fetch && target.Settings.Ordered {
		d.dropQueue(l)
	}
	query := d.dueQuery(l, now, err == nil && target.Settings.Ordered)
	if fetch {
		d.awaited += query.Limit
		l.more, l.recheck, l.checkedAt, l.from = false, false, now, beyondIDs
		if !now.Before(l.retryAt) {
			l.retryAt = time.Time{}
		}
	}
	d.mu.Unlock()

	var due []feedmill.DueDelivery
	if fetch && query.Heads {
		err = d.orderOpen(ctx, l.id)
	}
	if fetch && err == nil {
		due, err = d.Store.Due(ctx, query)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	l.busy = false
	if fetch {
		d.awaited -= query.Limit
	}
	switch {
	case d.disowned(l):
		return
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			d.Log.Error("reading due deliveries", "subscription", l.id, "error", err)
		}
		l.more, l.from, l.late = true, "", ""
		d.waitFor(l, retryRead)
		return
	case target.held(), target.ended():
		d.dropQueue(l)
		l.held = target.held() && l.target != nil // it may have changed meanwhile
		l.usedAt = now                            // to know that it is held saves reading it again
		l.more = l.target == nil
	case fetch:
		l.takeOver(d, due, query)
	}
	d.makeReady(l)
	d.hire()
}

// beyondIDs is behind every id: while a lane is read, what it is to be read from
// next time is as far as nobody says otherwise meanwhile.
const beyondIDs feedmill.ID = "~"

// takeOver queues what a query has read, as far as it fits.
func (l *lane) takeOver(d *Dispatcher, due []feedmill.DueDelivery, q feedmill.DueQuery) {
	from, cut := q.From, len(due) == q.Limit
	for _, item := range due {
		_, known := l.known[item.ID]
		_, settled := l.settled[item.ID]
		if !known && !settled {
			if !d.fits(l) {
				cut = true
				break
			}
			d.push(l, item)
		}
		l.readTo = max(l.readTo, item.Seq)
		if item.State == feedmill.DeliveryPending {
			from = item.ID
		}
	}
	l.from = min(l.from, from)
	if !cut && l.late != "" {
		l.from, l.late, cut = min(l.from, l.late), "", true
	}
	if cut {
		l.more = true
	}
}

// orderOpen orders what was accepted before its subscription became ordered.
func (d *Dispatcher) orderOpen(ctx context.Context, id feedmill.ID) error {
	for {
		more, err := d.Store.OrderOpen(ctx, id, feedmill.DiscardStep)
		if err != nil || !more {
			return err
		}
	}
}

// holdOrDiscard makes what is open of a paused subscription pending, and ends what
// is open of one that is disabled or deleted.
func (d *Dispatcher) holdOrDiscard(ctx context.Context, id feedmill.ID, t *Target) error {
	for {
		var n int
		var err error
		if t.held() {
			n, err = d.Store.HoldOpen(ctx, id, feedmill.DiscardStep)
		} else {
			n, err = d.Store.DiscardOpen(ctx, id, t.endedReason(), time.Now(), feedmill.DiscardStep)
		}
		if err != nil || n < feedmill.DiscardStep {
			return err
		}
	}
}

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
		d.mu.Unlock()
		if len(ids) < step {
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

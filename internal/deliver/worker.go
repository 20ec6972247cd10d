package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// workers are counted under the dispatcher's mutex.
type workers struct {
	// spawn asks for a worker to be started. One at a time is enough: when it
	// has a task, it sees to the next.
	spawn   chan struct{}
	started int
	idle    int
	// beginning counts the tasks in their first moment, of which maxBeginning
	// may be.
	beginning, maxBeginning int
	closed                  bool
}

// A task is beginning for its first moment. Only so many tasks are at once: more
// than keep the processors busy would only take turns with each other, and open
// a connection each. A task that waits for a slow endpoint is over that soon, and
// so makes room for another.
const (
	beginningTime        = 5 * time.Millisecond
	beginningOnProcessor = 32
)

// keepIdle is how many workers wait for work; more than that end.
const keepIdle = 64

// wakeWorker makes sure that a worker sees to the ring. The mutex is held.
func (d *Dispatcher) wakeWorker() {
	w := &d.workers
	if w.closed || d.ring.isEmpty() || w.beginning >= w.maxBeginning || d.isBehind() {
		return
	}
	if w.idle > 0 {
		d.work.Signal()
		return
	}
	if w.started < d.MaxInFlight {
		select {
		case w.spawn <- struct{}{}:
			w.started++
		default: // one is about to start
		}
	}
}

// runWorker does tasks while there are any, and waits for more.
func (d *Dispatcher) runWorker(ctx context.Context) {
	var begun *time.Timer
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		t, ok := d.awaitTask()
		if !ok {
			d.workers.started--
			return
		}
		d.workers.beginning++
		d.wakeWorker() // somebody else may begin the next task
		d.mu.Unlock()
		if begun == nil {
			begun = time.AfterFunc(beginningTime, d.taskHasBegun)
		} else {
			begun.Reset(beginningTime)
		}
		d.do(ctx, t)
		stillBeginning := begun.Stop()
		d.mu.Lock()
		if stillBeginning {
			d.workers.beginning--
			d.wakeWorker()
		}
	}
}

// do does a task, and sends what it has read where that must not wait.
func (d *Dispatcher) do(ctx context.Context, t task) {
	if !t.read {
		d.attempt(ctx, t)
		return
	}
	d.readLane(ctx, t.lane, t.single)
	if !t.single {
		return
	}
	if next, ok := d.takeSingle(t.lane); ok {
		d.do(ctx, next)
	}
}

// taskHasBegun ends the first moment of a task.
func (d *Dispatcher) taskHasBegun() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.workers.beginning--
	d.wakeWorker()
}

// awaitTask waits for a task. It reports false when the worker should end.
func (d *Dispatcher) awaitTask() (task, bool) {
	w := &d.workers
	for {
		if w.closed {
			return task{}, false
		}
		for w.beginning < w.maxBeginning && !d.isBehind() {
			l := d.takeTurn()
			if l == nil {
				break
			}
			if t, ok := d.nextTask(l, time.Now()); ok {
				d.refresh(l)
				return t, true
			}
		}
		if w.idle >= keepIdle {
			return task{}, false
		}
		w.idle++
		d.work.Wait()
		w.idle--
	}
}

// attempt sends one delivery and hands on what comes of it.
func (d *Dispatcher) attempt(ctx context.Context, t task) {
	m := feedmill.Message{
		Delivery: t.due.id, Event: t.due.event.id, Type: t.due.event.kind, Payload: t.due.event.payload,
		Attempt: int(t.due.attempts) + 1, At: time.Now(),
	}
	if t.due.attempts == 0 {
		d.count.firstAttempt.Observe(m.At.Sub(t.due.createdAt()).Seconds())
	}
	ctx, end, held := d.underLease(ctx, t, m.At)
	defer end()
	if !held {
		d.finished(t, m.At, feedmill.Result{}, m.At, false)
		return
	}
	r := d.send(ctx, &t.target, &m)
	now := time.Now()
	if ctx.Err() != nil && !r.Delivered() {
		// Broken off by a shutdown, or because another replica has the slot:
		// given back, and nothing charged.
		d.finished(t, m.At, r, now, false)
		return
	}
	o := d.decide(t, &m, r, now)
	d.count.attempt(r, o, t.due.createdAt(), now)
	d.tally.count(o, r, m.Attempt, now)
	d.finished(t, m.At, r, now, true)
	d.outcomes <- settling{outcome: o, lane: t.lane, resource: t.due.event.resource}
}

// send completes the message and makes the attempt.
func (d *Dispatcher) send(ctx context.Context, t *Target, m *feedmill.Message) feedmill.Result {
	m.Timeout, m.Header = t.Settings.Timeout, d.header(t, m)
	return t.endpoint.Send(ctx, *m)
}

// finished ends an attempt. The delivery stays known until its outcome is
// written, so that it is not read again meanwhile.
func (d *Dispatcher) finished(t task, began time.Time, r feedmill.Result, now time.Time, settles bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := t.lane
	for _, next := range d.share.end(l, t.due.event) {
		d.refresh(next)
	}
	d.memory.forget(t.due.event)
	if !settles {
		delete(d.sending, t.due.id)
		l.backlog.forget(t.due.id)
		l.backlog.endFirst(t.due.event.resource, t.due.id, false)
		if l.state != lost { // its slot may be ours again, and was read meanwhile
			l.backlog.readAll()
		}
		d.refresh(l)
		d.wakeWorker()
		return
	}
	d.writes.outcomes++
	learns := r.Delivered() || !began.Before(l.trustedAt)
	if learns && l.pace.learn(r, now, t.target.Settings.Concurrency) {
		l.backlog.dropQueue()
	}
	d.refresh(l)
	d.wakeWorker()
}

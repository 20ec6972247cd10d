package deliver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// workers are counted under the dispatcher's mutex.
type workers struct {
	// run is what each of them does, nil unless the dispatcher runs.
	run           func()
	group         sync.WaitGroup
	started, idle int
	// waking says that one was woken, or started, and has not checked the ring yet. One at
	// a time is enough: when it has a task, it wakes the next.
	waking bool
	// beginning counts the tasks in their first moment, of which maxBeginning
	// may be.
	beginning, maxBeginning int
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

// wakeWorker makes sure that a worker checks the ring, where it may begin a task. It is
// called when a lane enters the ring, and when something ends that kept workers from it.
// The mutex is held.
func (d *Dispatcher) wakeWorker() {
	w := &d.workers
	switch {
	case w.run == nil, w.waking, d.ring.isEmpty(), !d.mayBegin():
	case w.idle > 0:
		w.waking = true
		d.work.Signal()
	case w.started < d.MaxInFlight:
		w.waking = true
		w.started++
		w.group.Go(w.run)
	}
}

// mayBegin reports whether a task may be begun.
func (d *Dispatcher) mayBegin() bool {
	return d.workers.beginning < d.workers.maxBeginning && !d.isBehind()
}

// runWorker does tasks while there are any, and waits for more.
func (d *Dispatcher) runWorker(ctx context.Context) {
	var begun *time.Timer
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.workers.waking = false; ; {
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

// do does a task, and those that follow from it.
func (d *Dispatcher) do(ctx context.Context, t task) {
	for more := true; t.kind != sendDelivery; {
		if t, more = d.readLane(ctx, t); !more {
			return
		}
	}
	if t.target.batches() {
		d.attemptBatch(ctx, t)
	} else {
		d.attempt(ctx, t)
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
	for w.run != nil {
		for d.mayBegin() {
			l := d.ring.pop()
			if l == nil {
				break
			}
			l.state = idle
			t, ok := d.nextTask(l, time.Now())
			if d.putBack(l, ok); ok {
				return t, true
			}
		}
		if w.idle >= keepIdle {
			break
		}
		w.idle++
		d.work.Wait()
		w.idle--
		w.waking = false
	}
	return task{}, false
}

// attempt sends one delivery and hands on what comes of it.
func (d *Dispatcher) attempt(ctx context.Context, t task) {
	m := t.due.message(time.Now())
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
	if r.Verdict == feedmill.VerdictWait {
		d.finished(t, m.At, r, now, false)
		return
	}
	if t.due.attempts == 0 {
		d.count.firstAttempt.Observe(m.At.Sub(t.due.createdAt()).Seconds())
	}
	o := d.decide(t, &m, r, now)
	d.count.attempt(r, o, t.due.createdAt(), now)
	d.tally.count(o, r, m.Attempt, now)
	d.finished(t, m.At, r, now, true)
	d.outcomes <- settling{outcome: o, lane: t.lane, resource: t.due.event.resource}
}

// send completes the message and makes the attempt.
func (d *Dispatcher) send(ctx context.Context, t *Target, m *feedmill.Message) feedmill.Result {
	if !t.Shape.IsZero() {
		body, err := d.Shape(ctx, t.Workspace, t.Shape, m.Payload)
		if err != nil {
			return unshaped(err)
		}
		m.Payload, m.ContentType = body.Bytes, body.ContentType
	}
	if t.batches() {
		m.Payload, _ = feedmill.BatchBody([][]byte{feedmill.Body{Bytes: m.Payload, ContentType: m.ContentType}.Element()})
		m.ContentType, m.BatchID, m.Events = "", feedmill.BatchID([]feedmill.ID{m.Delivery}), 1
	}
	m.Timeout, m.Header = t.Settings.Timeout, d.header(t, m)
	return t.endpoint.Send(ctx, *m)
}

// unshaped is the result of an attempt whose body could not be made. An error of the
// expression ends the delivery; anything else, such as a shutdown, is temporary.
func unshaped(err error) feedmill.Result {
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: refusal.Detail, NotSent: true}
	}
	return feedmill.Result{Verdict: feedmill.VerdictRetry, Error: "the body could not be made: " + err.Error()}
}

// finished ends an attempt. The delivery stays known until its outcome is
// written, so that it is not read again meanwhile.
func (d *Dispatcher) finished(t task, began time.Time, r feedmill.Result, now time.Time, settles bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := t.lane
	if settles {
		d.writes.outcomes += 1 + len(t.more)
		learns := r.Delivered() || !began.Before(l.trustedAt)
		if learns && l.pace.learn(r, now, t.target.Settings.Concurrency) {
			l.backlog.dropQueue()
		}
	} else {
		d.giveBack(l, t.due)
		for _, q := range t.more {
			d.giveBack(l, q)
		}
	}
	d.attempts.release(t.attempt)
	if r.Verdict == feedmill.VerdictWait && l.state != lost {
		d.wait(l, limited, min(r.RetryAfter, maxLimited))
		return
	}
	d.refresh(l)
}

// giveBack leaves a delivery that was not sent to be read again.
func (d *Dispatcher) giveBack(l *lane, q queued) {
	delete(d.sending, q.id)
	l.backlog.forget(q.id)
	l.backlog.endFirst(q.event.resource, q.id, false)
	if l.state != lost { // its slot may be ours again, and was read meanwhile
		l.backlog.readAll()
	}
}

// maxLimited bounds the wait of a lane for a limit of its destination, which other deliveries
// to the destination share.
const maxLimited = time.Minute

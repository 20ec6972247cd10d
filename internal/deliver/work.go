package deliver

import (
	"context"
	"time"
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

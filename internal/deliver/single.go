package deliver

import "time"

// A lane for which memory has no room reads one delivery past the bound and sends
// it at once. So it does that only where it may send, and few lanes do at a time.

// mayReadSingle reports whether a lane may read a delivery past the bound. Where
// it may not, it goes to the state that says why, or waits for an attempt of its
// own to end.
func (d *Dispatcher) mayReadSingle(l *lane, now time.Time) bool {
	if !d.maySend(l, now) {
		d.letSingles() // it may have been called for one
		return false
	}
	if d.memory.singles == maxSingles {
		d.enter(l, hungry)
		return false
	}
	d.memory.singles++
	return true
}

// takeSingle returns the task of sending what a lane has read past the bound. Where
// it may not be sent after all, it is left to the store again.
func (d *Dispatcher) takeSingle(l *lane) (task, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var t task
	ok := false
	if l.state == ready {
		d.enter(l, idle) // it need not wait for its turn
	}
	if l.state == idle {
		t, ok = d.nextTask(l, time.Now())
	}
	if !ok && len(l.backlog.queue) > 0 && d.memory.isOver() {
		l.backlog.dropQueue()
	}
	d.refresh(l)
	d.memory.singles--
	d.letSingles()
	d.wakeWorker()
	return t, ok
}

// letSingles lets as many lanes read past the bound as may. The mutex is held.
func (d *Dispatcher) letSingles() {
	for range maxSingles - d.memory.singles {
		next := d.memory.hungry.Front()
		if next == nil {
			return
		}
		d.refresh(next.Value.(*lane))
	}
}

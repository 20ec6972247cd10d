package deliver

import "time"

// A store that does not answer is not known from one that takes its time, and
// meanwhile another replica may take over. All that was sent and not written is then
// sent again, so no more is sent once that is much.

const (
	// silence is how long the store may take to write. It is longer than
	// outcomes wait for a lock of somebody.
	silence = 2 * time.Second
	// maxUnwritten is how many outcomes may wait for a store that is silent. They
	// are enough for further transactions, on other connections: if it is only
	// one that is dead, the next has an answer.
	maxUnwritten = settlers * minBatch
	// maxBatched is how many outcomes may wait in any case. Only arrays have so many of them,
	// before there are manyOutcomes requests.
	maxBatched = manyOutcomes + settlers*settleMost
)

// writes is what is known of outcomes on their way to the store.
type writes struct {
	outcomes int // that were not written so far
	underWay int // transactions
	// answeredAt is when the store last answered, or was first asked since.
	answeredAt time.Time
	silent     bool
	watched    bool // by a timer
}

// isBehind reports whether nothing more should be sent for the time being, since what
// was sent is not written yet.
func (d *Dispatcher) isBehind() bool {
	return len(d.outcomes) >= manyOutcomes || d.writes.outcomes >= maxBatched || d.writes.silent && d.writes.outcomes >= maxUnwritten
}

// beginWrite notes that a transaction is begun.
func (d *Dispatcher) beginWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &d.writes
	if w.underWay++; w.underWay == 1 {
		w.answeredAt = time.Now()
	}
	if !w.watched {
		w.watched = true
		time.AfterFunc(silence, d.watchWrites)
	}
}

// watchWrites sees whether the store is silent, while there is something to write.
func (d *Dispatcher) watchWrites() {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &d.writes
	if w.underWay == 0 {
		w.watched = false
		return
	}
	left := silence - time.Since(w.answeredAt)
	if left <= 0 && !w.silent {
		w.silent = true
		d.Log.Warn("the store does not write outcomes; little more is sent until it does", "outcomes", w.outcomes)
	}
	if left <= 0 {
		left = silence
	}
	time.AfterFunc(left, d.watchWrites)
}

// answered notes that the store has written something, or refused to. It has written
// around what somebody has locked, too.
func (d *Dispatcher) answered() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes.answeredAt = time.Now()
	if d.writes.silent {
		d.writes.silent = false
		d.wakeWorker()
	}
}

// endWrite notes that a transaction has ended.
func (d *Dispatcher) endWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writes.underWay--; d.writes.underWay == 0 && d.writes.silent {
		d.writes.silent = false // given up at a shutdown
		d.wakeWorker()
	}
}

package share

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Long is work that keeps a processor for long without waiting for anything, such as
// reading a large text. The zero value is ready; it is of one goroutine.
//
// Go's scheduler looks at the network when a processor has nothing to do, or every ten
// milliseconds. Where one workspace's uploads keep all of them busy, whoever only
// wants to read a row waits those for each step of it. So while several workspaces are
// at work, a processor is left to those whose work is short, and the long take
// turns on the others. A workspace that is alone has all of them.
type Long struct{ held bool }

// Step says that some ten or hundred microseconds were worked, and that as
// much is to follow. It waits for a turn, but never for long: somebody may wait for
// this work who has one.
func (l *Long) Step() {
	l.End()
	if crowd.several() {
		l.held = processors.await(turnPatience)
	}
}

// End says that the work is over, or waits for something.
func (l *Long) End() {
	if l.held {
		l.held = false
		processors.give()
	}
}

const (
	// turnPatience is how long work waits for a turn before it goes on without.
	turnPatience = 50 * time.Millisecond
	// crowdTime is how long a holder counts as being at work.
	crowdTime = 2 * time.Second
)

// crowded knows whether several holders are at work.
type crowded struct {
	last    atomic.Pointer[string]
	changed atomic.Int64 // when another than the last came, on the clock since
	seen    atomic.Int64 // when somebody came
	since   time.Time
}

var crowd = crowded{since: time.Now()}

// see notes that a holder is at work. What the service does for itself has none.
func (c *crowded) see(holder string) {
	if holder == "" {
		return
	}
	c.seen.Store(int64(time.Since(c.since)))
	last := c.last.Load()
	if last != nil && *last == holder {
		return
	}
	c.last.Store(&holder)
	if last != nil {
		c.changed.Store(int64(time.Since(c.since)))
	}
}

func (c *crowded) several() bool { return c.within(c.changed.Load()) }

// within reports whether a time is one of those that count.
func (c *crowded) within(at int64) bool {
	ago := time.Since(c.since) - time.Duration(at)
	return at != 0 && 0 <= ago && ago < crowdTime // a test's clock may be years behind
}

// Several reports whether more than one holder was at work a moment ago.
func Several() bool { return crowd.several() }

// AnybodyBut reports whether somebody else than a holder was at work a moment ago, of
// whom work that nobody waits for should not be in the way.
func AnybodyBut(holder string) bool { return crowd.anybodyBut(holder) }

func (c *crowded) anybodyBut(holder string) bool {
	last := c.last.Load()
	return c.anybody() && (c.several() || last == nil || *last != holder)
}

func (c *crowded) anybody() bool { return c.within(c.seen.Load()) }

// processors are those that long work may have while several are at work.
var processors = &turns{free: max(1, runtime.GOMAXPROCS(0)-1)}

// turns are places that are had for a moment, by whoever came first.
type turns struct {
	mu    sync.Mutex
	free  int
	queue []chan struct{}
}

// await waits for a place, and reports false where none came in time.
func (t *turns) await(patience time.Duration) bool {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	t.queue = append(t.queue, turn)
	t.mu.Unlock()
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case <-turn:
		return true
	case <-over.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.queue {
		if t.queue[i] == turn {
			t.queue = append(t.queue[:i:i], t.queue[i+1:]...)
			return false
		}
	}
	return true // it came at the same time
}

// give hands a place to whoever waits the longest.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.free++
		return
	}
	close(t.queue[0])
	t.queue = t.queue[1:]
}

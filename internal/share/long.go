package share

import (
	"runtime"
	"sync"
	"time"
)

// Long is work that keeps a processor for long without waiting for anything, such as
// reading a large text. The zero value is ready; it is of one goroutine.
//
// Go's scheduler polls the network when a processor is idle, or every ten
// milliseconds. If one workspace's uploads keep all processors busy, a short read of
// another waits that long for each of its steps. So while several workspaces are
// present, one processor is reserved for short work, and long work takes
// turns on the others. A workspace that is alone uses all of them.
type Long struct{ held bool }

// Step is called every ten to hundred microseconds of work. It waits for a turn, but
// never for long: the work that has one may wait for this.
func (l *Long) Step() {
	l.End()
	if present.crowded() {
		l.held = processors.await(TurnPatience)
	}
}

// End is called when the work is over or waits for something.
func (l *Long) End() {
	if l.held {
		l.held = false
		processors.give()
	}
}

// TurnPatience is how long work waits for a turn before it continues without one.
const TurnPatience = 50 * time.Millisecond

// processors are the processors for long work while several workspaces are present.
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

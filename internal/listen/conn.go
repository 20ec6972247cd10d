package listen

import (
	"context"
	"sync"

	"github.com/feedmill/feedmill"
)

// conn is the connection of a listener, and what is unanswered on it.
type conn struct {
	listener feedmill.ID
	end      context.CancelCauseFunc
	wake     chan struct{}

	mu sync.Mutex
	// waiting are the deliveries that were sent and not answered, answered
	// those that were answered since the store was last asked: what it says
	// may still show them as they were.
	waiting, answered map[feedmill.ID]bool
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default: // it is about to read anyway
	}
}

// beginRead begins to read the store and returns how many deliveries wait for an
// answer.
func (c *conn) beginRead() (waiting int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.answered)
	return len(c.waiting)
}

// note reports whether a delivery that was read is to be sent now, and takes it
// for sent.
func (c *conn) note(id feedmill.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[id] || c.answered[id] || len(c.waiting) == feedmill.MaxListenerWindow {
		return false
	}
	c.waiting[id] = true
	return true
}

// settle makes room for others in place of what was answered.
func (c *conn) settle(deliveries []feedmill.ID) {
	c.mu.Lock()
	for _, id := range deliveries {
		delete(c.waiting, id)
		c.answered[id] = true
	}
	c.mu.Unlock()
	c.wakeUp()
}

// forgetAnswered forgets what is not open any more: all that is not among what
// was read. cut says that only what is not behind that can be told.
func (c *conn) forgetAnswered(due []feedmill.DueDelivery, cut bool) {
	open := make(map[feedmill.ID]bool, len(due))
	for _, d := range due {
		open[d.ID] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.waiting {
		if !open[id] && (!cut || id < due[len(due)-1].ID) {
			delete(c.waiting, id)
		}
	}
}

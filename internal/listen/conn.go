package listen

import (
	"context"
	"sync"

	"github.com/feedmill/feedmill"
)

// conn is the connection of a listener and its unacknowledged deliveries.
type conn struct {
	listener feedmill.ID
	// id tells the connection from all others of the listener.
	id   string
	end  context.CancelCauseFunc
	wake chan struct{}

	mu sync.Mutex
	// waiting has the deliveries that were sent and not acknowledged. acknowledged has
	// those that were acknowledged since the last read of the store, which can still
	// return them.
	waiting, acknowledged map[feedmill.ID]bool
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default: // it reads the store soon anyway
	}
}

// beginRead prepares a read of the store and returns the number of unacknowledged
// deliveries.
func (c *conn) beginRead() (waiting int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.acknowledged)
	return len(c.waiting)
}

// markSent reports whether a delivery should be sent now, and marks it as sent if so.
func (c *conn) markSent(id feedmill.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[id] || c.acknowledged[id] || len(c.waiting) == feedmill.MaxListenerWindow {
		return false
	}
	c.waiting[id] = true
	return true
}

// acknowledge removes deliveries from the window, which makes room for others.
func (c *conn) acknowledge(deliveries []feedmill.ID) {
	c.mu.Lock()
	for _, id := range deliveries {
		delete(c.waiting, id)
		c.acknowledged[id] = true
	}
	c.mu.Unlock()
	c.wakeUp()
}

// dropClosed removes the deliveries that are no longer open: those that the store did not
// return. If the read was cut, only those up to its last delivery are known.
func (c *conn) dropClosed(due []feedmill.DueDelivery, cut bool) {
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

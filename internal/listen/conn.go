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
	// tests are the test events to be sent next.
	tests []feedmill.DueDelivery
	// waiting has the deliveries that were sent and not acknowledged. acknowledged has
	// those that were acknowledged since the last read of the store, which can still
	// return them.
	waiting, acknowledged map[feedmill.ID]bool
}

// maxTests is the maximum number of test events that wait for a connection.
const maxTests = 16

// addTest adds a test event, unless too many wait.
func (c *conn) addTest(d feedmill.DueDelivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tests) == maxTests {
		return false
	}
	c.tests = append(c.tests, d)
	c.wakeUp()
	return true
}

// takeTests returns the test events to be sent.
func (c *conn) takeTests() []feedmill.DueDelivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	tests := c.tests
	c.tests = nil
	return tests
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

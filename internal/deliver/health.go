package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// Breaker is the state of a subscription's breaker, which the replica knows that
// sends to it.
func (d *Dispatcher) Breaker(subscription feedmill.ID) feedmill.BreakerState {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.slots.has(subscription) {
		return feedmill.BreakerUnknown
	}
	l, ok := d.lanes[subscription]
	switch {
	case !ok || !l.pace.isOpen():
		return feedmill.BreakerClosed
	case l.pace.wait(time.Now()) > 0:
		return feedmill.BreakerOpen
	}
	return feedmill.BreakerHalfOpen
}

// healths are what the subscriptions are counted by in the metrics.
var healths = []string{"working", "failing", "breaker_open", "held"}

// health counts the subscriptions that were sent to of late, or have something
// to send, by how they do.
func (d *Dispatcher) health() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := make(map[string]int, len(healths))
	for _, l := range d.lanes {
		switch t := l.subscription.target; {
		case l.state == lost || t == nil || t.ended():
		case t.held():
			counts["held"]++
		case l.pace.isOpen():
			counts["breaker_open"]++
		case t.failing():
			counts["failing"]++
		default:
			counts["working"]++
		}
	}
	return counts
}

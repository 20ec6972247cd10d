package deliver

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

// OpenBreakers are the breakers of this replica that are open or probe, those first
// that are tried first.
func (d *Dispatcher) OpenBreakers() []feedmill.OpenBreaker {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []feedmill.OpenBreaker
	for id, l := range d.lanes {
		if !l.pace.isOpen() {
			continue
		}
		b := feedmill.OpenBreaker{Subscription: id, Workspace: l.workspace, State: feedmill.BreakerHalfOpen, Since: l.pace.since, ProbeAt: l.pace.until, LastError: l.pace.failure}
		if l.pace.wait(time.Now()) > 0 {
			b.State = feedmill.BreakerOpen
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b feedmill.OpenBreaker) int { return a.ProbeAt.Compare(b.ProbeAt) })
	return all
}

// healths are what the subscriptions are counted by in the metrics.
var healths = []string{"working", "failing", "breaker_open", "held"}

// healthCollector counts the subscriptions once for all of these.
type healthCollector struct{ d *Dispatcher }

var subscriptionsByHealth = prometheus.NewDesc("feedmill_delivery_subscriptions", "Subscriptions that this replica sends to, by health.", []string{"health"}, nil)

func (c healthCollector) Describe(to chan<- *prometheus.Desc) { to <- subscriptionsByHealth }

func (c healthCollector) Collect(to chan<- prometheus.Metric) {
	counts := c.d.health()
	for _, name := range healths {
		to <- prometheus.MustNewConstMetric(subscriptionsByHealth, prometheus.GaugeValue, float64(counts[name]), name)
	}
}

// health counts the subscriptions with recent or waiting deliveries by their health.
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

package deliver

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// counters are the dispatcher's metrics.
type counters struct {
	attempts     *prometheus.CounterVec
	takeovers    prometheus.Counter
	firstAttempt prometheus.Histogram
	delivered    prometheus.Histogram
	open         prometheus.Gauge
	oldestDue    prometheus.Gauge
}

func newCounters(reg prometheus.Registerer, d *Dispatcher) *counters {
	buckets := prometheus.ExponentialBuckets(0.001, 4, 12)
	c := &counters{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmill_delivery_attempts_total", Help: "Attempts to deliver, by outcome.",
		}, []string{"outcome"}),
		takeovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "feedmill_delivery_slots_taken_total", Help: "Delivery slots that this replica has taken.",
		}),
		firstAttempt: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "feedmill_delivery_first_attempt_seconds", Help: "Time from acceptance to the first attempt.", Buckets: buckets,
		}),
		delivered: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "feedmill_delivery_delivered_seconds", Help: "Time from acceptance to delivery.", Buckets: buckets,
		}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "feedmill_deliveries_open", Help: fmt.Sprintf("Deliveries in the store that are pending or retrying, counted up to %d.", feedmill.MaxCountedBacklog),
		}),
		oldestDue: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "feedmill_delivery_oldest_due_seconds", Help: "How long the oldest due delivery has been due, of subscriptions that are not paused.",
		}),
	}
	locked := func(f func() int) func() float64 {
		return func() float64 {
			d.mu.Lock()
			defer d.mu.Unlock()
			return float64(f())
		}
	}
	reg.MustRegister(c.attempts, c.takeovers, c.firstAttempt, c.delivered, c.open, c.oldestDue,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_delivery_queued", Help: "Deliveries that wait in memory."}, locked(func() int { return d.memory.queued })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_delivery_in_flight", Help: "Attempts in flight."}, locked(func() int { return len(d.sending) })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_delivery_slots", Help: "Delivery slots that this replica owns."}, locked(func() int { return len(d.slots.list()) })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_delivery_breakers_open", Help: "Subscriptions whose breaker is open."}, func() float64 { return float64(len(d.OpenBreakers())) }),
	)
	reg.MustRegister(healthCollector{d})
	return c
}

// attempt counts an attempt by the class of its outcome.
func (c *counters) attempt(r feedmill.Result, o feedmill.Outcome, accepted, now time.Time) {
	class := "no_answer"
	switch {
	case r.Verdict == feedmill.VerdictRejected:
		class = "refused"
	case r.Delivered():
		class = "delivered"
	case r.Responded:
		class = r.Class
	}
	c.attempts.WithLabelValues(class).Inc()
	if o.State == feedmill.DeliveryDelivered {
		c.delivered.Observe(now.Sub(accepted).Seconds())
	}
}

// What only the store knows is measured every watchEvery, and not more often than
// after watchPolls polls.
const (
	watchEvery = time.Minute
	watchPolls = 20
)

// watch measures now and then what only the store knows.
func (c *counters) watch(ctx context.Context, s Store, every time.Duration) {
	for ctx.Err() == nil {
		now := time.Now()
		if open, oldest, err := s.OpenWork(ctx, now); err == nil {
			c.open.Set(float64(open))
			age := 0.0
			if !oldest.IsZero() {
				age = max(now.Sub(oldest).Seconds(), 0)
			}
			c.oldestDue.Set(age)
		}
		pause(ctx, every, nil)
	}
}

package api

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// seriesStep is how far apart the points of the operator's series are, and
	// seriesPoints how many are kept: a day.
	seriesStep   = time.Minute
	seriesPoints = 24 * 60
)

// seriesPoint is how the service did in one step. Rates are for each second.
type seriesPoint struct {
	At        timestamp `json:"at"`
	Accepted  float64   `json:"accepted"`
	Delivered float64   `json:"delivered"`
	Failed    float64   `json:"failed"`
	Open      float64   `json:"open"`
	OldestDue float64   `json:"oldestDueSeconds"`
	InFlight  float64   `json:"inFlight"`
	Refreshes float64   `json:"refreshes"`
}

// series are the points of the last day, of this process.
type series struct {
	mu     sync.Mutex
	points []seriesPoint
	// last are the counters at the last point.
	last   map[string]float64
	lastAt time.Time
}

// Observe takes a point of the operator's series now and at every step, until ctx ends.
func (s *Server) Observe(ctx context.Context) error {
	tick := time.NewTicker(seriesStep)
	defer tick.Stop()
	for {
		s.series.take(s.Metrics, time.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// take adds a point. A metric that cannot be gathered is zero.
func (s *series) take(from prometheus.Gatherer, at time.Time) {
	values := gather(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	seconds := at.Sub(s.lastAt).Seconds()
	rate := func(name string) float64 {
		if s.last == nil || seconds <= 0 {
			return 0
		}
		return max(values[name]-s.last[name], 0) / seconds
	}
	s.points = append(s.points, seriesPoint{
		At: timestamp(at), Accepted: rate("feedmill_events_accepted_total"), Delivered: rate(deliveredAttempts), Failed: rate(failedAttempts),
		Open: values["feedmill_deliveries_open"], OldestDue: values["feedmill_delivery_oldest_due_seconds"],
		InFlight: values["feedmill_delivery_in_flight"], Refreshes: values["feedmill_refresh_running"],
	})
	s.points = s.points[max(0, len(s.points)-seriesPoints):]
	s.last, s.lastAt = values, at
}

// all are the points so far.
func (s *series) all() []seriesPoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seriesPoint{}, s.points...)
}

// Attempts are one counter by their outcome; these are its two halves.
const (
	deliveredAttempts = "feedmill_delivery_attempts_total delivered"
	failedAttempts    = "feedmill_delivery_attempts_total failed"
)

// gather reads counters and gauges, each the sum over its labels.
func gather(from prometheus.Gatherer) map[string]float64 {
	values := make(map[string]float64)
	families, _ := from.Gather()
	for _, f := range families {
		for _, m := range f.GetMetric() {
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			name := f.GetName()
			if name == "feedmill_delivery_attempts_total" {
				name = failedAttempts
				for _, label := range m.GetLabel() {
					if label.GetValue() == "delivered" {
						name = deliveredAttempts
					}
				}
			}
			values[name] += value
		}
	}
	return values
}

package api

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestSeriesAreRatesOfCounters(t *testing.T) {
	reg := prometheus.NewRegistry()
	accepted := prometheus.NewCounter(prometheus.CounterOpts{Name: "feedmill_events_accepted_total"})
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "feedmill_delivery_attempts_total"}, []string{"outcome"})
	open := prometheus.NewGauge(prometheus.GaugeOpts{Name: "feedmill_deliveries_open"})
	reg.MustRegister(accepted, attempts, open)
	accepted.Add(1000) // before the first point
	var s series
	at := time.Unix(1_000_000, 0)
	s.take(reg, at)
	accepted.Add(120)
	attempts.WithLabelValues("delivered").Add(60)
	attempts.WithLabelValues("5xx").Add(30)
	attempts.WithLabelValues("no_answer").Add(30)
	open.Set(7)
	s.take(reg, at.Add(time.Minute))
	points := s.all()
	if len(points) != 2 || points[0].Accepted != 0 {
		t.Fatalf("the points are %+v", points)
	}
	if p := points[1]; p.Accepted != 2 || p.Delivered != 1 || p.Failed != 1 || p.Open != 7 {
		t.Errorf("the second point is %+v", p)
	}
	for i := range seriesPoints + 5 {
		s.take(reg, at.Add(time.Duration(i+2)*time.Minute))
	}
	if points := s.all(); len(points) != seriesPoints {
		t.Errorf("%d points are kept", len(points))
	}
}

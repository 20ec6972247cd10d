package api

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/feedmill/feedmill/client"
)

// seriesStep is how far apart the points of the operator's series are.
const seriesStep = time.Minute

// series makes points of the counters of this process.
type series struct {
	// last are the counters at the last point.
	last   map[string]float64
	lastAt time.Time
}

// Observe says at once and again and again how this process does, and takes a point of the
// operator's series at every step, until ctx ends.
func (s *Server) Observe(ctx context.Context) error {
	tick, reports := time.NewTicker(seriesStep), time.NewTicker(reportEvery)
	defer tick.Stop()
	defer reports.Stop()
	defer s.forgetProcess()
	draining := s.draining
	for point := new(s.series.sample(s.Metrics, time.Now())); ; {
		s.report(ctx, point)
		point = nil
		select {
		case <-ctx.Done():
			return nil
		case <-reports.C:
		case <-draining:
			draining = nil
		case <-tick.C:
			point = new(s.series.sample(s.Metrics, time.Now()))
		}
	}
}

// sample makes a point of what was counted since the last one. A metric that cannot be
// gathered is zero.
func (s *series) sample(from prometheus.Gatherer, at time.Time) client.OperationPoint {
	values := gather(from)
	seconds := at.Sub(s.lastAt).Seconds()
	rate := func(name string) float64 {
		if s.last == nil || seconds <= 0 {
			return 0
		}
		return max(values[name]-s.last[name], 0) / seconds
	}
	p := client.OperationPoint{
		At:       at,
		Accepted: rate("feedmill_events_accepted_total"), Delivered: rate(deliveredAttempts), Failed: rate(failedAttempts),
		Open: values["feedmill_deliveries_open"], OldestDue: values["feedmill_delivery_oldest_due_seconds"],
		InFlight: values["feedmill_delivery_in_flight"], Refreshes: values["feedmill_refresh_running"],
		Scrubbed: rate("feedmill_files_scrubbed_bytes_total"),
	}
	if _, ok := values["feedmill_cache_max_bytes"]; ok {
		p.Bucket = s.bucket(values, rate)
	}
	s.last, s.lastAt = values, at
	return p
}

// Attempts are one counter by their outcome; these are its two halves.
const (
	deliveredAttempts = "feedmill_delivery_attempts_total delivered"
	failedAttempts    = "feedmill_delivery_attempts_total failed"
)

// seriesName is the name of a metric, or of the part of it with some labels.
func seriesName(name string, labels []*dto.LabelPair) string {
	has := func(value string) bool {
		return slices.ContainsFunc(labels, func(l *dto.LabelPair) bool { return l.GetValue() == value })
	}
	switch {
	case name == "feedmill_delivery_attempts_total" && has("delivered"):
		return deliveredAttempts
	case name == "feedmill_delivery_attempts_total":
		return failedAttempts
	case name == bucketRequests && has("error"):
		return failedBucketRequests
	case name == bucketBytes && has("written"):
		return writtenBucketBytes
	}
	return name
}

// gather reads counters and gauges, each the sum over its labels.
func gather(from prometheus.Gatherer) map[string]float64 {
	values := make(map[string]float64)
	families, _ := from.Gather()
	for _, f := range families {
		for _, m := range f.GetMetric() {
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			values[seriesName(f.GetName(), m.GetLabel())] += value
			if f.GetName() == bucketSeconds {
				addBounds(values, m.GetHistogram())
			}
		}
	}
	return values
}

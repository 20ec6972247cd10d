package api

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// seen counts what the server has answered.
type seen struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	// of caches the counters, whose look-up by labels is slow.
	of sync.Map // seenKey → prometheus.Counter
	in sync.Map // route's path → prometheus.Observer
}

type seenKey struct {
	method, path string
	status       int
}

func newSeen(reg *prometheus.Registry) *seen {
	s := &seen{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmill_http_requests_total", Help: "Completed requests, by operation and status.",
		}, []string{"method", "route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "feedmill_http_request_seconds", Help: "Time from a request's arrival to its response, by route.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"route"}),
	}
	reg.MustRegister(s.requests, s.duration)
	return s
}

// methods are those that a request to no route is counted under; any other is
// "other", so that clients cannot make new labels.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace,
}

func (s *seen) request(rt route, method string, status int, took time.Duration) {
	path := rt.path
	switch {
	case path != "":
		method = rt.method
	case slices.Contains(methods, method):
		path = "unmatched"
	default:
		path, method = "unmatched", "other"
	}
	key := seenKey{method, path, status}
	count, ok := s.of.Load(key)
	if !ok {
		count, _ = s.of.LoadOrStore(key, s.requests.WithLabelValues(key.method, path, strconv.Itoa(status)))
	}
	count.(prometheus.Counter).Inc()
	hist, ok := s.in.Load(path)
	if !ok {
		hist, _ = s.in.LoadOrStore(path, s.duration.WithLabelValues(path))
	}
	hist.(prometheus.Observer).Observe(took.Seconds())
}

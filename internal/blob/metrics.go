package blob

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count the requests to a bucket and what its cache does.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec

	hits, misses, evicted prometheus.Counter
}

// newMetrics makes metrics and registers them, if there is where to.
func newMetrics(c *cache, to prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmill_bucket_requests_total", Help: "Requests to the bucket with the files of feeds, by operation and outcome.",
		}, []string{"operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "feedmill_bucket_request_seconds", Help: "Time until the bucket begins to respond, by operation.",
			Buckets: prometheus.ExponentialBuckets(0.001, 1.5, 26),
		}, []string{"operation"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmill_bucket_bytes_total", Help: "Bytes of files read from the bucket and written to it.",
		}, []string{"direction"}),
		hits:    counter("feedmill_cache_hits_total", "Reads of bucket files that were cached."),
		misses:  counter("feedmill_cache_misses_total", "Reads of bucket files that had to be downloaded."),
		evicted: counter("feedmill_cache_evicted_bytes_total", "Bytes removed from the cache to stay below its limit."),
	}
	if to == nil {
		return m
	}
	to.MustRegister(m.requests, m.seconds, m.bytes, m.hits, m.misses, m.evicted,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "feedmill_cache_bytes", Help: "Bytes of bucket files in the cache.",
		}, func() float64 { return float64(c.bytes()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "feedmill_cache_max_bytes", Help: "Limit of the cache, without files that queries use.",
		}, func() float64 { return float64(c.max) }))
	return m
}

// measuredTransport counts requests as they are sent, also those that the client repeats.
type measuredTransport struct {
	http.RoundTripper
	metrics *metrics
}

// RoundTrip sends a request. A download is counted when its body is closed.
func (t *measuredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	name, began := operation(r), time.Now()
	response, err := t.RoundTripper.RoundTrip(r)
	outcome := outcomeOf(response, err)
	if outcome != outcomeCanceled {
		t.metrics.seconds.WithLabelValues(name).Observe(time.Since(began).Seconds())
	}
	if name == "get" && outcome == outcomeOK {
		response.Body = &countedBody{ReadCloser: response.Body, metrics: t.metrics}
		return response, nil
	}
	t.metrics.requests.WithLabelValues(name, outcome).Inc()
	if name == "put" && outcome == outcomeOK {
		t.metrics.bytes.WithLabelValues("written").Add(float64(written(r)))
	}
	return response, err
}

// written is how many bytes an upload has, without the signatures between them.
func written(r *http.Request) int64 {
	if n, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err == nil {
		return n
	}
	return max(r.ContentLength, 0)
}

// Outcomes of a request to a bucket.
const (
	outcomeOK       = "ok"
	outcomeError    = "error"
	outcomeCanceled = "canceled"
)

// outcomeOf returns the outcome of a request. A missing object is not an error of the bucket.
func outcomeOf(response *http.Response, err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return outcomeCanceled
	case err != nil, response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusNotFound:
		return outcomeError
	}
	return outcomeOK
}

// operation names a request of S3.
func operation(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case query.Has("list-type"):
		return "list"
	case query.Has("location"):
		return "other"
	}
	switch r.Method {
	case http.MethodGet:
		return "get"
	case http.MethodHead:
		return "head"
	case http.MethodPut:
		return "put"
	case http.MethodDelete:
		return "delete"
	}
	return "other"
}

// countedBody counts the bytes that are read of a file, and the request when it ends.
type countedBody struct {
	io.ReadCloser
	metrics *metrics
	failed  bool
}

// Read reads and counts.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.metrics.bytes.WithLabelValues("read").Add(float64(n))
	b.failed = b.failed || err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled)
	return n, err
}

// Close ends the request.
func (b *countedBody) Close() error {
	outcome := outcomeOK
	if b.failed {
		outcome = outcomeError
	}
	b.metrics.requests.WithLabelValues("get", outcome).Inc()
	return b.ReadCloser.Close()
}

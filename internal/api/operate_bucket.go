package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/feedmill/feedmill/client"
)

// The metrics of the bucket, and parts of them.
const (
	bucketRequests       = "feedmill_bucket_requests_total"
	failedBucketRequests = bucketRequests + " error"
	bucketBytes          = "feedmill_bucket_bytes_total"
	writtenBucketBytes   = bucketBytes + " written"
	bucketSeconds        = "feedmill_bucket_request_seconds"
)

// bucket is the part of a point that is of the bucket.
func (s *series) bucket(values map[string]float64, rate func(string) float64) *client.BucketPoint {
	return &client.BucketPoint{
		Requests: rate(bucketRequests) + rate(failedBucketRequests), Errors: rate(failedBucketRequests),
		ReadBytes: rate(bucketBytes), WrittenBytes: rate(writtenBucketBytes),
		CacheHits: rate("feedmill_cache_hits_total"), CacheMisses: rate("feedmill_cache_misses_total"), EvictedBytes: rate("feedmill_cache_evicted_bytes_total"),
		P50: quantile(s.last, values, .5), P99: quantile(s.last, values, .99),
	}
}

// addBounds adds the counts below the bounds of a histogram, each under the name of its bound.
func addBounds(values map[string]float64, h *dto.Histogram) {
	for _, b := range h.GetBucket() {
		values[bucketSeconds+" "+strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64)] += float64(b.GetCumulativeCount())
	}
	values[bucketSeconds+" +Inf"] += float64(h.GetSampleCount())
}

// quantile estimates the time within which a share of the requests was answered that were made
// between two readings of the metrics. It is nil if there were none.
func quantile(before, after map[string]float64, share float64) *client.Milliseconds {
	counts := make(map[float64]float64)
	for name, count := range after {
		if text, ok := strings.CutPrefix(name, bucketSeconds+" "); ok {
			bound, _ := strconv.ParseFloat(text, 64)
			counts[bound] = count - before[name]
		}
	}
	bounds := slices.Sorted(maps.Keys(counts))
	if before == nil || len(bounds) == 0 || counts[bounds[len(bounds)-1]] <= 0 {
		return nil
	}
	wanted := share * counts[bounds[len(bounds)-1]]
	low, below := 0.0, 0.0
	for i, bound := range bounds {
		n := counts[bound]
		switch {
		case n < wanted:
			low, below = bound, n
			continue
		case i < len(bounds)-1: // the last bound is infinite
			low += (bound - low) * (wanted - below) / (n - below)
		}
		break
	}
	return new(client.Milliseconds(low * 1000))
}

// addBucket adds up the points of two replicas, which may have none. Times are those of the
// slower one.
func addBucket(a, b *client.BucketPoint) *client.BucketPoint {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		return a
	}
	slower := func(a, b *client.Milliseconds) *client.Milliseconds {
		if a == nil || b != nil && *b > *a {
			return b
		}
		return a
	}
	return &client.BucketPoint{
		Requests: a.Requests + b.Requests, Errors: a.Errors + b.Errors, P50: slower(a.P50, b.P50), P99: slower(a.P99, b.P99),
		ReadBytes: a.ReadBytes + b.ReadBytes, WrittenBytes: a.WrittenBytes + b.WrittenBytes,
		CacheHits: a.CacheHits + b.CacheHits, CacheMisses: a.CacheMisses + b.CacheMisses, EvictedBytes: a.EvictedBytes + b.EvictedBytes,
	}
}

// bucketState is how the bucket does, with the times of the last minute with requests.
func (s *Server) bucketState(points []client.OperationPoint) client.StoreState {
	v := client.StoreState{Name: "bucket", State: "ready", Engine: "S3", Where: s.Bucket.String()}
	if s.Bucket.Outage() != nil {
		v.State, v.FailedSince = "failed", new(s.Bucket.OutageSince().UTC())
	}
	for _, p := range slices.Backward(points) {
		if p.Bucket != nil && p.Bucket.P50 != nil {
			v.Latency, v.P50, v.P99 = *p.Bucket.P50, p.Bucket.P50, p.Bucket.P99
			break
		}
	}
	return v
}

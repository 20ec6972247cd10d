package blob_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/blob/s3test"
)

// TestMetricsOfABucket counts what two replicas send to one server, each for itself.
func TestMetricsOfABucket(t *testing.T) {
	s := s3test.New(t)
	open := func(most int64) (*blob.Bucket, func(name string, labels ...string) float64) {
		at, err := blob.ParseLocation(s.URL("m"))
		if err != nil {
			t.Fatal(err)
		}
		metrics := prometheus.NewRegistry()
		b, err := blob.OpenBucket(t.Context(), blob.BucketOptions{Location: at, AccessKey: s.AccessKey, SecretKey: s.SecretKey, Cache: t.TempDir(), CacheBytes: most, Metrics: metrics})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b, func(name string, labels ...string) float64 { return gathered(t, metrics, name, labels...) }
	}
	one, ofOne := open(1 << 30)
	two, ofTwo := open(1500)
	content := bytes.Repeat([]byte("x"), 1000)
	for _, name := range []string{"df_1/a.parquet", "df_2/b.parquet"} {
		putIn(t, one, name, content)
		readFrom(t, one, name)
		for range 2 {
			readFrom(t, two, name) // the second file takes the place of the first
		}
	}
	readFrom(t, two, "df_1/a.parquet")
	for _, c := range []struct {
		name   string
		labels []string
		of     func(string, ...string) float64
		want   float64
	}{
		{"feedmill_bucket_requests_total", []string{"put", "ok"}, ofOne, 2},
		{"feedmill_bucket_requests_total", []string{"get"}, ofOne, 0},
		{"feedmill_bucket_bytes_total", []string{"written"}, ofOne, 2000},
		{"feedmill_cache_hits_total", nil, ofOne, 2},
		{"feedmill_cache_misses_total", nil, ofOne, 0},
		{"feedmill_cache_bytes", nil, ofOne, 2000},
		{"feedmill_cache_max_bytes", nil, ofTwo, 1500},
		{"feedmill_bucket_requests_total", []string{"get", "ok"}, ofTwo, 3},
		{"feedmill_bucket_request_seconds", []string{"get"}, ofTwo, 3},
		{"feedmill_bucket_bytes_total", []string{"read"}, ofTwo, 3000},
		{"feedmill_cache_hits_total", nil, ofTwo, 2},
		{"feedmill_cache_misses_total", nil, ofTwo, 3},
		{"feedmill_cache_evicted_bytes_total", nil, ofTwo, 2000},
		{"feedmill_cache_bytes", nil, ofTwo, 1000},
	} {
		if got := c.of(c.name, c.labels...); got != c.want {
			t.Errorf("%s %v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	if since := two.OutageSince(); !since.IsZero() {
		t.Errorf("an outage since %v", since)
	}
	s.Kill()
	began := time.Now()
	for range 2 {
		if _, err := two.Open(context.Background(), "df_2/b.parquet"); err == nil {
			t.Fatal("a file was read without the server")
		}
	}
	if failed := ofTwo("feedmill_bucket_requests_total", "get", "error"); failed < 2 {
		t.Errorf("%v requests failed", failed)
	}
	if since := two.OutageSince(); since.Before(began) || since.After(time.Now()) {
		t.Errorf("an outage since %v", since)
	}
}

// gathered is the sum of a metric, or the count of a histogram, over the labels that have all values.
func gathered(t *testing.T, from prometheus.Gatherer, name string, labels ...string) (sum float64) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			has := 0
			for _, l := range m.GetLabel() {
				for _, want := range labels {
					if l.GetValue() == want {
						has++
					}
				}
			}
			if has == len(labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

package api

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func TestSeriesOfABucket(t *testing.T) {
	reg := prometheus.NewRegistry()
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: bucketRequests}, []string{"operation", "outcome"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: bucketSeconds, Buckets: []float64{.01, .02, .04}}, []string{"operation"})
	moved := prometheus.NewCounterVec(prometheus.CounterOpts{Name: bucketBytes}, []string{"direction"})
	cache := prometheus.NewGauge(prometheus.GaugeOpts{Name: "feedmill_cache_max_bytes"})
	reg.MustRegister(requests, seconds, moved)
	at := time.Unix(1_000_000, 0)
	var without series
	if p := without.sample(reg, at); p.Bucket != nil {
		t.Errorf("without a cache the point has %+v", p.Bucket)
	}
	reg.MustRegister(cache)
	seconds.WithLabelValues("get").Observe(9) // before the first point
	var s series
	if p := s.sample(reg, at); p.Bucket == nil || p.Bucket.P50 != nil {
		t.Errorf("the first point has %+v", p.Bucket)
	}
	requests.WithLabelValues("get", "ok").Add(120)
	requests.WithLabelValues("put", "error").Add(60)
	moved.WithLabelValues("read").Add(600)
	moved.WithLabelValues("written").Add(60)
	for range 60 {
		seconds.WithLabelValues("get").Observe(.015)
		seconds.WithLabelValues("put").Observe(.005)
	}
	p := s.sample(reg, at.Add(time.Minute)).Bucket
	if p.Requests != 3 || p.Errors != 1 || p.ReadBytes != 10 || p.WrittenBytes != 1 {
		t.Errorf("the second point has %+v", p)
	}
	near := func(what string, got *client.Milliseconds, want float64) {
		t.Helper()
		if got == nil || math.Abs(float64(*got)-want) > .01 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("p50", p.P50, 10)
	near("p99", p.P99, 19.8)
	if p := s.sample(reg, at.Add(2*time.Minute)).Bucket; p.Requests != 0 || p.P50 != nil || p.P99 != nil {
		t.Errorf("a minute without requests has %+v", p)
	}
	seconds.WithLabelValues("get").Observe(100) // beyond the last bound
	near("p50 of a slow request", s.sample(reg, at.Add(3*time.Minute)).Bucket.P50, 40)

	both := addBucket(&client.BucketPoint{Requests: 1, P50: new(client.Milliseconds(3))}, &client.BucketPoint{Requests: 2, P50: new(client.Milliseconds(2)), P99: new(client.Milliseconds(7))})
	if both.Requests != 3 || *both.P50 != 3 || *both.P99 != 7 {
		t.Errorf("two points are %+v", both)
	}
	if addBucket(nil, both) != both || addBucket(both, nil) != both || addBucket(nil, nil) != nil {
		t.Error("a replica without a bucket changes the point of another")
	}
}

// TestOperateHasTheStatesOfReplicas has one that drains, one that was killed and came back, and
// one that is silent, with what each leased and found damaged.
func TestOperateHasTheStatesOfReplicas(t *testing.T) {
	w := newWorld(t)
	w.Auth = operators{w.workspace}
	w.Holder, w.Bucket = "holder-me", outageBucket{}
	w.DamagedFiles = nil
	reported := func(process string, ago time.Duration, p processState) {
		t.Helper()
		text, err := json.Marshal(p)
		must(t, err)
		must(t, w.db.ReportProcess(t.Context(), feedmill.ProcessReport{Process: process, At: now().Add(-ago), Text: text}, nil))
	}
	started := now().Add(-time.Hour)
	damaged := []damagedFile{{Feed: "df_1", First: 2, Last: 3, File: "df_1/x.parquet"}}
	open := []feedmill.OpenBreaker{{Workspace: w.workspace, Subscription: "sub_gone", State: feedmill.BreakerOpen}}
	reported("a", time.Second, processState{Name: "a-draining", Holder: "holder-a", Draining: true, StartedAt: started, Slots: 100, Damaged: damaged})
	reported("b", 45*time.Second, processState{Name: "b-killed", Holder: "holder-c", StartedAt: started, Slots: 60})
	reported("c", time.Second, processState{Name: "c-back", Holder: "holder-c", StartedAt: started.Add(time.Minute), Slots: 50, CacheBytes: 5, CacheMax: 10})
	reported("d", 5*time.Minute, processState{Name: "d-silent", Holder: "holder-d", StartedAt: started, Slots: 90, Breakers: open})
	reported("e", keepSilent+time.Minute, processState{Name: "e-gone", Holder: "holder-e", StartedAt: started})
	for i, holder := range []string{"holder-a", "holder-a", "holder-c", "holder-unknown"} {
		must(t, w.db.BeginObject(t.Context(), "df_1/"+string(rune('a'+i)), holder, ""))
	}
	a := w.do(t, "GET", "/operate", "")
	var got struct {
		Replicas []client.Replica
		Breakers []client.OpenBreaker
		Stores   []client.StoreState
		Leases   []client.Lease
		Scrub    client.Scrub
	}
	if err := json.Unmarshal(a.Body.Bytes(), &got); err != nil || a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	states := make(map[string]string)
	for _, r := range got.Replicas {
		states[r.Name] = r.State
		if r.State == "silent" && r.Slots != 0 || r.Name == "c-back" && (r.CacheBytes != 5 || r.CacheMaxBytes != 10) {
			t.Errorf("a replica is %+v", r)
		}
	}
	if len(got.Replicas) != 4 || states["a-draining"] != "draining" || states["c-back"] != "ready" || states["d-silent"] != "silent" {
		t.Errorf("the replicas are %v", states)
	}
	if len(got.Breakers) != 0 {
		t.Errorf("breakers of a silent replica: %+v", got.Breakers)
	}
	if s := got.Stores[len(got.Stores)-1]; s.Name != "bucket" || s.State != "failed" || s.Where != "s3://b/p" || s.FailedSince == nil || !s.FailedSince.Equal(time.Unix(1000, 0)) {
		t.Errorf("the bucket is %+v", s)
	}
	leases := make(map[feedmill.LeaseKind]client.Lease)
	for _, l := range got.Leases {
		leases[l.Name] = l
	}
	if l := leases[feedmill.LeaseSlots]; l.Count != 150 || len(l.Owners) != 2 || l.Term != 15 {
		t.Errorf("the leases of slots are %+v", l)
	}
	if l := leases[feedmill.LeaseFiles]; l.Count != 4 || len(l.Owners) != 2 || l.Owners[0] != "a-draining" || l.Owners[1] != "c-back" {
		t.Errorf("the leases of files are %+v", l)
	}
	if l := leases[feedmill.LeaseMove]; len(got.Leases) != len(feedmill.LeaseKinds) || l.Count != 0 || l.Owners == nil {
		t.Errorf("the leases are %+v", got.Leases)
	}
	if got.Scrub.Writing != 4 || len(got.Scrub.Damaged) != 1 || got.Scrub.Damaged[0] != (client.DamagedFile{FeedID: "df_1", FirstVersion: 2, LastVersion: 3, File: "df_1/x.parquet", Replica: "a-draining"}) {
		t.Errorf("the scrub is %+v", got.Scrub)
	}
}

// outageBucket is a bucket that does not respond.
type outageBucket struct{}

func (outageBucket) String() string         { return "s3://b/p" }
func (outageBucket) Outage() error          { return errors.New("no answer") }
func (outageBucket) OutageSince() time.Time { return time.Unix(1000, 0) }

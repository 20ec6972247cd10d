package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/blob/s3test"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestOperatorSeesReplicas has two replicas with a bucket, two with a folder, and one on SQLite: the
// record of the operator has their states, leases and stored files, and the bucket with its outage.
func TestOperatorSeesReplicas(t *testing.T) {
	t.Parallel()
	t.Run("postgres and bucket", func(t *testing.T) {
		t.Parallel()
		s3 := s3test.New(t)
		env := append(append(onPostgres(pgtest.New(t)), onLoopback...), "FEEDMILL_BLOB_URL="+s3.URL("pre"), "FEEDMILL_BLOB_ACCESS_KEY="+s3.AccessKey, "FEEDMILL_BLOB_SECRET_KEY="+s3.SecretKey)
		folder := t.TempDir()
		one, two := replicaIn(t, filepath.Join(folder, "one"), env), replicaIn(t, filepath.Join(folder, "two"), env)
		feeds := [2]string{storeFeed(t, one, "id,v\n1,a\n"), storeFeed(t, two, "id,v\n2,b\n")}
		for _, feed := range feeds {
			for _, p := range []*process{one, two} {
				storedRows(t, p, feed)
			}
		}
		o := operated(t, one)
		bucket := o.Stores[slices.IndexFunc(o.Stores, func(s client.StoreState) bool { return s.Name == "bucket" })]
		if bucket.State != "ready" || bucket.Where != "s3://feeds/pre" || bucket.Engine != "S3" || bucket.FailedSince != nil {
			t.Errorf("the bucket is %+v", bucket)
		}
		for _, r := range o.Replicas {
			if r.State != "ready" || r.CacheMaxBytes == 0 {
				t.Errorf("a replica is %+v", r)
			}
		}
		if last := o.Series[len(o.Series)-1]; last.Bucket == nil {
			t.Error("the series have no bucket")
		}
		for _, p := range []*process{one, two} {
			metrics := metricsOf(t, p)
			for _, want := range []string{`feedmill_bucket_requests_total{operation="put",outcome="ok"} `, `feedmill_bucket_requests_total{operation="get",outcome="ok"} `, "feedmill_cache_misses_total ", `feedmill_bucket_bytes_total{direction="read"} `} {
				if !strings.Contains(metrics, "\n"+want) {
					t.Errorf("the metrics have no %s", want)
				}
			}
		}
		seesFiles(t, o, 2)
		seesSlots(t, one, 2)
		// A damaged object is named by the replica that reads it, until it is as it was.
		object := storedObject(t, filepath.Join(s3.Folder, "pre", feeds[0]))
		was, err := os.ReadFile(object)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(object, append(slices.Clone(was[:len(was)/2]), make([]byte, len(was)-len(was)/2)...), 0o600); err != nil {
			t.Fatal(err)
		}
		two.mustStop(t)
		eventually(t, "the replica that stopped is listed no more", func() bool { return len(operated(t, one).Replicas) == 1 })
		if err := os.RemoveAll(filepath.Join(folder, "two", "cache")); err != nil {
			t.Fatal(err)
		}
		two = replicaIn(t, filepath.Join(folder, "two"), env)
		if status, _, err := request(t.Context(), sharedFirstKey, http.MethodGet, two.url+"/data_feeds/"+feeds[0]+"/data", nil, nil); status != http.StatusInternalServerError || err != nil {
			t.Errorf("a damaged file: %d, %v", status, err)
		}
		if d := operated(t, two).Scrub.Damaged; len(d) != 1 || d[0].FeedID != feeds[0] || d[0].FirstVersion != 1 || d[0].LastVersion != 1 || !strings.HasPrefix(d[0].File, feeds[0]+"/") {
			t.Errorf("damaged files: %+v", d)
		}
		s3.Kill()
		failed := func(p *process) bool {
			return slices.ContainsFunc(operated(t, p).Stores, func(s client.StoreState) bool {
				return s.Name == "bucket" && s.State == "failed" && s.FailedSince != nil
			})
		}
		if status, text, err := request(t.Context(), sharedFirstKey, http.MethodPut, two.url+"/data_feeds/"+feeds[1]+"/data", map[string]string{"Content-Type": "text/csv"}, strings.NewReader("id,v\n3,c\n")); status != http.StatusServiceUnavailable || err != nil {
			t.Errorf("an upload during an outage: %d %s, %v", status, text, err)
		}
		eventually(t, "the outage is shown", func() bool { return failed(two) })
	})
	t.Run("postgres and folder", func(t *testing.T) {
		t.Parallel()
		env := append(onPostgres(pgtest.New(t)), onLoopback...)
		one, two := replicaIn(t, t.TempDir(), env), replicaIn(t, t.TempDir(), env)
		for range 2 {
			storeFeed(t, one, "id,v\n1,a\n")
		}
		o := operated(t, two)
		if slices.ContainsFunc(o.Stores, func(s client.StoreState) bool { return s.Name == "bucket" }) || o.Series[len(o.Series)-1].Bucket != nil || o.Replicas[0].CacheMaxBytes != 0 {
			t.Errorf("without a bucket there is one: %+v", o)
		}
		seesFiles(t, o, 2)
		seesSlots(t, two, 2)
		if strings.Contains(metricsOf(t, one), "feedmill_bucket_") {
			t.Error("there are metrics of a bucket")
		}
	})
	t.Run("sqlite and folder", func(t *testing.T) {
		t.Parallel()
		p := replicaIn(t, t.TempDir(), onLoopback)
		for range 2 {
			storeFeed(t, p, "id,v\n1,a\n")
		}
		seesFiles(t, operated(t, p), 2)
		seesSlots(t, p, 1)
	})
}

// seesFiles holds that two feeds have a file each, which are verified.
func seesFiles(t *testing.T, o client.Operation, files int64) {
	t.Helper()
	if s := o.Scrub; s.Files != files || s.Verified != files || s.Bytes <= 0 || s.VerifiedBytes != s.Bytes || len(s.Damaged) != 0 {
		t.Errorf("the scrub is %+v", s)
	}
}

// seesSlots holds that so many replicas own all slots.
func seesSlots(t *testing.T, p *process, owners int) {
	t.Helper()
	var l client.Lease
	eventually(t, "all replicas own slots", func() bool {
		o := operated(t, p)
		l = o.Leases[slices.IndexFunc(o.Leases, func(l client.Lease) bool { return l.Name == feedmill.LeaseSlots })]
		sharing := 0
		for _, r := range o.Replicas {
			if r.Slots > 0 {
				sharing++
			}
		}
		return sharing == owners && l.Count == 256
	})
	if len(l.Owners) == 0 {
		t.Errorf("the slots are %+v", l)
	}
}

func operated(t *testing.T, p *process) client.Operation {
	t.Helper()
	o, err := p.client(sharedFirstKey).Operate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func metricsOf(t *testing.T, p *process) string {
	t.Helper()
	status, text, err := request(t.Context(), sharedFirstKey, http.MethodGet, p.url+"/metrics", nil, nil)
	if status != http.StatusOK || err != nil {
		t.Fatal(status, err)
	}
	return text
}

// replicaIn starts a replica with a data folder.
func replicaIn(t *testing.T, data string, env []string) *process {
	t.Helper()
	p, err := launch(t.TempDir(), slices.Clone(env), "--data="+data)
	return p.until(t, err)
}

// storeFeed uploads rows as a new feed.
func storeFeed(t *testing.T, p *process, rows string) string {
	t.Helper()
	f, err := p.client(sharedFirstKey).CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader(rows), Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

// storedObject is the Parquet file of a feed with one version.
func storedObject(t *testing.T, folder string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, %v", found, err)
	}
	return found[0]
}

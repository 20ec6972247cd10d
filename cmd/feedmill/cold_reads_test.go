package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/blob/s3test"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestColdReads has replicas read the first page of two large files that they have not cached: it takes
// a few ranges, once for all readers. Everything else is read from the whole file, with the same rows as on the
// replica that wrote it. A damaged range is noticed and named.
func TestColdReads(t *testing.T) {
	t.Parallel()
	s3, folder := s3test.New(t), t.TempDir()
	env := append(append(onPostgres(pgtest.New(t)), onLoopback...), "FEEDMILL_BLOB_URL="+s3.URL("cold"), "FEEDMILL_BLOB_ACCESS_KEY="+s3.AccessKey, "FEEDMILL_BLOB_SECRET_KEY="+s3.SecretKey)
	one := replicaIn(t, filepath.Join(folder, "one"), env)
	rows, share := longOr(700_000, 8_000_000), longOr(4.0, 50.0)
	var feeds [2]string
	for i := range feeds {
		made, err := one.client(sharedFirstKey).CreateDataFeed(t.Context(), client.Upload{Data: manyRows(rows, i), Format: "csv"})
		if err != nil {
			t.Fatal(err)
		}
		feeds[i] = made.ID
	}
	object := storedObject(t, filepath.Join(s3.Folder, "cold", feeds[0]))
	info, err := os.Stat(object)
	if err != nil {
		t.Fatal(err)
	}
	get := func(p *process, path string, want int) string {
		t.Helper()
		status, text, err := request(t.Context(), sharedFirstKey, http.MethodGet, p.url+"/data_feeds/"+path, nil, nil)
		if status != want || err != nil {
			t.Fatalf("%s: %d %.300s, %v", path, status, text, err)
		}
		return text
	}
	// The replica that writes the metadata of a table reads the whole file.
	for _, feed := range feeds {
		eventually(t, "the table is written", func() bool { return strings.Contains(get(one, feed, 200), `"metadataLocation"`) })
	}
	two := replicaIn(t, filepath.Join(folder, "two"), env)
	page := "/data?limit=100&format=ndjson"
	want := [2]string{get(one, feeds[0]+page, 200), get(one, feeds[1]+page, 200)}
	before, requests := metric(t, two, `feedmill_bucket_bytes_total{direction="read"}`), metric(t, two, `feedmill_bucket_requests_total{operation="get",outcome="ok"}`)
	var readers sync.WaitGroup
	for range 64 {
		readers.Go(func() {
			status, text, err := request(t.Context(), sharedFirstKey, http.MethodGet, two.url+"/data_feeds/"+feeds[0]+page, nil, nil)
			if status != http.StatusOK || err != nil || text != want[0] {
				t.Errorf("a cold page: %d %.100s, %v", status, text, err)
			}
		})
	}
	readers.Wait()
	read := metric(t, two, `feedmill_bucket_bytes_total{direction="read"}`) - before
	if n := metric(t, two, `feedmill_bucket_requests_total{operation="get",outcome="ok"}`) - requests; read*share > float64(info.Size()) || n < 1 || n > 3 {
		t.Errorf("of %d bytes %.0f were read, with %.0f requests", info.Size(), read, n)
	}
	t.Logf("page 1 of %d bytes took %.0f bytes", info.Size(), read)
	for _, query := range []string{"/data?limit=20&format=ndjson&fields=v", "/data?limit=20&format=csv&sort=-v", "/data?limit=20&format=csv&filter=id:gte:500000", "/data?limit=5&offset=600000&format=ndjson", "/data?limit=1000&format=ndjson"} {
		for _, feed := range feeds {
			if got, want := get(two, feed+query, 200), get(one, feed+query, 200); got != want {
				t.Errorf("%s is %.200q, want %.200q", query, got, want)
			}
		}
	}
	two.mustStop(t)
	if err := os.RemoveAll(filepath.Join(folder, "two")); err != nil {
		t.Fatal(err)
	}
	damage(t, object, 1000)
	two = replicaIn(t, filepath.Join(folder, "two"), env)
	if text := get(two, feeds[0]+page, 500); !strings.Contains(text, "/problems/file-damaged") || !strings.Contains(text, "version 1 of feed "+feeds[0]) {
		t.Errorf("a damaged range: %s", text)
	}
	if got := get(two, feeds[1]+page, 200); got != want[1] {
		t.Errorf("the other feed: %.200q", got)
	}
}

// manyRows is a CSV file whose values compress badly.
func manyRows(rows, seed int) io.Reader {
	from, to := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(to, 1<<20)
		fmt.Fprintln(w, "id,v,text")
		for i := range rows {
			random := uint64(i+1+seed*rows) * 0x9E3779B97F4A7C15
			fmt.Fprintf(w, "%d,%d,t%x\n", i, random>>20, random*random)
		}
		to.CloseWithError(w.Flush())
	}()
	return from
}

// metric is the value of a metric.
func metric(t *testing.T, p *process, name string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(metricsOf(t, p))
	if m == nil {
		return 0 // until the first request
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// damage changes a byte of a file.
func damage(t *testing.T, file string, at int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0]++
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

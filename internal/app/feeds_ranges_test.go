package app

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet/file"
)

// remoteFile is a file that is read part by part, as DuckDB, pandas and Polars do.
type remoteFile struct {
	*io.SectionReader
	s    *service
	path string
	etag string
}

func (s *service) remote(t *testing.T, path string) *remoteFile {
	t.Helper()
	head := s.send(t, request{method: "HEAD", path: path})
	size, err := strconv.ParseInt(head.header.Get("Content-Length"), 10, 64)
	if head.status != 200 || err != nil || head.header.Get("Accept-Ranges") != "bytes" {
		t.Fatalf("HEAD %s: %d %v", path, head.status, head.header)
	}
	f := &remoteFile{s: s, path: path, etag: head.header.Get("ETag")}
	f.SectionReader = io.NewSectionReader(f, 0, size)
	return f
}

func (f *remoteFile) ReadAt(p []byte, at int64) (int, error) {
	got, err := f.s.try(request{method: "GET", path: f.path, header: [][2]string{{"Range", fmt.Sprintf("bytes=%d-%d", at, at+int64(len(p))-1)}, {"If-Range", f.etag}}})
	if err != nil || got.status != http.StatusPartialContent {
		return 0, fmt.Errorf("%d: %v", got.status, err)
	}
	return copy(p, got.body), nil
}

// columns reads the names of the columns and the number of rows.
func (f *remoteFile) columns(t *testing.T) string {
	t.Helper()
	r, err := file.NewParquetReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for i := range r.MetaData().Schema.NumColumns() {
		names = append(names, r.MetaData().Schema.Column(i).Name())
	}
	return fmt.Sprint(names, r.NumRows())
}

func TestPartsOfParquet(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,name,secret\n1,Ada,x\n2,Bob,y\n")
	feed := "/data_feeds/" + f.ID
	path := feed + "/data?format=parquet"
	kept := len(s.files(t))

	whole := s.send(t, request{method: "GET", path: path})
	remote := s.remote(t, path)
	if whole.header.Get("Content-Length") != strconv.Itoa(len(whole.body)) || remote.Size() != int64(len(whole.body)) || remote.etag != whole.header.Get("ETag") {
		t.Errorf("%v and %d bytes", whole.header, len(whole.body))
	}
	if got := remote.columns(t); got != "[id name secret] 2" || len(s.files(t)) != kept {
		t.Errorf("%s in %v", got, s.files(t))
	}
	size := len(whole.body)
	for _, c := range []struct {
		header string
		status int
		body   string
	}{
		{"bytes=0-3", 206, "PAR1"},
		{"bytes=-4", 206, "PAR1"},
		{fmt.Sprintf("bytes=%d-", size-4), 206, "PAR1"},
		{fmt.Sprintf("bytes=%d-99999999999999999999", size-4), 206, "PAR1"},
		{"bytes=-99999999", 200, whole.body},
		{"bytes=0-1,3-4", 200, whole.body},
		{"bytes=3-1", 200, whole.body},
		{"rows=0-1", 200, whole.body},
		{"bytes=x-1", 200, whole.body},
		{fmt.Sprintf("bytes=%d-", size), 416, ""},
		{"bytes=99999999999999999999-", 416, ""},
		{"bytes=-0", 416, ""},
	} {
		got := s.send(t, request{method: "GET", path: path, header: [][2]string{{"Range", c.header}}})
		if got.status != c.status || c.status != 416 && got.body != c.body {
			t.Errorf("%s: %d %v", c.header, got.status, got.header)
		}
		if c.status == 416 && (got.header.Get("Content-Range") != fmt.Sprintf("bytes */%d", size) || got.header.Get("Content-Type") != "application/problem+json") {
			t.Errorf("%s: %v", c.header, got.header)
		}
	}
	// A part of another file than the one that the client has is of no use.
	if got := s.send(t, request{method: "GET", path: path, header: [][2]string{{"Range", "bytes=0-3"}, {"If-Range", `"other"`}}}); got.status != 200 || got.body != whole.body {
		t.Errorf("another file: %d", got.status)
	}
	if got := s.send(t, request{method: "GET", path: path, header: [][2]string{{"Range", "bytes=0-3"}, {"If-None-Match", remote.etag}}}); got.status != 304 {
		t.Errorf("what is known: %d", got.status)
	}
	for _, other := range []string{feed + "/data?format=csv", path + "&limit=1", path + "&offset=1"} {
		if got := s.send(t, request{method: "GET", path: other, header: [][2]string{{"Range", "bytes=0-3"}}}); got.status != 200 || got.header.Get("Accept-Ranges") != "" {
			t.Errorf("%s: %d %v", other, got.status, got.header)
		}
	}
}

// What does not lie in one file as it is asked for is written to one, once.
func TestPartsOfWhatIsJoined(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,name,secret\n1,Ada,x\n2,Bob,y\n")
	feed := "/data_feeds/" + f.ID
	path := feed + "/data?format=parquet"
	s.put(t, f.ID, "?mode=append", "id,name,secret\n3,Cy,z\n")
	streamed := s.send(t, request{method: "GET", path: path})
	kept := len(s.files(t))
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if got, err := s.try(request{method: "GET", path: path, header: [][2]string{{"Range", "bytes=-4"}}}); err != nil || got.status != 206 || got.body != "PAR1" {
				t.Errorf("%d %s: %v", got.status, got.body, err)
			}
		})
	}
	readers.Wait()
	if now := len(s.files(t)); now != kept+1 {
		t.Errorf("%d files after %d", now, kept)
	}
	remote := s.remote(t, path)
	again := s.send(t, request{method: "GET", path: path})
	if streamed.header.Get("ETag") != remote.etag || streamed.body != again.body || again.header.Get("Content-Length") == "" {
		t.Errorf("the same tag stands for %d and %d bytes", len(streamed.body), len(again.body))
	}
	if got := remote.columns(t); got != "[id name secret] 3" {
		t.Error(got)
	}

	// What columns are called now, and which are to be seen.
	_, link := s.link(t, f.ID, `{"format":"parquet","filter":["id:gt:1"]}`)
	if got := s.send(t, request{method: "PATCH", path: feed + "/columns", body: `[{"id":"c2","name":"who","position":1},{"id":"c3","hidden":true}]`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := s.remote(t, path).columns(t) + s.remote(t, link).columns(t); got != "[who id] 3[who id] 2" {
		t.Error(got)
	}
	if got := s.send(t, request{method: "GET", path: link, key: "-", header: [][2]string{{"Range", "bytes=0-999999"}}}); strings.Contains(got.body, "secret") {
		t.Error("a hidden column is in the file of a link")
	}
	for _, q := range []request{
		{method: "POST", path: link, body: "{}"},
		{method: "GET", path: link, header: [][2]string{{"Range", "bytes=999999-"}}},
		{method: "GET", path: link + "?format=csv"},
		{method: "GET", path: strings.Replace(link, "/links/", "/links/x", 1)},
	} {
		q.key = "-"
		if got := s.send(t, q); got.status < 400 || strings.Contains(got.body, strings.TrimPrefix(link, "/links/")) {
			t.Errorf("%s: %d %s", q.method, got.status, got.body)
		}
	}
	uses := func() string { return s.send(t, request{method: "GET", path: feed + "/links"}).body }
	before := uses()
	for range 100 { // more than a link may be read at once
		if got := s.send(t, request{method: "GET", path: link, key: "-", header: [][2]string{{"Range", "bytes=0-3"}}}); got.status != 206 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if after := uses(); before != after {
		t.Errorf("parts count as readings: %s after %s", after, before)
	}

	// However many ways there are to read a version, few of the files are kept, and none longer
	// than the version.
	for i := range 8 {
		s.remote(t, path+fmt.Sprintf("&filter=id:lt:%d", 10+i))
	}
	exports := 0
	for _, name := range s.files(t) {
		if strings.HasSuffix(name, "-export.parquet") {
			exports++
		}
	}
	if exports != 4 {
		t.Errorf("%d files are kept", exports)
	}
	if got := s.remote(t, path).columns(t); got != "[who id] 3" {
		t.Error(got)
	}
	s.send(t, request{method: "DELETE", path: feed})
	feeds := s.feeds(t)
	if _, err := feeds.Tend(t.Context(), time.Now().Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := feeds.SweepFiles(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	s.deleteUnreferenced(t, 0, 0)
}

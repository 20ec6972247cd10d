package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/publish"
)

// feeds opens the files of a server a second time, to sweep them when a test
// wants it.
func (s *service) feeds(t *testing.T) *feed.Feeds {
	t.Helper()
	blobs, err := blob.Open(filepath.Join(s.app.config.Data, blobFolder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	pool := lake.NewPool(lake.PoolConfig{Temp: t.TempDir()})
	t.Cleanup(pool.Close)
	files := feed.NewVerifiedFiles(feed.NewRecordedFiles(blobs, s.app.store, "test", ""), s.app.store, s.app.log, nil)
	return feed.New(feed.NewFetcher(feed.NewMill(feed.Parts{Blobs: files, Bodies: s.app.store, Log: s.app.log, Reader: lake.NewReader(files, pool)}), nil), feed.Options{Store: s.app.store, Events: publish.SourceEvents})
}

// TestClientThatStops holds that an upload whose client goes away in the middle
// leaves nothing behind.
func TestClientThatStops(t *testing.T) {
	s := start(t, setup{})
	// There is a file for an upload when enough of it has come to tell what it is.
	data := ordersCSV + strings.Repeat("4,Max,1.00,2026-11-04,true\n", 300)
	for name, header := range map[string]string{
		"length":  "Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n",
		"chunks":  fmt.Sprintf("Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", len(data)),
		"a form":  "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n--x\r\nContent-Disposition: form-data; name=a; filename=a.csv\r\n\r\n",
		"gzip":    "Content-Type: text/csv\r\nContent-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n" + gzipped(ordersCSV)[:20],
		"replace": "",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if name == "replace" {
				header = "Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n"
			}
			fmt.Fprintf(conn, "POST /data_feeds?type=dataUpload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n%s",
				adminKey, strings.ReplaceAll(name, " ", ""), header)
			if name != "gzip" {
				io.WriteString(conn, data)
			}
			eventually(t, func() bool { return len(s.files(t)) > 0 || name == "gzip" })
			conn.(*net.TCPConn).CloseWrite()
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				answer.Body.Close()
				if answer.StatusCode != 400 {
					t.Errorf("answered %d", answer.StatusCode)
				}
			}
			eventually(t, func() bool { return len(s.files(t)) == 0 })
		})
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds"}); got.body != "[]" {
		t.Errorf("there are feeds: %s", got.body)
	}
	// The key is free for another try.
	if got := s.sendData(t, "POST", "/data_feeds?type=dataUpload", "text/csv", ordersCSV, [2]string{"Idempotency-Key", "length"}); got.status != 201 {
		t.Errorf("%d: %s", got.status, got.body)
	}
}

// workers are the processes that read for this one.
func workers(t *testing.T) (pids []int) {
	t.Helper()
	children, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(children) == 0 {
		t.Skip("the system does not list children")
	}
	for _, file := range children {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(line), "worker") {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestWorkerThatDies kills the worker in the middle of an answer: the answer
// breaks off so that the client sees it, and the next one is whole.
func TestWorkerThatDies(t *testing.T) {
	s := start(t, setup{})
	const rows = 100_000
	data := bigCSV(rows, strings.Repeat("long ", 20))
	f := s.upload(t, "", "text/csv", data)
	r, err := http.NewRequest("GET", s.url+"/data_feeds/"+f.ID+"/data?format=csv&sort=-word", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for _, pid := range workers(t) {
		// One of a server before this may be about to end.
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	if n, err := io.Copy(io.Discard, answer.Body); err == nil && n < int64(len(data)) {
		t.Errorf("%d bytes of %d look like all", n, len(data))
	}
	if got := s.read(t, f.ID, "&limit=1&fields=n"); got != "{\"n\":0}\n" {
		t.Error(got)
	}
}

// TestSweep holds that what nothing has goes, and nothing else.
func TestSweep(t *testing.T) {
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", ordersCSV)
	root := filepath.Join(s.app.config.Data, blobFolder)
	write := func(names ...string) {
		for _, name := range names {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Files of other programs stay, and those of a store or a backup below this one.
	others := []string{"notes.txt", "below/df_1/rfr_1.parquet", "below/feedmill-store", "private/df_1/x"}
	write(others...)
	kept := s.files(t)
	write("df_1/rfr_1.original", "df_1/rfr_1.parquet", ".tmp/x")
	if err := s.feeds(t).SweepFiles(t.Context(), time.Now().Add(-time.Hour)); err != nil || len(s.files(t)) != len(kept)+3 {
		t.Errorf("%v, and there are %v", err, s.files(t))
	}
	if err := s.feeds(t).SweepFiles(t.Context(), time.Now().Add(time.Hour)); err != nil || len(s.files(t)) != len(kept)+2 {
		t.Errorf("%v, and there are %v", err, s.files(t))
	}
	s.deleteUnreferenced(t, feedmill.KeepUnreferencedFull, len(kept)+2)
	s.deleteUnreferenced(t, 0, len(kept))
	if fmt.Sprint(s.files(t)) != fmt.Sprint(kept) {
		t.Errorf("there are %v", s.files(t))
	}
	if got := s.read(t, f.ID, "&fields=order&limit=1"); got != "{\"order\":1}\n" {
		t.Error(got)
	}
	for _, name := range others {
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	// Of a deleted feed the files stay for a while, and then go.
	s.send(t, request{method: "DELETE", path: "/data_feeds/" + f.ID})
	if _, err := s.feeds(t).ForgetVersions(t.Context(), time.Now()); err != nil || len(s.files(t)) != 2 {
		t.Errorf("%v, and there are %v", err, s.files(t))
	}
	if _, err := s.feeds(t).ForgetVersions(t.Context(), time.Now().Add(2*time.Hour)); err != nil || len(s.files(t)) != 2 {
		t.Errorf("%v, and there are %v", err, s.files(t))
	}
	s.deleteUnreferenced(t, feedmill.KeepUnreferencedFull, 2)
	s.deleteUnreferenced(t, 0, 0)
}

// deleteUnreferenced deletes files that nothing has had for so long, after which so
// many are left.
func (s *service) deleteUnreferenced(t *testing.T, wait time.Duration, left int) {
	t.Helper()
	if _, err := s.feeds(t).DeleteUnreferenced(t.Context(), wait); err != nil || len(s.files(t)) != left {
		t.Errorf("%v, and there are %v", err, s.files(t))
	}
}

// TestFilesElsewhere holds that a feed whose files are not here, such as one that
// another replica has made, is said to be elsewhere, and that no rows are added to it.
func TestFilesElsewhere(t *testing.T) {
	s := start(t, setup{})
	f := s.upload(t, "&mode=append", "text/csv", "a\n1\n")
	path := "/data_feeds/" + f.ID
	folder := filepath.Join(s.app.config.Data, blobFolder, f.ID)
	if err := os.Rename(folder, folder+"-moved"); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]reply{
		"data":    s.send(t, request{method: "GET", path: path + "/data"}),
		"parquet": s.send(t, request{method: "GET", path: path + "/data?format=parquet"}),
		"profile": s.send(t, request{method: "GET", path: path + "/profile"}),
		"append":  s.sendData(t, "PUT", path+"/data", "text/csv", "a\n2\n"),
		"retype":  s.send(t, request{method: "PATCH", path: path + "/columns", body: `[{"id":"c1","type":"text"}]`}),
	} {
		if p := got.problem(t); got.status != 503 || p.Type != "/problems/files-elsewhere" || got.header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for _, query := range []string{"", "?format=csv&limit=1", "?format=parquet", "?filter=a:gt:0&count=true"} {
		if got := s.send(t, request{method: "HEAD", path: path + "/data" + query}); got.status != 503 {
			t.Errorf("HEAD %s: %d, and GET is 503", query, got.status)
		}
	}
	if err := os.RemoveAll(folder); err != nil { // what the refused uploads have made
		t.Fatal(err)
	}
	if err := os.Rename(folder+"-moved", folder); err != nil {
		t.Fatal(err)
	}
	s.sendData(t, "PUT", path+"/data", "text/csv", "a\n2\n")
	if got := s.send(t, request{method: "GET", path: path + "/data"}); strings.TrimSpace(got.body) != "[{\"a\":1},\n{\"a\":2}]" {
		t.Errorf("with its files back the feed has %s", got.body)
	}
}

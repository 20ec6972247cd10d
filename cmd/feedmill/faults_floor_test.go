package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// freeBytes is how much of the disk is free.
func (d *disk) freeBytes(t *testing.T) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.path("."), &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// endless gives text without an end.
type endless struct{ text string }

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	return n, nil
}

// TestDiskFloor has sources and uploads without an end write to a small disk: to the spool,
// the stage and the files. Each ends with no-room and leaves nothing behind. Where there is
// a floor, events are accepted all the time.
func TestDiskFloor(t *testing.T) {
	t.Parallel()
	for name, floor := range map[string]int64{"40MiB": 40 << 20, "0": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fillToFloor(t, name, floor)
		})
	}
}

func fillToFloor(t *testing.T, setting string, floor int64) {
	d := newDisk(t, "96m")
	database := filepath.Join(t.TempDir(), "numbers.db")
	p := d.serve(t, append([]string{"FEEDMILL_MIN_FREE_DISK=" + setting, "FEEDMILL_DATABASE_DIRS=" + filepath.Dir(database)}, onLoopback...)...)
	c := p.client(sharedFirstKey)
	stored, err := c.CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader(csvOfNumbers(1, 1000)), Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	row := `{"id":1,"text":"` + strings.Repeat("abcdefgh", 4000) + `"}`
	page := `{"data":[` + row + strings.Repeat(","+row, 15) + `],"next":"%d"}`
	var pages, lowest atomic.Int64
	lowest.Store(d.freeBytes(t))
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if free := d.freeBytes(t); free < lowest.Load() {
			lowest.Store(free)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, page, pages.Add(1))
	}))
	defer source.Close()
	before := d.freeBytes(t)
	empty := func(what string) {
		t.Helper()
		if floor > 0 {
			must(t, http.StatusAccepted, sharedFirstKey, p.url+"/events", `{"type":"metric.created"}`)
		}
		eventually(t, what+" leaves nothing behind", func() bool { return d.freeBytes(t) > before-4<<20 })
	}
	for what, spec := range map[string]string{
		"paged":  fmt.Sprintf(`{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"at","maxPages":100000}}`, source.URL),
		"staged": fmt.Sprintf(`{"request":{"url":"%s/{{p.id}}"},"response":{"path":"$.data[*]"},"each":{"in":{"feedId":%q},"as":"p"},"pagination":{"kind":"none","maxPages":100000}}`, source.URL, stored.ID),
	} {
		feed, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: []byte(spec), Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the refresh of the "+what+" feed ends", func() bool {
			feed, err = c.DataFeed(t.Context(), feed.ID)
			return err != nil || feed.LastError != nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if feed.LastError == nil || feed.LastError.Type != "/problems/no-room" || strings.Contains(feed.LastError.Detail, "minFreeDisk") != (floor > 0) {
			t.Errorf("the refresh of the %s feed ended with %+v", what, feed.LastError)
		}
		empty(what)
	}
	if floor > 0 && longOr(false, true) {
		if last := queryManyRows(t, p, database); last != "/problems/no-room" {
			t.Errorf("the refresh of a query ended with %s", last)
		}
		empty("query")
	}
	for _, path := range []string{"/data_feeds?type=dataUpload", "/data_feeds/preview?type=dataUpload"} {
		status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+path, map[string]string{"Content-Type": "text/csv"}, io.LimitReader(endless{"1,2,abcdefgh\n"}, 500<<20))
		if status != http.StatusInsufficientStorage || !strings.Contains(answer, "/problems/no-room") {
			t.Errorf("POST %s: %d %.300s, %v", path, status, answer, err)
		}
		empty(path)
	}
	if low := lowest.Load(); low < floor-8<<20 {
		t.Errorf("%d bytes were left, and the floor is %d", low, floor)
	}
	if rows := storedRows(t, p, stored.ID); len(rows) != 1000 {
		t.Errorf("%d rows are read", len(rows))
	}
	t.Logf("%d pages were fetched, and at least %d MiB stayed free", pages.Load(), lowest.Load()>>20)
	p.mustStop(t)
}

// queryManyRows creates a feed from a query of a database with more rows than the disk has
// room for, and returns the type of its last error.
func queryManyRows(t *testing.T, p *process, database string) string {
	t.Helper()
	db, err := sql.Open("sqlite3", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE VIEW numbers AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 16000) SELECT n, hex(randomblob(4096)) AS t FROM c`); err != nil {
		t.Fatal(err)
	}
	must(t, http.StatusCreated, sharedFirstKey, p.url+"/connections", fmt.Sprintf(`{"connector":"sqlite","serviceName":"numbers","config":{"path":%q}}`, database))
	status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+"/data_feeds?type=queryBuilder", map[string]string{"Prefer": "wait=60"},
		strings.NewReader(`{"serviceName":"numbers","viewName":"numbers","query":{"fields":[{"field":"n"},{"field":"t"}]}}`))
	var made struct {
		Data struct{ LastError struct{ Type, Detail string } }
	}
	if err := errors.Join(err, json.Unmarshal([]byte(answer), &made)); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s, %v", status, answer, err)
	}
	if made.Data.LastError.Type != "/problems/no-room" {
		t.Log(answer)
	}
	return made.Data.LastError.Type
}

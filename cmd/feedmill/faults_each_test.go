package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// TestParentsOutliveKills has a feed fetched for many parents and kills the program
// at random moments: what was done is not asked for again, no more than a few are
// asked for at the same time, and the table is the same.
func TestParentsOutliveKills(t *testing.T) {
	t.Parallel()
	parents := longOr(600, 10_000)
	kills := longOr(3, 20)
	var asked, running, most atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		time.Sleep(time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"of":%q,"n":1},{"of":%q,"n":2}]`, r.URL.Path, r.URL.Path)
	}))
	defer api.Close()
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, onLoopback, "--data="+filepath.Join(folder, "data"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	var list strings.Builder
	for i := range parents {
		fmt.Fprintf(&list, "{\"id\":%d}\n", i)
	}
	c := p.client(sharedFirstKey)
	parent, err := c.CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader(list.String()), Format: "ndjson"})
	if err != nil {
		t.Fatal(err)
	}
	spec := fmt.Sprintf(`{"request":{"url":"%s/{{p.id}}"},"each":{"in":{"feedId":%q},"as":"p","include":["id"]},"pagination":{"kind":"none","maxPages":100000}}`, api.URL, parent.ID)
	feed, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: []byte(spec)})
	if err != nil {
		t.Fatal(err)
	}
	for range kills {
		until := asked.Load() + int64(rand.IntN(parents/(kills+1))+1)
		for deadline := time.Now().Add(time.Minute); asked.Load() < until && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		p.kill()
		p = begin()
	}
	defer p.kill()
	c = p.client(sharedFirstKey)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if feed, err = c.DataFeed(t.Context(), feed.ID); err != nil {
			t.Fatal(err)
		}
		if feed.State == "ready" || feed.State == "failed" || time.Now().After(deadline) {
			break
		}
	}
	if feed.State != "ready" || feed.RowCount != int64(2*parents) || feed.Version != 1 {
		t.Fatalf("%s %d rows, version %d: %+v", feed.State, feed.RowCount, feed.Version, feed.LastError)
	}
	rows, err := c.ReadData(t.Context(), feed.ID, client.RowQuery{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(rows)
	if err := errors.Join(err, rows.Close()); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\r\n") {
		if want := fmt.Sprintf("/%d,%d,%d", (i-1)/2, (i-1)%2+1, (i-1)/2); i > 0 && line != want {
			t.Fatalf("row %d is %s, want %s", i, line, want)
		}
	}
	if again := asked.Load() - int64(parents); again > int64(kills*8) || most.Load() > 4+int64(kills) {
		t.Errorf("%d requests were made again, %d at the same time", again, most.Load())
	}
	t.Logf("%d requests for %d parents, at most %d at the same time", asked.Load(), parents, most.Load())
}

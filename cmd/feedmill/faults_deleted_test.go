package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// churn is a source whose records come, change and go while they are read. Deleted records
// are reported by a flag for as long as they are remembered, and are then gone.
type churn struct {
	mu     sync.Mutex
	random *rand.Rand
	clock  int
	// records have the id as their index, and 0 where there is none.
	changed []int
	deleted []bool
}

// step changes some records.
func (c *churn) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range 20 {
		c.clock++
		if id := c.random.IntN(len(c.changed)); c.random.IntN(6) == 0 {
			c.changed[id], c.deleted[id] = 0, false // gone without a trace
		} else {
			c.changed[id], c.deleted[id] = c.clock, c.random.IntN(3) == 0
		}
	}
}

// serve serves pages of 40 records in the order of their changes. Some pages fail.
func (c *churn) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, _ := strconv.Atoi(r.URL.Query().Get("since"))
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	if c.random.IntN(15) == 0 {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	var ids []int
	for id, at := range c.changed {
		if at >= max(since, after+1, 1) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int) int { return c.changed[a] - c.changed[b] })
	next := "null"
	if len(ids) > 40 {
		ids = ids[:40]
		next = strconv.Itoa(c.changed[ids[39]])
	}
	var records []string
	for _, id := range ids {
		records = append(records, fmt.Sprintf(`{"id":%d,"at":%d,"gone":%t}`, id, c.changed[id], c.deleted[id]))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"data":[%s],"next":%s}`, strings.Join(records, ","), next)
}

// rows are what a feed has of the records.
func (c *churn) rows() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var rows []string
	for id, at := range c.changed {
		if at > 0 && !c.deleted[id] {
			rows = append(rows, fmt.Sprintf("%d,%d", id, at))
		}
	}
	return strings.Join(rows, "\r\n")
}

// TestDeletesOutliveKills kills the program while a feed follows a source whose records come
// and go and whose pages fail: after a full fetch the feed has the rows of the source.
//
// On PostgreSQL the lease of a killed run has to end first, which takes half a minute.
func TestDeletesOutliveKills(t *testing.T) {
	if longOr(0, 1) == 1 {
		onBothStores(t, deletesOutliveKills)
		return
	}
	t.Parallel()
	deletesOutliveKills(t, onLoopback)
}

func deletesOutliveKills(t *testing.T, env []string) {
	c := &churn{random: rand.New(rand.NewPCG(rand.Uint64(), 1)), changed: make([]int, 200), deleted: make([]bool, 200)}
	for range 30 {
		c.step()
	}
	source := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(source.Close)
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, env, "--data="+filepath.Join(folder, "data"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"after"},
		"retry":{"maxAttempts":2},"incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"0"},"key":["id"],"deleted":{"flag":"gone"},"fullEvery":"366d"}`, source.URL)
	feed, err := p.client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{Spec: spec, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for range longOr(3, 60) {
		var changing sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		changing.Go(func() {
			for ctx.Err() == nil {
				c.step()
				time.Sleep(20 * time.Millisecond)
			}
		})
		killRefreshing(t, p, feed.ID)
		cancel()
		changing.Wait()
		p = begin()
	}
	defer func() { p.kill() }()
	api := p.client(sharedFirstKey)
	var got string
	settle := func() {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			if feed, err = api.DataFeed(t.Context(), feed.ID); err != nil || time.Now().After(deadline) {
				t.Fatalf("%+v %v", feed, err)
			}
			if feed.State != "refreshing" {
				return
			}
		}
	}
	settle() // what was running when it was killed
	// A full fetch can fail with a page, and then deletes nothing.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if _, err := api.RefreshDataFeed(t.Context(), feed.ID, client.AcceptUnexpected()); err != nil {
			t.Fatal(err)
		}
		settle()
		rows, err := api.ReadData(t.Context(), feed.ID, client.RowQuery{Format: "csv", Fields: "id,at", Sort: "id"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(rows)
		if err := errors.Join(err, rows.Close()); err != nil {
			t.Fatal(err)
		}
		if _, got, _ = strings.Cut(strings.TrimSpace(string(text)), "\r\n"); got == c.rows() {
			return
		}
		if feed.State == "ready" {
			break
		}
	}
	t.Errorf("%s %+v: the feed has\n%s\nand the source\n%s", feed.State, feed.LastError, got, c.rows())
}

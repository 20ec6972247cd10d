package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// onBothStores runs a proof on SQLite and on PostgreSQL. Its argument are the
// settings that a server needs.
func onBothStores(t *testing.T, prove func(t *testing.T, env []string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		prove(t, onLoopback)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		prove(t, append(onPostgres(pgtest.New(t)), onLoopback...))
	})
}

// TestParallelAppendsAndMerges sends many appends and merges to two feeds at the
// same time and kills the server in the middle. Each client repeats its request
// under its Idempotency-Key until it succeeds. No request is refused, and each
// batch is stored exactly once.
func TestParallelAppendsAndMerges(t *testing.T) { onBothStores(t, addInParallel) }

func addInParallel(t *testing.T, env []string) {
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, env, "--data="+filepath.Join(folder, "data"))
		return p.until(t, err)
	}
	p := begin()
	var at atomic.Pointer[string]
	at.Store(&p.url)
	var feeds [2]string
	for i := range feeds {
		status, id, err := upload(p.url, "text/csv", "id,v\n0,0\n")
		if status != http.StatusCreated || err != nil {
			t.Fatal(status, err)
		}
		feeds[i] = id
	}
	modes := [2]string{"?mode=append", "?mode=merge&key=id"}
	var next, done atomic.Int64
	var clients sync.WaitGroup
	batches := int64(longOr(48, 2000))
	for range 12 {
		clients.Go(func() {
			for n := next.Add(1); n <= batches; n = next.Add(1) {
				i := n % 2
				path := "/data_feeds/" + feeds[i] + "/data" + modes[i]
				header := map[string]string{"Content-Type": "text/csv", "Idempotency-Key": fmt.Sprint("batch-", n)}
				body := fmt.Sprintf("id,v\n%d,%d\n%d,%d\n", 2*n, n, 2*n+1, n)
				for began := time.Now(); ; time.Sleep(pause(began)) {
					status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPut, *at.Load()+path, header, strings.NewReader(body))
					if err == nil && status == http.StatusOK {
						break
					}
					if err == nil && status != http.StatusServiceUnavailable || time.Since(began) > patience {
						t.Errorf("batch %d: %d %s, %v", n, status, answer, err)
						return
					}
				}
				done.Add(1)
			}
		})
	}
	for kill := range int64(longOr(2, 40)) {
		eventually(t, "some batches are stored", func() bool { return done.Load() >= (kill+1)*batches/50 || t.Failed() })
		p.kill()
		p = begin()
		at.Store(&p.url)
	}
	clients.Wait()
	for i, feed := range feeds {
		want := []string{"0,0"}
		for n := int64(1); n <= batches; n++ {
			if int(n%2) == i {
				want = append(want, fmt.Sprintf("%d,%d", 2*n, n), fmt.Sprintf("%d,%d", 2*n+1, n))
			}
		}
		if got := storedRows(t, p, feed); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("feed %d has %d rows, want %d: %q", i, len(got), len(want), got)
		}
	}
}

// storedRows are the rows of a feed as lines of CSV, sorted.
func storedRows(t *testing.T, p *process, feed string) []string {
	t.Helper()
	rows, err := p.client(sharedFirstKey).ReadData(t.Context(), feed, client.RowQuery{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	text, err := io.ReadAll(rows)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), "\n")[1:]
	slices.Sort(lines)
	return lines
}

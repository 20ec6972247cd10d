package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestCrashOfBatches kills the program while it sends arrays. Every event arrives, those of a
// resource in their order: the first arrival of one comes after that of the one before. Events
// of an array that failed arrive one by one.
func TestCrashOfBatches(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		crashBatches(t, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		crashBatches(t, onPostgres(pgtest.New(t)))
	})
}

// batchBook notes which events arrived at an endpoint.
type batchBook struct {
	mu      sync.Mutex
	last    map[string]int // the highest number of each resource
	seen    map[string]bool
	arrays  int
	largest int
	refused map[string]int // how often a poisonous event was refused alone
	wrong   []string
}

// take notes an array. It reports whether the endpoint accepts it.
func (b *batchBook) take(r *http.Request, ordered bool) bool {
	var events []struct {
		ResourceID string
		Data       struct {
			N      int
			Poison bool
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := json.NewDecoder(r.Body).Decode(&events); err != nil || !strings.HasPrefix(r.Header.Get("Webhook-Id"), "batch_") {
		b.wrong = append(b.wrong, fmt.Sprint("not an array: ", err, r.Header))
		return false
	}
	b.arrays++
	b.largest = max(b.largest, len(events))
	for _, e := range events {
		if e.Data.Poison && !ordered {
			if len(events) == 1 {
				b.refused[e.ResourceID]++
			}
			return false
		}
	}
	for _, e := range events {
		if last := b.last[e.ResourceID]; ordered && e.Data.N > last+1 {
			b.wrong = append(b.wrong, fmt.Sprintf("%s: %d comes after %d", e.ResourceID, e.Data.N, last))
		}
		b.last[e.ResourceID] = max(b.last[e.ResourceID], e.Data.N)
		b.seen[fmt.Sprint(e.ResourceID, "/", e.Data.N)] = true
	}
	return true
}

func crashBatches(t *testing.T, env []string) {
	books := make(map[string]*batchBook)
	for _, name := range []string{"/ordered", "/free"} {
		books[name] = &batchBook{last: make(map[string]int), seen: make(map[string]bool), refused: make(map[string]int)}
	}
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(5 * time.Millisecond) // so that kills find arrays in flight
		if !books[r.URL.Path].take(r, r.URL.Path == "/ordered") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(sink.Close)
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, append(env, onLoopback...), "--data="+filepath.Join(folder, "data"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	for name := range books {
		p.subscribe(t, fmt.Sprintf(`{"url":"%s%s","events":["metric.*"],"delivery":{"ordered":%v,"retrySchedule":["100ms","100ms"],"disableAfter":"off","batch":{"maxEvents":40,"maxWait":"50ms"}}}`, sink.URL, name, name == "/ordered"))
	}
	const resources, poison = 7, 3
	n := 0
	rounds := longOr(3, 60)
	for round := range rounds {
		for range longOr(8, 20) {
			var events []string
			n++
			for r := range resources {
				events = append(events, fmt.Sprintf(`{"type":"metric.updated","resourceId":"r%d","data":{"n":%d,"poison":%v}}`, r, n, r == poison && n%10 == 1))
			}
			if r, body, err := send(http.MethodPost, p.url+"/events", "["+strings.Join(events, ",")+"]"); err != nil || r.StatusCode != http.StatusAccepted {
				t.Fatalf("publish: %v: %s", err, body)
			}
		}
		if round < rounds-1 {
			time.Sleep(time.Duration(rand.IntN(int(60 * time.Millisecond))))
			p.kill()
			p = begin()
		}
	}
	defer p.kill()
	poisonous := (n + 9) / 10
	for name, book := range books {
		want := resources * n
		if name == "/free" {
			want -= poisonous
		}
		eventually(t, "all events of "+name+" arrive", func() bool {
			book.mu.Lock()
			defer book.mu.Unlock()
			return len(book.seen) == want && len(book.wrong) == 0 || len(book.wrong) > 0
		})
		book.mu.Lock()
		if len(book.wrong) > 0 {
			t.Errorf("%s: %s", name, book.wrong[0])
		}
		if book.largest < 2 || book.largest > 40 {
			t.Errorf("%s: the largest of %d arrays has %d events", name, book.arrays, book.largest)
		}
		t.Logf("%s: %d events in %d arrays of at most %d, poison alone %v", name, len(book.seen), book.arrays, book.largest, book.refused)
		book.mu.Unlock()
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// crashes is how often TestCrash kills the program, FEEDMILL_CRASHES where it
// is set: 'FEEDMILL_CRASHES=200 go test -run TestCrash ./cmd/feedmill' is the
// long form.
func crashes(t *testing.T) int {
	text := os.Getenv("FEEDMILL_CRASHES")
	if text == "" {
		return 4
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCrash publishes from several clients, kills the program at random moments
// and starts it again. Every event that was acknowledged must arrive, and no
// more of them twice than can have been under way at the kills.
func TestCrash(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { crash(t, []string{"FEEDMILL_BOOTSTRAP_KEY=" + sharedFirstKey}, nil) })
	t.Run("postgres", func(t *testing.T) {
		server := pgtest.Start(t, pgtest.Options{Durable: true})
		crash(t, onPostgres(server.URL()), func() {
			server.Stop(t, pgtest.Immediate)
			server.Start(t)
		})
	})
}

// ledger is what was acknowledged and what arrived.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]bool
	arrived      map[string]int
}

func crash(t *testing.T, env []string, breakStore func()) {
	book := &ledger{acknowledged: make(map[string]bool), arrived: make(map[string]int)}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct{ ID string }
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		book.mu.Lock()
		book.arrived[r.URL.Path+" "+event.ID]++
		book.mu.Unlock()
	}))
	defer sink.Close()
	env = append(env, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=error", "FEEDMILL_RETRY_SCHEDULE=100ms,200ms,1s,1s,1s,5s,5s")
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, env, "--data="+filepath.Join(folder, "data"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	p := begin()
	const subscriptions = 3
	for i := range subscriptions {
		body := fmt.Sprintf(`{"url":"%s/%d","events":["metric.*"],"delivery":{"ordered":%v}}`, sink.URL, i, i == 0)
		if status, answer, err := post(p.url+"/events/subscriptions", body); err != nil || status != http.StatusCreated {
			t.Fatalf("subscribing: %d %s, %v", status, answer, err)
		}
	}

	var address atomic.Value
	address.Store(p.url)
	stop := make(chan struct{})
	var publishers sync.WaitGroup
	for range 4 {
		publishers.Go(func() { book.publish(t, &address, stop) })
	}
	kills := crashes(t)
	for i := range kills {
		time.Sleep(time.Duration(rand.IntN(int(400 * time.Millisecond))))
		p.kill()
		if breakStore != nil && i%2 == 1 {
			breakStore()
		}
		p = begin()
		address.Store(p.url)
	}
	close(stop)
	publishers.Wait()
	defer p.kill()

	fewest, since := -1, time.Now()
	for {
		lost, twice := book.state(subscriptions)
		if fewest < 0 || len(lost) < fewest {
			fewest, since = len(lost), time.Now()
		}
		if len(lost) == 0 {
			book.mu.Lock()
			n := len(book.acknowledged)
			book.mu.Unlock()
			// What a kill finds under way is at most what a lane may have,
			// and what waits to be written behind it.
			if most := kills * subscriptions * 1024; n == 0 || twice > most {
				t.Errorf("of %d acknowledged events %d deliveries came twice, at most %d were under way", n, twice, most)
			}
			t.Logf("%d kills, %d events acknowledged, %d deliveries came twice", kills, n, twice)
			return
		}
		if time.Since(since) > patience {
			t.Fatalf("%d acknowledged events do not arrive everywhere, such as %s", len(lost), lost[0])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// publish publishes events one after the other and notes those that are
// acknowledged.
func (b *ledger) publish(t *testing.T, address *atomic.Value, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		status, answer, err := post(address.Load().(string)+"/events", fmt.Sprintf(`{"type":"metric.created","resourceId":"m_%d","data":{"value":1}}`, rand.IntN(100)))
		switch {
		case err != nil:
			time.Sleep(time.Millisecond) // it is down
		case status == http.StatusAccepted:
			var accepted struct{ Accepted []struct{ ID string } }
			if err := json.Unmarshal(answer, &accepted); err != nil {
				t.Error(err)
				return
			}
			b.mu.Lock()
			b.acknowledged[accepted.Accepted[0].ID] = true
			b.mu.Unlock()
		case status != http.StatusServiceUnavailable:
			t.Errorf("publishing: %d %s", status, answer)
			return
		}
	}
}

// state answers the acknowledged events that have not arrived at all
// subscriptions, and how many deliveries have come more than once.
func (b *ledger) state(subscriptions int) (lost []string, twice int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.acknowledged {
		for i := range subscriptions {
			n := b.arrived[fmt.Sprintf("/%d %s", i, id)]
			if n == 0 {
				lost = append(lost, id)
			}
			twice += max(n-1, 0)
		}
	}
	return lost, twice
}

func post(url, body string) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestResumedStreams follows the events of a workspace through many short
// connections, each resumed behind the last event of the one before, while
// clients publish, some events are committed late, and the server is killed. Together the connections bring
// every event that was acknowledged.
func TestResumedStreams(t *testing.T) { onBothStores(t, resumeStreams) }

func resumeStreams(t *testing.T, env []string) {
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, env, "--data="+filepath.Join(folder, "data"))
		return p.until(t, err)
	}
	p := begin()
	var at atomic.Pointer[string]
	at.Store(&p.url)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	acknowledged, seen := make(map[string]bool), make(map[string]bool)
	follower := &follower{since: time.Now().Add(-time.Minute).UTC().Format(feedmill.TimestampFormat), note: func(id string) {
		mu.Lock()
		defer mu.Unlock()
		seen[id] = true
	}}
	missing := func() (ids []string, all int) {
		mu.Lock()
		defer mu.Unlock()
		for id := range acknowledged {
			if !seen[id] {
				ids = append(ids, id)
			}
		}
		return ids, len(acknowledged)
	}

	var reading, publishing sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			follower.read(ctx, *at.Load(), 1+rand.IntN(60))
		}
	})
	eventually(t, "the stream has begun", func() bool { return follower.begun.Load() })
	done := make(chan struct{})
	for client := range 6 {
		publishing.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				ids, err := publishSome(*at.Load(), 1+rand.IntN(5*(client+1)))
				if err != nil {
					time.Sleep(time.Millisecond)
				}
				mu.Lock()
				for _, id := range ids {
					acknowledged[id] = true
				}
				mu.Unlock()
			}
		})
	}
	for range longOr(2, 30) {
		_, before := missing()
		eventually(t, "events are acknowledged", func() bool { _, now := missing(); return now >= before+100 })
		p.kill()
		p = begin()
		at.Store(&p.url)
		late := commitLate(t, env, filepath.Join(folder, "data"), 20*time.Second)
		mu.Lock()
		acknowledged[late] = true
		mu.Unlock()
	}
	close(done)
	publishing.Wait()
	eventually(t, "every acknowledged event comes", func() bool { ids, _ := missing(); return len(ids) == 0 })
	cancel()
	reading.Wait()
	_, all := missing()
	t.Logf("%d events were acknowledged, %d connections brought them", all, follower.connections)
}

// commitLate commits an event so long after it got its id, as a transaction does that waits for others, and
// returns the id.
func commitLate(t *testing.T, env []string, data string, late time.Duration) string {
	t.Helper()
	db, _ := openStore(t, env, data)
	defer db.Close()
	id := string(feedmill.FirstID(feedmill.PrefixEvent, time.Now().Add(-late)))
	_, err := db.ExecContext(t.Context(), `INSERT INTO events (id, workspace_id, publisher_id, type, happened_at, resource_id, source_id, payload)
		SELECT '`+id+`', workspace_id, publisher_id, type, happened_at, resource_id, source_id, payload FROM events ORDER BY id DESC LIMIT 1`)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// publishSome publishes events in one request, and returns the ids of those that
// were acknowledged.
func publishSome(url string, n int) (ids []string, err error) {
	body := "[" + strings.TrimSuffix(strings.Repeat(`{"type":"metric.created","resourceId":"m_1"},`, n), ",") + "]"
	resp, answer, err := send(http.MethodPost, url+"/events", body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusAccepted {
		return nil, fmt.Errorf("%s: %s", resp.Status, answer)
	}
	var accepted struct{ Accepted []struct{ ID string } }
	if err := json.Unmarshal(answer, &accepted); err != nil {
		return nil, err
	}
	for _, e := range accepted.Accepted {
		ids = append(ids, e.ID)
	}
	return ids, nil
}

// follower reads the stream of events, and resumes it.
type follower struct {
	since       string
	note        func(id string)
	begun       atomic.Bool
	last        string
	connections int
}

// read reads so many events that are new since the last one, and closes the
// connection.
func (f *follower) read(ctx context.Context, url string, n int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events/stream?since="+f.since, nil)
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	if f.last != "" {
		r.Header.Set("Last-Event-ID", f.last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		time.Sleep(time.Millisecond)
		return
	}
	defer resp.Body.Close()
	f.connections++
	resumed := f.last
	for lines := bufio.NewScanner(resp.Body); n > 0 && lines.Scan(); {
		f.begun.Store(true)
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			f.note(id)
			if f.last = id; id > resumed {
				n--
			}
		}
	}
}

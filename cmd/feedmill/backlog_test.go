package main

import (
	"context"
	"fmt"
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

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestBacklog starts the server on many deliveries that wait. It is ready at
// once, its memory does not follow their number, and each of the last costs
// about as much to send as each of the first.
func TestBacklog(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := filepath.Join(t.TempDir(), "data")
		workOff(t, data, onLoopback, func() error {
			return changeFile(t.Context(), data, `UPDATE subscriptions SET state = 'active'`)
		}, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		workOff(t, filepath.Join(t.TempDir(), "data"), append(onPostgres(url), onLoopback...), func() error {
			return changeDatabase(t.Context(), url, `UPDATE subscriptions SET state = 'active'`)
		}, func() map[int]time.Duration { return databaseTime(t, url) })
	})
}

// workOff makes a backlog, starts the server on it and follows how it is worked
// off. database, where there is one apart, is how much of the processor its processes
// have used.
func workOff(t *testing.T, data string, env []string, activate func() error, database func() map[int]time.Duration) {
	n := longOr(5_000, 1_000_000)
	var arrived atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer sink.Close()
	p := serve(t, data, env...)
	p.setState(t, p.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"],"delivery":{"concurrency":100}}`, sink.URL)), "paused")
	publishMany(t, p, n)
	p.mustStop(t)
	if err := activate(); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	p = serve(t, data, env...)
	eventually(t, "GET /readyz answers 200", func() bool { return p.status("/readyz") == 200 })
	ready := time.Since(began)
	if most := longOr(patience, 5*time.Second); ready > most {
		t.Errorf("with a backlog of %d it takes %v to be ready, want at most %v", n, ready, most)
	}
	early := p.stretch(t, &arrived, n/10, 3*n/10, database)
	late := p.stretch(t, &arrived, 7*n/10, 9*n/10, database)
	awaitCount(t, &arrived, n)
	t.Logf("backlog of %d: ready after %v; %s; a delivery took first %s, then %s", n, ready, p.memory(t), early, late)
	// On a busy machine many can have arrived before anybody looks: those that are left
	// are too few to compare what they cost.
	if least := n / 10; early.deliveries >= least && late.deliveries >= least {
		for i := range late.processor {
			if late.processor[i] > 2*early.processor[i]+2*early.grain+late.grain {
				t.Errorf("a delivery costs %v of the processor late, %v early", late.processor[i], early.processor[i])
			}
		}
	}
	p.boundMemory(t, 250<<20)
	p.mustStop(t)
}

// publishMany publishes n events, a thousand to a request.
func publishMany(t *testing.T, p *process, n int) {
	t.Helper()
	const step = 1000
	var requests sync.WaitGroup
	var next atomic.Int64
	for range 4 {
		requests.Go(func() {
			for from := int(next.Add(step)) - step; from < n; from = int(next.Add(step)) - step {
				body := new(strings.Builder)
				for i := from; i < min(from+step, n); i++ {
					fmt.Fprintf(body, `,{"type":"metric.created","resourceId":"m_%d","data":{"value":%d,"unit":"orders"}}`, i%1000, i)
				}
				resp, answer, err := send(http.MethodPost, p.url+"/events", "["+body.String()[1:]+"]")
				if err != nil || resp.StatusCode != http.StatusAccepted {
					t.Errorf("publishing: %v %s, %v", resp, answer, err)
					return
				}
			}
		})
	}
	requests.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// cost is what a delivery takes: of the time, and of the processor for the
// server and for the database.
type cost struct {
	deliveries int // that were watched
	time       time.Duration
	processor  [2]time.Duration
	// grain is how much of the processor's time cannot be told apart from none: the
	// clock ticks, and garbage is collected at any time. A thousand deliveries take
	// only a few ticks.
	grain time.Duration
}

func (c cost) String() string {
	return fmt.Sprintf("%v (of the processor %v, and %v for the database; of %d)", c.time, c.processor[0], c.processor[1], c.deliveries)
}

// stretch measures what a delivery costs between two moments, which are when so
// many have arrived.
func (p *process) stretch(t *testing.T, arrived *atomic.Int64, from, to int, database func() map[int]time.Duration) cost {
	t.Helper()
	if database == nil {
		database = func() map[int]time.Duration { return nil }
	}
	measure := func(least int) (int64, time.Time, time.Duration, map[int]time.Duration) {
		awaitCount(t, arrived, least)
		used, err := processorTime(p.cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return arrived.Load(), time.Now(), used, database()
	}
	first, began, server, before := measure(from)
	last, ended, serverThen, after := measure(to)
	var stored time.Duration // by those that are still there
	for pid, used := range after {
		stored += used - before[pid]
	}
	n := time.Duration(max(last-first, 1))
	return cost{
		deliveries: int(last - first),
		time:       ended.Sub(began) / n,
		processor:  [2]time.Duration{(serverThen - server) / n, stored / n},
		grain:      5 * tick / n,
	}
}

// awaitCount waits for so many arrivals, for as long as there are new ones.
func awaitCount(t *testing.T, arrived *atomic.Int64, n int) {
	t.Helper()
	for last, since := arrived.Load(), time.Now(); arrived.Load() < int64(n); time.Sleep(time.Millisecond) {
		if now := arrived.Load(); now > last {
			last, since = now, time.Now()
		} else if time.Since(since) > patience {
			t.Fatalf("nothing has arrived any more after %d of %d deliveries", now, n)
		}
	}
}

// tick is how exactly the processor's time is known.
const tick = 10 * time.Millisecond

// processorTime is how much of the processor a process has used. One that has
// ended is an error.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// Behind the name, in brackets, come the state and ten more numbers.
	_, rest, _ := strings.Cut(string(stat), ") ")
	var sum int
	for _, ticks := range strings.Fields(rest)[11:13] {
		n, err := strconv.Atoi(ticks)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// databaseTime is how much of the processor the connections to a database have
// used, by their processes.
func databaseTime(t *testing.T, url string) map[int]time.Duration {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	rows, err := db.Query(t.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
	if err != nil {
		t.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[int]time.Duration)
	for _, pid := range pids {
		if d, err := processorTime(pid); err == nil { // else it has ended meanwhile
			used[pid] = d
		}
	}
	return used
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// fleet is some replicas on one database, each with a cable of its own to it, and
// what their subscribers have received.
type fleet struct {
	database     *pgtest.Server
	url, address string // of the database
	replicas     []*replica
	sink         *numberedSink
	client       *http.Client
	began        time.Time
	log          func(string, ...any)
	slowest      time.Duration
	peak         int64 // the most memory that a replica had resident
}

type replica struct {
	number  int
	folder  string
	env     []string
	cable   *cable
	process atomic.Pointer[process] // another one after each start, also while events are published
}

const fleetResources = 3

func newFleet(t *testing.T, n int) *fleet {
	t.Helper()
	f := &fleet{
		database: pgtest.Start(t, pgtest.Options{Durable: true}), client: &http.Client{Timeout: 3 * time.Second},
		began: time.Now(), log: t.Logf,
	}
	f.url = f.database.NewDatabase(t)
	at, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	f.address = at.Host
	for range n {
		f.replicas = append(f.replicas, f.newReplica(t))
	}
	f.sink = newNumberedSink(t)
	for i := range longOr(8, 40) {
		f.sink.paths = append(f.sink.paths, fmt.Sprintf("/%s/%d", []string{"ordered", "free"}[i%2], i))
		f.replicas[0].process.Load().subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"],"delivery":{"ordered":%v}}`, f.sink.url+f.sink.paths[i], i%2 == 0))
	}
	return f
}

// newReplica starts another replica.
func (f *fleet) newReplica(t *testing.T) *replica {
	t.Helper()
	r := &replica{number: len(f.replicas), folder: filepath.Join(t.TempDir(), "data"), cable: newCable(t, f.address)}
	r.env = append(onPostgres(strings.Replace(f.url, f.address, r.cable.listener.Addr().String(), 1)), onLoopback...)
	f.start(t, r)
	return r
}

// start starts a replica.
func (f *fleet) start(t *testing.T, r *replica) {
	t.Helper()
	p, err := launch(filepath.Dir(r.folder), r.env, "--data="+r.folder)
	if err != nil {
		t.Fatal(err)
	}
	r.process.Store(p)
	t.Cleanup(p.kill)
}

func (f *fleet) note(format string, values ...any) {
	f.log("%6.1fs: %s", time.Since(f.began).Seconds(), fmt.Sprintf(format, values...))
}

// publish publishes numbered events of several resources, of each one after the
// other, through all replicas in turn, until the returned function is called,
// which returns how many of each were accepted at least. One whose answer is lost
// is published again under the same id.
func (f *fleet) publish(t *testing.T) (stop func() int) {
	end := make(chan struct{})
	var counts [fleetResources]int
	var publishers sync.WaitGroup
	for i := range counts {
		publishers.Go(func() {
			for turn := i; ; turn++ {
				select {
				case <-end:
					return
				case <-time.After(longOr(20*time.Millisecond, 60*time.Millisecond)): // a stream, not a flood
				}
				n := counts[i] + 1
				body := fmt.Sprintf(`{"id":"m_%d-%d","type":"metric.updated","resourceId":"m_%d","data":{"n":%d}}`, i, n, i, n)
				switch status, answer := f.post(f.replicas[turn%len(f.replicas)].process.Load().url, body); status {
				case http.StatusAccepted:
					counts[i] = n
				case 0, http.StatusServiceUnavailable: // another one is asked next
				default:
					t.Errorf("publishing: %d %s", status, answer)
					return
				}
			}
		})
	}
	return func() (n int) {
		close(end)
		publishers.Wait()
		f.sink.mu.Lock()
		defer f.sink.mu.Unlock()
		for i, count := range counts {
			f.sink.wanted[fmt.Sprint("m_", i)] = count
			n += count
		}
		return n
	}
}

// post publishes an event; no answer is the status 0.
func (f *fleet) post(at, body string) (int, []byte) {
	req, err := http.NewRequest(http.MethodPost, at+"/events", strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}

// numberedSink receives numbered events of several resources at several paths.
type numberedSink struct {
	url   string
	paths []string

	mu       sync.Mutex
	seen     map[string]map[string]map[int]int // by path and resource, how often each number came
	last     map[string]int                    // by path and resource, the highest of them
	underWay map[string]int                    // by path and resource
	heardAt  map[string]time.Time              // by path, when the last came
	pause    time.Duration                     // the longest between two of a path
	wanted   map[string]int                    // by resource, how many there are
	repeated int
	disorder []string
}

func newNumberedSink(t *testing.T) *numberedSink {
	t.Helper()
	s := &numberedSink{
		seen: make(map[string]map[string]map[int]int), last: make(map[string]int), wanted: make(map[string]int),
		underWay: make(map[string]int), heardAt: make(map[string]time.Time),
	}
	server := httptest.NewServer(http.HandlerFunc(s.receive))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *numberedSink) receive(_ http.ResponseWriter, r *http.Request) {
	var event struct {
		ResourceID string
		Data       struct{ N int }
	}
	if json.NewDecoder(r.Body).Decode(&event) != nil {
		return // whoever sent it is dead
	}
	path, n := r.URL.Path, event.Data.N
	lane := path + " " + event.ResourceID
	s.mu.Lock()
	if s.underWay[lane]++; s.underWay[lane] > 1 && strings.HasPrefix(path, "/ordered/") {
		s.disorder = append(s.disorder, fmt.Sprintf("%s: number %d comes while another is under way", lane, n))
	}
	if at, ok := s.heardAt[path]; ok {
		s.pause = max(s.pause, time.Since(at))
	}
	s.heardAt[path] = time.Now()
	s.mu.Unlock()
	time.Sleep(3 * time.Millisecond) // long enough to be seen by another
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay[lane]--
	if s.seen[path] == nil {
		s.seen[path] = make(map[string]map[int]int)
	}
	if s.seen[path][event.ResourceID] == nil {
		s.seen[path][event.ResourceID] = make(map[int]int)
	}
	numbers := s.seen[path][event.ResourceID]
	if numbers[n]++; numbers[n] > 1 {
		s.repeated++
	}
	if last := s.last[lane]; strings.HasPrefix(path, "/ordered/") && n != last && n != last+1 {
		s.disorder = append(s.disorder, fmt.Sprintf("%s: number %d comes after %d", lane, n, last))
	}
	s.last[lane] = max(s.last[lane], n)
}

// progress is how many different events have come to each path.
func (s *numberedSink) progress() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make(map[string]int)
	for _, path := range s.paths {
		counts[path] = 0
		for _, numbers := range s.seen[path] {
			counts[path] += len(numbers)
		}
	}
	return counts
}

// complete reports whether all that was published has come to every path; the last
// of each resource may have been accepted without anybody being told.
func (s *numberedSink) complete(published int) bool {
	for _, n := range s.progress() {
		if n < published {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.paths {
		for resource, count := range s.wanted {
			for n := 1; n <= count; n++ {
				if s.seen[path][resource][n] == 0 {
					return false
				}
			}
		}
	}
	return true
}

func (s *numberedSink) repeats() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repeated
}

// check holds what came to its order.
func (s *numberedSink) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.disorder {
		t.Error(text)
	}
}

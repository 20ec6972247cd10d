package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// onLoopback are the settings of a server whose subscribers are this process,
// and whose retries come soon.
var onLoopback = []string{
	"FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=error", "FEEDMILL_BOOTSTRAP_KEY=" + sharedFirstKey,
	"FEEDMILL_RETRY_SCHEDULE=100ms,200ms,1s,1s,1s,5s,5s",
}

// ledger is what was acknowledged and what arrived.
type ledger struct {
	// to is the address of the server that is published to.
	to atomic.Pointer[string]

	mu           sync.Mutex
	acknowledged map[string]bool
	refused      int
	arrived      map[string]int
	// attempts are the attempts that arrived, and resource what each delivery
	// is about.
	attempts map[attempt]int
	resource map[string]string
}

// attempt is an attempt of a delivery. One that comes again was not known to be
// over by who made it.
type attempt struct{ delivery, number string }

func newLedger() *ledger {
	return &ledger{
		acknowledged: make(map[string]bool), arrived: make(map[string]int),
		attempts: make(map[attempt]int), resource: make(map[string]string),
	}
}

// sink is a subscriber that notes what arrives, by path and event.
func (b *ledger) sink(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b.note(t, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// note notes an arrival and returns the delivery: its path and its event.
func (b *ledger) note(t *testing.T, r *http.Request) (delivery string) {
	var event struct{ ID, ResourceID string }
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "" // a server that is killed in the middle of a request sends half of it
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Errorf("%v: %q", err, body)
		return ""
	}
	delivery = r.URL.Path + " " + event.ID
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived[delivery]++
	b.attempts[attempt{delivery, r.Header.Get("X-Service-Attempt")}]++
	b.resource[delivery] = event.ResourceID
	return delivery
}

// repeated are the deliveries of which an attempt came more than once, sorted.
func (b *ledger) repeated() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.repeatedNow()
}

// repeatedNow is repeated for who holds the lock.
func (b *ledger) repeatedNow() (deliveries []string) {
	for a, n := range b.attempts {
		for range n - 1 {
			deliveries = append(deliveries, a.delivery)
		}
	}
	slices.Sort(deliveries)
	return deliveries
}

// repeatsByResource counts the repeated attempts at a path.
func (b *ledger) repeatsByResource(path string) map[string]int {
	b.mu.Lock() // repeats go on arriving
	defer b.mu.Unlock()
	repeats := make(map[string]int)
	for _, delivery := range b.repeatedNow() {
		if strings.HasPrefix(delivery, path+" ") {
			repeats[b.resource[delivery]]++
		}
	}
	return repeats
}

// subscriptions is how many endpoints a ledger's events go to, and orderedPath
// the one that they come to in their order.
const (
	subscriptions = 3
	orderedPath   = "/0"
)

// subscribe makes the subscriptions at a sink, the first of them ordered.
func (b *ledger) subscribe(t *testing.T, p *process, sink *httptest.Server) {
	t.Helper()
	b.to.Store(&p.url)
	for i := range subscriptions {
		p.subscribe(t, fmt.Sprintf(`{"url":"%s/%d","events":["metric.*"],"delivery":{"ordered":%v}}`, sink.URL, i, i == 0))
	}
}

// publish publishes from several clients at once, each event with some data,
// until the returned function is called, which waits for all of them.
func (b *ledger) publish(t *testing.T, data string) (stop func()) {
	end := make(chan struct{})
	var publishers sync.WaitGroup
	for range 4 {
		publishers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if !b.publishOne(t, data) {
					time.Sleep(time.Millisecond) // not all the time against a wall
				}
			}
		})
	}
	return func() {
		close(end)
		publishers.Wait()
	}
}

// publishOne publishes an event and reports whether it was acknowledged. Where
// the server does not take it, it must say so with 503 and when to try again.
func (b *ledger) publishOne(t *testing.T, data string) bool {
	body := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_%d","data":{"value":%q}}`, rand.IntN(100), data)
	resp, answer, err := send(http.MethodPost, *b.to.Load()+"/events", body)
	switch {
	case err != nil:
		return false // it is down, or was killed before its answer
	case resp.StatusCode == http.StatusAccepted:
		var accepted struct{ Accepted []struct{ ID string } }
		if err := json.Unmarshal(answer, &accepted); err != nil || len(accepted.Accepted) != 1 {
			t.Errorf("publishing is answered with %s", answer)
			return false
		}
		b.mu.Lock()
		b.acknowledged[accepted.Accepted[0].ID] = true
		b.mu.Unlock()
		return true
	case resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "":
		t.Errorf("publishing: %d %v %s", resp.StatusCode, resp.Header, answer)
	}
	b.mu.Lock()
	b.refused++
	b.mu.Unlock()
	return false
}

// counts returns how many events were acknowledged and how many refused.
func (b *ledger) counts() (acknowledged, refused int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.acknowledged), b.refused
}

// awaitAcknowledged waits until n more events are acknowledged.
func (b *ledger) awaitAcknowledged(t *testing.T, n int) {
	t.Helper()
	before, _ := b.counts()
	eventually(t, fmt.Sprintf("%d events are acknowledged", n), func() bool {
		now, _ := b.counts()
		return now >= before+n
	})
}

// awaitRefused waits until n more events are refused.
func (b *ledger) awaitRefused(t *testing.T, n int) {
	t.Helper()
	_, before := b.counts()
	eventually(t, fmt.Sprintf("%d events are refused", n), func() bool {
		_, now := b.counts()
		return now >= before+n
	})
}

// awaitAll waits until all that was acknowledged has arrived everywhere, and
// returns how many events that were and how many deliveries came repeatedly.
func (b *ledger) awaitAll(t *testing.T) (acknowledged, twice int) {
	t.Helper()
	fewest, since := -1, time.Now()
	for {
		lost, twice := b.state()
		if fewest < 0 || len(lost) < fewest {
			fewest, since = len(lost), time.Now()
		}
		if len(lost) == 0 {
			acknowledged, _ := b.counts()
			if acknowledged == 0 {
				t.Error("no event was acknowledged")
			}
			return acknowledged, twice
		}
		if time.Since(since) > patience {
			t.Fatalf("%d acknowledged events do not arrive everywhere, such as %s", len(lost), lost[0])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// state returns the acknowledged events that have not arrived at all
// subscriptions, and how many deliveries have come more than once.
func (b *ledger) state() (lost []string, twice int) {
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

// send makes a request with the first key that the servers of a test share.
func send(method, url, body string) (*http.Response, []byte, error) {
	return sendAs(sharedFirstKey, method, url, body)
}

func sendAs(key, method, url, body string) (*http.Response, []byte, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp, answer, err
}

// status is the status of a GET, 0 where no answer came.
func (p *process) status(path string) int {
	resp, _, err := send(http.MethodGet, p.url+path, "")
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

// subscribe makes a subscription and returns its id.
func (p *process) subscribe(t *testing.T, body string) string {
	t.Helper()
	resp, answer, err := send(http.MethodPost, p.url+"/events/subscriptions", body)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("subscribing: %v %s, %v", resp, answer, err)
	}
	var made struct{ Data struct{ ID string } }
	if err := json.Unmarshal(answer, &made); err != nil {
		t.Fatal(err)
	}
	return made.Data.ID
}

// setState pauses a subscription or lets it go on.
func (p *process) setState(t *testing.T, id, state string) {
	t.Helper()
	resp, answer, err := send(http.MethodPatch, p.url+"/events/subscriptions/"+id, fmt.Sprintf(`{"state":%q}`, state))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("making a subscription %s: %v %s, %v", state, resp, answer, err)
	}
}

// subscriptionIDs lists the subscriptions.
func (p *process) subscriptionIDs(t *testing.T) (ids []string) {
	t.Helper()
	_, answer, err := send(http.MethodGet, p.url+"/events/subscriptions", "")
	var list []struct{ ID string }
	if err == nil {
		err = json.Unmarshal(answer, &list)
	}
	if err != nil {
		t.Fatalf("listing subscriptions: %v: %s", err, answer)
	}
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// eventually asks until done says yes. Its bound ends a test that hangs, and is
// far beyond what any machine needs.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(pause(began)) {
		if time.Since(began) > patience {
			t.Fatalf("waiting for this was in vain: %s", what)
		}
	}
}

// pause is how long to wait before looking again for what has been awaited since some
// time: the longer it takes anyway, the less it matters to see it at once, and looking
// costs time that others need.
func pause(since time.Time) time.Duration {
	return min(max(time.Since(since)/20, 5*time.Millisecond), 250*time.Millisecond)
}

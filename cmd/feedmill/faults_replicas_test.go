package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestReplicaDies publishes through two replicas and kills one of them in the
// middle. The other one takes over its subscriptions, nothing is lost, what is
// ordered stays in order for each resource, and a rate limit holds over the two
// as it does over one.
func TestReplicaDies(t *testing.T) {
	t.Parallel()
	c := newPair(t)
	const limited = 100
	c.publishLimited(t, limited)
	stop := c.publishOrdered(t)
	eventually(t, "some of what is limited arrives", func() bool { return c.receipts() >= 30 })

	before := c.receipts()
	killed := time.Now()
	c.victim.kill()
	eventually(t, "the other replica goes on with what the dead one sent", func() bool { return c.receipts() > before+5 })
	took := time.Since(killed)
	if most := longOr(patience, 30*time.Second); took > most {
		t.Errorf("the other replica has taken over after %v, want at most %v", took, most)
	}
	published := stop()
	eventually(t, "all that is limited has arrived", func() bool { return c.kinds() == limited })
	eventually(t, "all that is ordered has arrived", func() bool { return c.arrived() == published*len(c.ordered) })
	c.checkRate(t)
	t.Logf("taken over after %v; %d ordered events to %d subscriptions, %d repeated; %d receipts of %d limited ones",
		took, published, len(c.ordered), c.repeats(), c.receipts(), limited)
	c.survivor.mustStop(t)
}

// limitedRate is how many deliveries a second the limited subscription allows.
const limitedRate = 10

// pair is two replicas with half of the slots each, and what their subscribers
// have received.
type pair struct {
	victim, survivor *process
	ordered          []string

	mu       sync.Mutex
	last     map[string]int // by subscription and resource, the last number
	repeated int
	limited  []int64 // when they were sent, in seconds
	seen     map[string]bool
}

func newPair(t *testing.T) *pair {
	t.Helper()
	c := &pair{last: make(map[string]int), seen: make(map[string]bool)}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { c.receive(t, r) }))
	t.Cleanup(sink.Close)
	url := pgtest.New(t)
	env := append(onPostgres(url), onLoopback...)
	data := []string{filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "data")}
	c.survivor, c.victim = serve(t, data[0], env...), serve(t, data[1], env...)
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	var names [2]string
	for i := range data {
		name, err := os.ReadFile(filepath.Join(data[i], "replica"))
		if err != nil {
			t.Fatal(err)
		}
		names[i] = string(name)
	}
	owner := func(subscription string) (name string) {
		err := db.QueryRow(t.Context(), `SELECT coalesce(owner, '') FROM slots WHERE slot = $1`, feedmill.Slot(feedmill.ID(subscription))).Scan(&name)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	eventually(t, "both replicas have half of the slots", func() bool {
		var n int
		err := db.QueryRow(t.Context(), `SELECT count(*) FROM slots WHERE owner = $1`, names[1]).Scan(&n)
		return err == nil && n == feedmill.Slots/2
	})

	// Each owns an ordered subscription, and the victim the limited one.
	for _, name := range names {
		path := fmt.Sprintf("/ordered/%d", len(c.ordered))
		c.subscribeOwned(t, name, owner, fmt.Sprintf(`{"url":%q,"events":["metric.*"],"delivery":{"ordered":true}}`, sink.URL+path))
		c.ordered = append(c.ordered, path)
	}
	c.subscribeOwned(t, names[1], owner,
		fmt.Sprintf(`{"url":%q,"events":["tag.*"],"delivery":{"rateLimit":{"requests":%d,"per":"1s"}}}`, sink.URL+"/limited", limitedRate))
	return c
}

// subscribeOwned makes a subscription that a replica sends for: it makes one
// after the other until one falls into the replica's share.
func (c *pair) subscribeOwned(t *testing.T, replica string, owner func(string) string, body string) {
	t.Helper()
	for {
		id := c.survivor.subscribe(t, body)
		if owner(id) == replica {
			return
		}
		resp, answer, err := send(http.MethodDelete, c.survivor.url+"/events/subscriptions/"+id, "")
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatalf("deleting a subscription: %v %s, %v", resp, answer, err)
		}
	}
}

func (c *pair) receive(t *testing.T, r *http.Request) {
	var event struct {
		ID, ResourceID string
		Data           struct{ N int }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever sent it is dead
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/limited" {
		sent, err := strconv.ParseInt(r.Header.Get("webhook-timestamp"), 10, 64)
		if err != nil {
			t.Error(err)
		}
		c.limited = append(c.limited, sent)
		c.seen[event.ID] = true
		return
	}
	lane := r.URL.Path + " " + event.ResourceID
	switch last := c.last[lane]; event.Data.N {
	case last + 1:
		c.last[lane]++
	case last:
		c.repeated++
	default:
		t.Errorf("%s: number %d comes after %d", lane, event.Data.N, last)
	}
}

func (c *pair) receipts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.limited)
}

// repeats is how many ordered deliveries came again so far.
func (c *pair) repeats() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.repeated
}

// kinds is how many different events have come to the limited subscription.
func (c *pair) kinds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// arrived is how many ordered deliveries have arrived, repeated ones not counted.
func (c *pair) arrived() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, last := range c.last {
		n += last
	}
	return n
}

// publishLimited publishes what the limited subscription is for.
func (c *pair) publishLimited(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		p := []*process{c.victim, c.survivor}[i%2]
		resp, answer, err := send(http.MethodPost, p.url+"/events", `{"type":"tag.created","resourceId":"t_1"}`)
		if err != nil || resp.StatusCode != http.StatusAccepted {
			t.Fatalf("publishing: %v %s, %v", resp, answer, err)
		}
	}
}

// publishOrdered publishes numbered events of several resources, of each one
// after the other and through both replicas in turn, until the returned function
// is called, which returns how many. An event whose answer is lost is published
// again under the same id.
func (c *pair) publishOrdered(t *testing.T) (stop func() int) {
	const resources = 4
	end := make(chan struct{})
	var counts [resources]int
	var publishers sync.WaitGroup
	for i := range resources {
		publishers.Go(func() {
			for turn, known := 0, true; ; turn++ {
				select {
				case <-end:
					if known {
						return
					}
				case <-time.After(longOr(50*time.Millisecond, 10*time.Millisecond)): // a stream, not a flood
				}
				n := counts[i] + 1
				known = false
				body := fmt.Sprintf(`{"id":"m_%d-%d","type":"metric.updated","resourceId":"m_%d","data":{"n":%d}}`, i, n, i, n)
				resp, answer, err := send(http.MethodPost, []*process{c.victim, c.survivor}[turn%2].url+"/events", body)
				switch {
				case err != nil: // the other one is asked next
				case resp.StatusCode == http.StatusAccepted:
					counts[i], known = n, true
				case resp.StatusCode != http.StatusServiceUnavailable:
					t.Errorf("publishing: %v %s", resp, answer)
					return
				}
			}
		})
	}
	return func() (n int) {
		close(end)
		publishers.Wait()
		for _, count := range counts {
			n += count
		}
		return n
	}
}

// checkRate holds the deliveries of the limited subscription to its rate, over
// any stretch of time, by when the senders say that they sent them. On a busy
// machine that is a moment after their turn, for some and not for others.
func (c *pair) checkRate(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.limited)
	const burst, late = 1, limitedRate / 2
	for i, from := range c.limited {
		for j, to := range c.limited[i:] {
			if most := burst + late + limitedRate*(to-from+1); int64(j+1) > most {
				t.Fatalf("%d deliveries were sent within %d seconds, at most %d may be", j+1, to-from+1, most)
			}
		}
	}
}

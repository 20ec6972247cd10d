// Package brokertest proves that destinations lose nothing while their broker goes away and
// comes back.
package brokertest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// Proof is what a proof needs of a destination.
type Proof struct {
	Endpoint feedmill.Endpoint
	// Cut interrupts the broker, and returns when it is back.
	Cut func(t *testing.T)
	// Cuts is how often, in the short form; 0 means 3.
	Cuts int
	// Stored returns the payloads that the broker has, in the order in which it has those of
	// each resource.
	Stored func(t *testing.T) [][]byte
}

// lanes is how many resources there are. One message of each is in flight.
const lanes = 32

// payload is what a message says of itself.
type payload struct {
	Lane   int `json:"lane"`
	Number int `json:"number"`
}

// Message returns a message with a payload and all headers of a delivery.
func Message(resource string, body []byte) feedmill.Message {
	id := feedmill.NewID(feedmill.PrefixDelivery)
	return feedmill.Message{
		Delivery: id, Event: feedmill.NewID(feedmill.PrefixEvent), Type: "metric.created", ResourceID: resource, Payload: body,
		Attempt: 1, At: time.Now(), Timeout: 10 * time.Second,
		Header: [][2]string{
			{"Content-Type", "application/json"},
			{"User-Agent", "Feedmill/1.0.0"},
			{"X-Service-Event", "metric.created"},
			{"X-Service-Delivery", string(id)},
			{"X-Service-Attempt", "1"},
			{"X-Service-Signature", "5d1b3c"},
			{"Webhook-Id", string(id)},
			{"Webhook-Timestamp", "1794744000"},
			{"Webhook-Signature", "v1,ZkJ0c3Vw="},
		},
	}
}

// Run sends 2,000 messages and cuts the broker a few times, or 50,000 and 20 times with
// FEEDMILL_LONG. None may be lost, no more may be doubled than were in flight at the cuts,
// and those of a resource must be in order.
func (p Proof) Run(t *testing.T) {
	each, cuts := 2000/lanes, cmp.Or(p.Cuts, 3)
	if os.Getenv("FEEDMILL_LONG") != "" {
		each, cuts = 50_000/lanes, 20
	}
	var delivered, attempts atomic.Int64
	var all sync.WaitGroup
	for lane := range lanes {
		all.Go(func() {
			for n := range each {
				body, err := json.Marshal(payload{lane, n})
				if err != nil {
					t.Error(err)
					return
				}
				if !p.deliver(t, Message("r"+strconv.Itoa(lane), body), &attempts) {
					return
				}
				delivered.Add(1)
			}
		})
	}
	total := int64(lanes * each)
	for cut := range cuts {
		for at := total * int64(cut+1) / int64(cuts+1); delivered.Load() < at && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		p.Cut(t)
	}
	all.Wait()
	if t.Failed() {
		return
	}
	doubled := check(t, p.Stored(t), each)
	t.Logf("%d messages with %d attempts and %d cuts; %d doubled", total, attempts.Load(), cuts, doubled)
	if doubled > cuts*lanes {
		t.Errorf("%d messages are doubled; at most %d were in flight at each of %d cuts", doubled, lanes, cuts)
	}
}

// deliver repeats a message until it is delivered.
func (p Proof) deliver(t *testing.T, m feedmill.Message, attempts *atomic.Int64) bool {
	for end := time.Now().Add(5 * time.Minute); ; m.Attempt++ {
		attempts.Add(1)
		r := p.Endpoint.Send(context.Background(), m)
		switch {
		case r.Delivered():
			return true
		case r.Verdict == feedmill.VerdictRejected, time.Now().After(end):
			t.Errorf("attempt %d: %+v", m.Attempt, r)
			return false
		}
		// Wait longer each time, as a retry does, so that a broker that starts is not flooded.
		time.Sleep(min(5*time.Millisecond<<min(m.Attempt, 6), 250*time.Millisecond))
	}
}

// check compares what a broker has with what was sent, and returns how many are doubled.
func check(t *testing.T, stored [][]byte, each int) (doubled int) {
	var next [lanes]int
	for _, body := range stored {
		var got payload
		if err := json.Unmarshal(body, &got); err != nil || got.Lane >= lanes {
			t.Fatalf("the broker has %q: %v", body, err)
		}
		switch want := next[got.Lane]; {
		case got.Number == want:
			next[got.Lane]++
		case got.Number == want-1:
			doubled++
		default:
			t.Fatalf("resource %d: message %d is stored after %d", got.Lane, got.Number, want-1)
		}
	}
	for lane, n := range next {
		if n != each {
			t.Errorf("resource %d has %d messages, want %d", lane, n, each)
		}
	}
	return doubled
}

// Subscription is one with a destination.
func Subscription(kind feedmill.DestinationKind, url string) feedmill.Subscription {
	return feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: feedmill.NewID(feedmill.PrefixWorkspace),
		Destination: feedmill.Destination{Kind: kind, URL: url},
	}
}

// opener is a kind that opens endpoints.
type opener interface {
	Name() feedmill.DestinationKind
	Open(feedmill.Subscription, []byte) (feedmill.Endpoint, error)
}

// Open opens the endpoint of a URL with credentials, given as JSON.
func Open(t *testing.T, kind opener, url, credentials string) feedmill.Endpoint {
	t.Helper()
	e, err := kind.Open(Subscription(kind.Name(), url), []byte(credentials))
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", url, err))
	}
	return e
}

package deliver

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// offerSized offers deliveries of a workspace, each with a payload so large that
// it takes so many bytes, and returns how many are queued.
func (b *backlog) offerSized(workspace feedmill.ID, n, size int) int {
	payload := make([]byte, size-itemBytes-eventOverhead)
	for i := range n {
		d := delivery(i + 1)
		d.Workspace, d.Payload = workspace, payload
		d.Event = feedmill.ID(string(workspace)) + d.Event + feedmill.ID(strings.Repeat("x", len(b.memory.events)))
		b.offer(d, true)
	}
	return len(b.queue)
}

func newBacklogs(m *memory, n int) (all []*backlog) {
	for range n {
		all = append(all, new(newBacklog(m)))
	}
	return all
}

func TestMemoryIsBounded(t *testing.T) {
	m := new(newMemory(100, 40))
	for i, want := range []int{40, 40, 40} { // the last takes the place of another
		b := new(newBacklog(m))
		b.offerAll(deliveries(1, 60))
		if len(b.queue) != want || b.rest != unread || b.readFrom != deliveryID(want) {
			t.Errorf("lane %d has %d queued, want %d, and reads on from %q", i, len(b.queue), want, b.readFrom)
		}
	}
	if m.queued != 80 || len(m.events) != 40 || m.bytes() != 80*itemBytes+40*(eventOverhead+2) {
		t.Errorf("%d are queued, of %d events, in %d bytes", m.queued, len(m.events), m.bytes())
	}
	small := testBacklog(100, 5)
	if small.offerAll(deliveries(1, 60)); len(small.queue) != 5 {
		t.Errorf("a lane of 5 has %d queued", len(small.queue))
	}
}

// The bound holds whatever the payloads are and however many lanes there are.
func TestMemoryIsBoundedInBytes(t *testing.T) {
	for _, size := range []int{1000, 250_000, 1 << 20} {
		m := new(newMemory(1_000_000, 10_000))
		for range 300 {
			new(newBacklog(m)).offerSized("ws", 32, size)
			if m.isOver() {
				t.Fatalf("%d bytes wait", m.bytes())
			}
		}
		if least := m.maxBytes - size; m.bytes() < min(least, 300*32*size)*9/10 {
			t.Errorf("of %d bytes each only %d wait", size, m.bytes())
		}
	}
}

// Payloads count once, however many wait for them.
func TestPayloadsCountOnce(t *testing.T) {
	m := new(newMemory(10_000, 10_000))
	one, two := newBacklog(m), newBacklog(m)
	payload := []byte(strings.Repeat("x", 1<<20))
	for n := range 40 {
		d := delivery(n + 1)
		d.Payload = payload
		one.offer(d, true)
		two.offer(d, true)
	}
	if len(one.queue) != 40 || len(two.queue) != 40 || m.isOver() {
		t.Errorf("%d and %d wait", len(one.queue), len(two.queue))
	}
	one.pop() // whose event the other lane has too
	two.dropQueue()
	if want := 39*(len(payload)+eventOverhead) + 39*itemBytes; m.bytes() != want || m.queued != 39 {
		t.Errorf("%d bytes of %d deliveries are left, want %d of 39", m.bytes(), m.queued, want)
	}
	one.dropQueue()
	if m.bytes() != 0 || m.queued != 0 || len(m.events) != 0 || len(m.portions) != 0 {
		t.Errorf("%+v is left", m)
	}
}

// Who has more than a share makes room for who has less, within a workspace and
// between them.
func TestMemoryIsShared(t *testing.T) {
	for name, workspaces := range map[string][2]feedmill.ID{"lanes": {"a", "a"}, "workspaces": {"a", "b"}} {
		m := new(newMemory(1_000_000, 100_000))
		greedy := new(newBacklog(m))
		if n := greedy.offerSized(workspaces[0], 200, 1<<20); n != 48 {
			t.Errorf("%s: the first has %d queued of the 48 that there is room for", name, n)
		}
		modest := new(newBacklog(m))
		if n := modest.offerSized(workspaces[1], 10, 1<<20); n != 10 {
			t.Errorf("%s: the second has %d queued of 10", name, n)
		}
		if greedy.rest != unread || greedy.readFrom != "" {
			t.Errorf("%s: what the first let go of is not read again", name)
		}
	}
}

// A workspace with many lanes has no more than one with a single lane.
func TestWorkspacesHaveEqualShares(t *testing.T) {
	m := new(newMemory(1_000_000, 100_000))
	many := newBacklogs(m, 100)
	for _, b := range many {
		b.offerSized("many", 10, 1<<18)
	}
	single := new(newBacklog(m))
	if n := single.offerSized("single", 90, 1<<18); n < 70 {
		t.Errorf("it has %d queued of 90, which are less than half", n)
	}
}

// With many lanes, large payloads and slow endpoints, each lane goes on, and no
// more waits than may.
func TestEveryLaneGoesOnWithoutRoom(t *testing.T) {
	const lanes, each = 300, 3
	var most atomic.Int64
	var h *harness
	to := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		h.dispatcher.mu.Lock()
		most.Store(max(most.Load(), int64(h.dispatcher.memory.bytes())))
		h.dispatcher.mu.Unlock()
		time.Sleep(time.Second)
		return answered200
	}
	runDispatcher(t, Options{MaxInFlight: 64}, to, func(made *harness) {
		h = made
		h.dispatcher.mu.Lock()
		h.dispatcher.memory.maxBytes = 100_000
		h.dispatcher.attempts.max.bytes = 100_000 + 8*attemptBytes
		h.dispatcher.mu.Unlock()
		var subs []feedmill.ID
		for range lanes {
			subs = append(subs, h.subscribe(feedmill.DeliverySettings{Concurrency: 2}))
		}
		for range each {
			h.dispatcher.Offer(h.acceptPayload("", strings.Repeat("x", 10_000)))
		}
		time.Sleep(time.Hour)
		for _, sub := range subs {
			if n := h.sentTo(sub); n != each {
				h.Fatalf("%d of %d were sent to a lane", n, each)
			}
		}
		if n := most.Load(); n > 100_000+maxReadBytes/feedmill.MaxPayloadBytes*20_000 {
			h.Errorf("%d bytes waited at once", n)
		}
	})
}

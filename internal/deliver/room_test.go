package deliver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// These tests fill the memory of what waits, and see to it that lanes go on without
// reading the store over and over. No poll hides what was forgotten.
var noPolls = Options{PollEvery: 10 * time.Hour, TargetAge: 10 * time.Hour}

// only makes a subscription hear of events of one type.
func only(kind string) func(*feedmill.Subscription) {
	return func(s *feedmill.Subscription) { s.Events = []string{kind} }
}

// offerSized accepts an event of a type with a payload of so many bytes, and offers it.
func (h *harness) offerSized(kind, resource string, size int) {
	h.Helper()
	e := h.newEvent(resource, strings.Repeat("x", size))
	e.Type = kind
	h.dispatcher.Offer(h.acceptEvents(e))
}

// bound sets how many bytes may wait, and be under way.
func (h *harness) bound(waiting, underWay int) {
	h.dispatcher.mu.Lock()
	defer h.dispatcher.mu.Unlock()
	h.dispatcher.memory.maxBytes, h.dispatcher.attempts.max.bytes = waiting, underWay
}

// holdRoom makes a delivery of so many bytes wait in memory for a day. There is no
// other behind it, so nobody can make it let go.
func (h *harness) holdRoom(size int) feedmill.ID {
	h.Helper()
	sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: 24 * time.Hour}, only("metric.held"))
	for range 2 { // the first is sent
		h.offerSized("metric.held", "held", size)
		time.Sleep(time.Second)
	}
	return sub
}

// hangsOr hangs for an hour where the type says so, and else takes its time.
func hangsOr(d time.Duration) endpoint {
	return func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		if m.Type == "metric.hangs" {
			time.Sleep(time.Hour)
		} else {
			time.Sleep(d)
		}
		return answered200
	}
}

// A lane that has as many in memory as it may is not read over and over for what did
// not fit.
func TestAFullLaneIsNotRead(t *testing.T) {
	runDispatcher(t, Options{MaxLane: 8, PollEvery: noPolls.PollEvery, TargetAge: noPolls.TargetAge}, slow(time.Minute), func(h *harness) {
		h.store.readTakes = 100 * time.Millisecond
		h.subscribe(feedmill.DeliverySettings{Ordered: true, Concurrency: 1})
		const each = 10
		resources := []string{"a", "b", "c"} // the first fills the lane, but for one
		for _, resource := range resources {
			h.dispatcher.Offer(h.accept(each, resource))
			time.Sleep(time.Second)
		}
		all := each * len(resources)
		time.Sleep(time.Duration(all) * time.Minute)
		if n := h.sentSince(time.Time{}); n != all {
			h.Errorf("%d of %d were sent", n, all)
		}
		if n := h.store.reads.Load(); n > 2*int64(all) {
			h.Errorf("the store was read %d times for %d deliveries", n, all)
		}
	})
}

// Nor is one for a delivery that is larger than there is room for, and than those
// before it were.
func TestALargeDeliveryIsNotReadOverAndOver(t *testing.T) {
	for name, ordered := range map[string]bool{"in order": true, "in any order": false} {
		t.Run(name, func(t *testing.T) {
			runDispatcher(t, noPolls, slow(time.Minute), func(h *harness) {
				h.store.readTakes = 100 * time.Millisecond
				h.bound(100_000, maxUnderWayBytes)
				h.holdRoom(60_000)
				sub := h.subscribe(feedmill.DeliverySettings{Ordered: ordered, Concurrency: 1})
				const small = 20
				for i := range small {
					h.dispatcher.Offer(h.accept(1, fmt.Sprint("small ", i)))
				}
				time.Sleep(time.Second)
				h.dispatcher.Offer(h.acceptPayload("large", strings.Repeat("x", 45_000)))
				time.Sleep((small + 2) * time.Minute)
				if n := h.sentTo(sub); n != small+1 {
					h.Errorf("%d of %d were sent", n, small+1)
				}
				if n := h.store.reads.Load(); n > 5*small {
					h.Errorf("the store was read %d times for %d deliveries", n, small+1)
				}
			})
		})
	}
}

// Nor one that is read past the bound and finds no room to be sent.
func TestALargeSingleIsNotReadOverAndOver(t *testing.T) {
	runDispatcher(t, noPolls, hangsOr(time.Second), func(h *harness) {
		h.store.readTakes = 100 * time.Millisecond
		h.bound(100_000, 1_000_000)
		h.holdRoom(99_500)
		h.subscribe(feedmill.DeliverySettings{}, only("metric.hangs"))
		h.subscribe(feedmill.DeliverySettings{}, only("metric.mine"))
		for range 40 { // so small ones are expected
			h.offerSized("metric.mine", "r", 10)
			time.Sleep(2 * time.Second)
		}
		h.offerSized("metric.hangs", "r", 300_000)
		time.Sleep(time.Second)
		before := h.store.reads.Load()
		h.dispatcher.mu.Lock()
		room := 1_000_000 - 2*h.dispatcher.attempts.used.bytes
		h.dispatcher.mu.Unlock()
		h.offerSized("metric.mine", "r", room-attemptBytes-eventOverhead+50)
		time.Sleep(time.Minute)
		if n := h.store.reads.Load() - before; n > 3 {
			h.Errorf("the store was read %d times for one delivery", n)
		}
	})
}

// A lane that lets go of its own queue to make room reads all of it again.
func TestALaneThatMakesRoomOfItsOwn(t *testing.T) {
	runDispatcher(t, noPolls, slow(time.Minute), func(h *harness) {
		h.bound(100_000, maxUnderWayBytes)
		h.holdRoom(60_000)
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 1}, only("metric.small"))
		const all = 30
		for i := range all {
			h.offerSized("metric.small", fmt.Sprint(i), 2000)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * all * time.Minute)
		if n := h.sentTo(sub); n != all {
			h.Errorf("%d of %d were sent", n, all)
		}
	})
}

// Another replica may lift a limit, and the signal that says so may be lost. It is seen
// within seconds, whether there is room or not.
func TestALiftedLimitIsSeenWithoutRoom(t *testing.T) {
	for name, size := range map[string]int{"with room": 1000, "without room": 98_000} {
		t.Run(name, func(t *testing.T) {
			runDispatcher(t, Options{PollEvery: 10 * time.Hour}, slow(time.Second), func(h *harness) {
				h.bound(100_000, maxUnderWayBytes)
				h.holdRoom(size)
				sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: 24 * time.Hour}, only("metric.small"))
				for range 2 {
					h.offerSized("metric.small", "s", 4000)
					time.Sleep(10 * time.Second)
				}
				h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
				time.Sleep(10 * time.Second)
				if n := h.sentTo(sub); n != 2 {
					h.Errorf("%d of 2 were sent", n)
				}
			})
		})
	}
}

// All that stand in line to read a delivery past the bound are called, also where there
// is room by then.
func TestHungryLanesAreCalled(t *testing.T) {
	const lanes, bytes = 200, 40 << 20
	runDispatcher(t, noPolls, slow(time.Second), func(h *harness) {
		h.store.readTakes = 100 * time.Millisecond
		h.bound(bytes, maxUnderWayBytes)
		held := h.holdRoom(bytes - 400)
		var subs []feedmill.ID
		for range lanes {
			subs = append(subs, h.subscribe(feedmill.DeliverySettings{Concurrency: 2}, only("metric.small")))
		}
		h.offerSized("metric.small", "s", 20)
		h.dispatcher.mu.Lock()
		for _, sub := range subs {
			h.dispatcher.lanes[sub].backlog.itemSize = 310 // as after a while with such payloads
		}
		h.dispatcher.mu.Unlock()
		time.Sleep(50 * time.Millisecond) // some are being read
		h.change(held, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
		h.dispatcher.heard(feedmill.SignalChanged, []feedmill.ID{held}) // so there is room
		time.Sleep(time.Hour)
		n := 0
		for _, sub := range subs {
			n += h.sentTo(sub)
		}
		if n != lanes {
			h.Errorf("%d of %d were sent", n, lanes)
		}
	})
}

// A large payload is sent although small ones of its workspace keep all bytes in use.
func TestALargePayloadBesideSmallOnes(t *testing.T) {
	for name, known := range map[string]bool{"to a new endpoint": false, "to one that answers well": true} {
		t.Run(name, func(t *testing.T) {
			runDispatcher(t, noPolls, slow(time.Second), func(h *harness) {
				h.bound(maxQueuedBytes, 2_000_000)
				large := h.subscribe(feedmill.DeliverySettings{}, only("metric.large"))
				for range 60 {
					h.subscribe(feedmill.DeliverySettings{}, only("metric.small"))
				}
				if known {
					h.offerSized("metric.large", "r", 10)
					time.Sleep(2 * time.Second)
				}
				before := h.sentTo(large)
				for range 40 { // more than can be sent in that time
					h.offerSized("metric.small", "r", 1000)
					h.offerSized("metric.small", "r", 1000)
					time.Sleep(100 * time.Millisecond)
				}
				h.offerSized("metric.large", "r", 250_000)
				time.Sleep(3 * time.Second)
				if n := h.sentTo(large) - before; n != 1 {
					h.Errorf("%d of 1 is sent within 3 s, while %d wait", n, h.queued())
				}
				if h.queued() == 0 {
					h.Error("nothing waits")
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

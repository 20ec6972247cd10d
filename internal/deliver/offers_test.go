package deliver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestALateOfferSendsNothingTwice(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{})
		due := h.accept(3, "")
		time.Sleep(time.Minute) // the store was read, and everything is settled
		h.dispatcher.Offer(due)
		time.Sleep(time.Minute)
		if n := h.sentSince(time.Time{}); n != 3 {
			h.Errorf("3 deliveries were sent %d times", n)
		}
	})
}

// Offers of events that were accepted at once come in any order, and while a
// lane reads the store. None of them waits until the store is polled.
func TestOffersInAnyOrderWaitForNoPoll(t *testing.T) {
	for name, offer := range map[string]func(*harness){
		"the last first": func(h *harness) {
			first, second, third := h.accept(40, ""), h.accept(40, ""), h.accept(40, "")
			h.dispatcher.Offer(third)
			h.dispatcher.Offer(second)
			h.dispatcher.Offer(first)
		},
		"during a read": func(h *harness) {
			h.store.readTakes = 10 * time.Millisecond
			h.dispatcher.Offer(h.accept(80, ""))
			for range 40 {
				h.dispatcher.Offer(h.accept(1, ""))
				time.Sleep(3 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			runDispatcher(t, Options{MaxLane: 50, PollEvery: time.Hour}, slow(time.Millisecond), func(h *harness) {
				h.subscribe(feedmill.DeliverySettings{Concurrency: 4})
				offer(h)
				time.Sleep(time.Minute)
				if n := h.sentSince(time.Time{}); n != 120 {
					h.Errorf("%d attempts were made within a minute, want one for each of 120 deliveries", n)
				}
			})
		})
	}
}

func TestAFullMemoryDoesNotMakeLanesReadOneByOne(t *testing.T) {
	runDispatcher(t, Options{MaxQueued: 64}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Hour})
		h.subscribe(feedmill.DeliverySettings{Concurrency: 4})
		h.dispatcher.Offer(h.accept(2000, ""))
		time.Sleep(time.Minute)
		if n := h.sentSince(time.Time{}); n < 2001 {
			h.Errorf("%d of 2001 were sent", n)
		}
		if n := h.store.reads.Load(); n > 300 {
			h.Errorf("the store was read %d times for 2000 deliveries", n)
		}
	})
}

// A lane that has as many in memory as it may is not read over and over for what did
// not fit.
func TestAFullLaneIsNotRead(t *testing.T) {
	runDispatcher(t, Options{MaxLane: 8, PollEvery: time.Hour, TargetAge: time.Hour}, slow(time.Minute), func(h *harness) {
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
			runDispatcher(t, Options{PollEvery: time.Hour, TargetAge: time.Hour}, slow(time.Minute), func(h *harness) {
				h.store.readTakes = 100 * time.Millisecond
				h.dispatcher.mu.Lock()
				h.dispatcher.memory.maxBytes = 100_000
				h.dispatcher.mu.Unlock()
				// One of its deliveries waits in memory all the while, which nobody has to let go of.
				full := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: 24 * time.Hour}, func(s *feedmill.Subscription) { s.Events = []string{"metric.large"} })
				large := func(size int) {
					e := h.newEvent("large", strings.Repeat("x", size))
					e.Type = "metric.large"
					h.dispatcher.Offer(h.acceptEvents(e))
					time.Sleep(time.Second)
				}
				large(60_000)
				large(60_000)
				sub := h.subscribe(feedmill.DeliverySettings{Ordered: ordered, Concurrency: 1}, func(s *feedmill.Subscription) { s.Events = []string{"metric.created", "metric.large"} })
				const small = 20
				for i := range small {
					h.dispatcher.Offer(h.accept(1, fmt.Sprint("small ", i)))
				}
				time.Sleep(time.Second)
				large(45_000)
				time.Sleep((small + 2) * time.Minute)
				if n := h.sentTo(sub); n != small+1 {
					h.Errorf("%d of %d were sent", n, small+1)
				}
				if n := h.sentTo(full); n != 1 {
					h.Errorf("%d were sent to the one with a limit", n)
				}
				if n := h.store.reads.Load(); n > 5*small {
					h.Errorf("the store was read %d times for %d deliveries", n, small+1)
				}
			})
		})
	}
}

func TestWhatIsOfferedIsNotReadAgain(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(10*time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.dispatcher.Offer(h.accept(450, ""))
		time.Sleep(4 * time.Second) // polls call them due all the while
		if n := h.sentSince(time.Time{}); n < 300 || n > 449 {
			h.Fatalf("%d were sent within 4 s, want some to wait still", n)
		}
		if reads, targets := h.store.reads.Load(), h.store.targets.Load(); reads != 0 || targets != 1 {
			h.Errorf("the store was read %d times for deliveries and %d times for the subscription, want 0 and 1", reads, targets)
		}
		stored, err := h.store.Subscription(h.Context(), h.ws, sub)
		h.must(err)
		if stored.LastSuccessAt.IsZero() {
			h.Error("the success is not in the store")
		}
		time.Sleep(time.Minute)
		if n := h.sentSince(time.Time{}); n != 450 {
			h.Errorf("%d of 450 were sent", n)
		}
	})
}

package deliver

import (
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

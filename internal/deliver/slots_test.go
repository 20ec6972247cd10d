package deliver

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestNothingIsSentForASlotThatWasLost(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		runDispatcher(t, Options{}, slow(700*time.Millisecond), func(h *harness) {
			sub := h.subscribe(feedmill.DeliverySettings{Ordered: ordered, Concurrency: 4})
			h.dispatcher.Offer(h.accept(400, "r1"))
			time.Sleep(3 * time.Second)
			h.store.noSlots.Store(true)
			time.Sleep(leaseEvery + 2*time.Second)
			lost := time.Now()
			h.dispatcher.Changed(sub)
			time.Sleep(time.Minute)
			if n := h.sentSince(lost); n > 0 {
				h.Errorf("ordered %v: %d attempts were begun for a slot that another replica has", ordered, n)
			}
			if h.store.released.Load() == 0 {
				h.Errorf("ordered %v: the slot was not given back", ordered)
			}
		})
	}
}

func TestALeaseThatCannotBeRenewedIsTakenForLost(t *testing.T) {
	runDispatcher(t, Options{}, slow(100*time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.store.leaseHangs.Store(true)
		h.dispatcher.Offer(h.accept(1000, ""))
		time.Sleep(leaseTime)
		lost := time.Now()
		time.Sleep(time.Minute)
		if n := h.sentSince(lost); n > 0 {
			h.Errorf("%d attempts were begun after the lease had run out", n)
		}
	})
}

func TestABacklogIsReadBesideOffers(t *testing.T) {
	runDispatcher(t, Options{}, slow(10*time.Millisecond), func(h *harness) {
		h.store.noSlots.Store(true)
		h.dispatcher.setSlots(nil)
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.accept(1, "")
		fresh := h.accept(450, "")
		h.store.noSlots.Store(false)
		h.dispatcher.lease(h.Context())
		h.dispatcher.Offer(fresh) // before the slots are looked through
		time.Sleep(3 * time.Second)
		if h.store.reads.Load() == 0 {
			h.Error("what the store held of a slot just taken waits behind what is offered")
		}
	})
}

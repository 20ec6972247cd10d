package deliver

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// While the deliveries of a subscription are locked it is not sent to, and all
// others are; afterwards nothing is sent twice.
func TestALockHoldsUpItsSubscriptionOnly(t *testing.T) {
	runDispatcher(t, Options{}, slow(10*time.Millisecond), func(h *harness) {
		locked := h.subscribe(feedmill.DeliverySettings{Concurrency: 2})
		free := h.subscribe(feedmill.DeliverySettings{Concurrency: 2})
		h.store.lockedSub.Store(locked)
		const n = 300
		h.dispatcher.Offer(h.accept(n, ""))
		time.Sleep(20 * time.Second)
		if got := h.sentTo(free); got != n {
			h.Errorf("%d of %d were sent to the subscription that nobody has locked", got, n)
		}
		if got := h.sentTo(locked); got > 20 {
			h.Errorf("%d were sent although their outcomes cannot be written", got)
		}
		h.store.lockedSub.Store(feedmill.ID(""))
		time.Sleep(10 * time.Second)
		if got, open := h.sentTo(locked), h.open(); got != n || open != 0 {
			h.Errorf("after the lock %d of %d were sent, and %d are open", got, n, open)
		}
	})
}

// A shutdown does not wait for a lock.
func TestAShutdownWithALock(t *testing.T) {
	runDispatcher(t, Options{}, slow(10*time.Millisecond), func(h *harness) {
		h.store.lockedSub.Store(h.subscribe(feedmill.DeliverySettings{}))
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(2 * time.Second)
		began := time.Now()
		h.stop()
		<-h.done
		if took := time.Since(began); took > grace {
			h.Errorf("it took %s", took)
		}
	})
}

package deliver

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestAnOutcomeThatCannotBeWrittenIsNotSentOverAndOver(t *testing.T) {
	runDispatcher(t, Options{}, slow(20*time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{})
		h.store.settleRefuses.Store(true)
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(10 * time.Minute)
		if n := h.sentSince(time.Time{}); n < 2 || n > 11 {
			h.Errorf("it was sent %d times in ten minutes, want about one a minute", n)
		}
	})
}

func TestARefusedOutcomeIsForgottenByItselfAlone(t *testing.T) {
	runDispatcher(t, Options{}, slow(20*time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.store.settleRefuses.Store(true)
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(time.Second)
		h.store.settleRefuses.Store(false)
		h.dispatcher.Offer(h.accept(20, "")) // their outcomes follow in the same buffer
		time.Sleep(10 * time.Minute)
		if n := h.sentSince(time.Time{}); n != 22 {
			h.Errorf("%d attempts were made, want one for each of 21 deliveries and one more for the refused", n)
		}
		if open, _, err := h.store.OpenWork(h.Context(), time.Now()); err != nil || open != 0 {
			h.Errorf("%d deliveries are still open, %v", open, err)
		}
	})
}

func TestShutdownDoesNotWaitForAStoreThatIsAway(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 100})
		h.store.settleAway.Store(true)
		h.dispatcher.Offer(h.accept(4000, ""))
		time.Sleep(time.Minute)
		stopped := time.Now()
		h.stop()
		<-h.done
		if took := time.Since(stopped); took > grace+2*lastWrites {
			h.Errorf("the shutdown took %s", took)
		}
	})
}

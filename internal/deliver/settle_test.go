package deliver

import (
	"slices"
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
		if open := h.open(); open != 0 {
			h.Errorf("%d deliveries are still open", open)
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

// While transactions take their time, what comes meanwhile shares the next.
func TestOutcomesShareTransactions(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(time.Millisecond), func(h *harness) {
		for range 40 {
			h.subscribe(feedmill.DeliverySettings{Concurrency: 100})
		}
		h.store.settleTakes = time.Second
		h.dispatcher.Offer(h.accept(200, ""))
		time.Sleep(time.Minute)
		if n := h.open(); n != 0 {
			h.Errorf("%d deliveries are open", n)
		}
		if n := h.store.mostOutcomes.Load(); n != 512 {
			h.Errorf("up to %d outcomes shared a transaction, want 512", n)
		}
		if n := h.store.mostSettling.Load(); n != 3 {
			h.Errorf("up to %d transactions were under way, want 3", n)
		}
	})
}

// A second transaction is not begun for a few.
func TestAFewOutcomesWaitForATransactionUnderWay(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.store.settleTakes = 10 * time.Millisecond
		h.dispatcher.Offer(h.accept(127, ""))
		time.Sleep(time.Minute)
		if n, open := h.store.mostSettling.Load(), h.open(); n != 1 || open != 0 {
			h.Errorf("up to %d transactions were under way, want 1; %d deliveries are open", n, open)
		}
	})
}

// A store that comes back gets every outcome, and nothing is sent again.
func TestOutcomesWaitForAStoreThatIsAway(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		h.store.settleAway.Store(true)
		due := h.accept(20, "")
		h.dispatcher.Offer(due)
		time.Sleep(time.Minute)
		if under := h.dispatcher.UnderWay(sub); !h.dispatcher.InFlight(due[0].ID) || !slices.Contains(under, due[0].ID) || len(under) > 20 {
			h.Errorf("a delivery whose outcome is not written is not called under way; %d are", len(under))
		}
		h.store.settleAway.Store(false)
		time.Sleep(3 * time.Second) // it is asked every two
		if n, open := h.sentSince(time.Time{}), h.open(); n != 20 || open != 0 {
			h.Errorf("%d attempts were made, %d deliveries are open", n, open)
		}
		if h.dispatcher.InFlight(due[0].ID) || len(h.dispatcher.UnderWay(sub)) > 0 {
			h.Error("a delivery that has ended is called under way")
		}
	})
}

// What is read while outcomes are written shows some of them as they were.
func TestWhatIsSettledDuringAReadIsNotSentAgain(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 2})
		h.store.readTakes = 300 * time.Millisecond
		due := h.accept(60, "")
		h.dispatcher.Offer(due[:20])
		h.dispatcher.Changed(sub) // reads the rest, and those
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != 60 {
			h.Errorf("60 deliveries were sent %d times", n)
		}
	})
}

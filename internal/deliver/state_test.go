package deliver

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// stateOf is the state that a subscription's lane is in.
func (h *harness) stateOf(sub feedmill.ID) state {
	synctest.Wait()
	h.dispatcher.mu.Lock()
	defer h.dispatcher.mu.Unlock()
	return h.dispatcher.lanes[sub].state
}

// queued is how many deliveries wait in memory.
func (h *harness) queued() int {
	h.dispatcher.mu.Lock()
	defer h.dispatcher.mu.Unlock()
	return h.dispatcher.memory.queued
}

func (h *harness) checkState(sub feedmill.ID, want state) {
	h.Helper()
	if got := h.stateOf(sub); got != want {
		h.Errorf("the lane is in state %d, want %d", got, want)
	}
}

// checkHeld checks that a lane does nothing because it knows that its subscription is held.
func (h *harness) checkHeld(sub feedmill.ID) {
	h.Helper()
	h.checkState(sub, idle)
	h.dispatcher.mu.Lock()
	defer h.dispatcher.mu.Unlock()
	if !h.dispatcher.lanes[sub].subscription.target.held() {
		h.Error("the lane does not know that its subscription is held")
	}
}

func TestASilentEndpointIsProbed(t *testing.T) {
	var well atomic.Pointer[time.Time]
	to := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		time.Sleep(10 * time.Millisecond)
		if time.Now().Before(*well.Load()) {
			return noAnswer("timeout")
		}
		return answered200
	}
	runDispatcher(t, Options{Random: func() float64 { return 0.5 }}, to, func(h *harness) {
		began := time.Now()
		well.Store(new(began.Add(3500 * time.Millisecond)))
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 8})
		h.dispatcher.Offer(h.accept(20, ""))
		for _, step := range []struct {
			at   time.Duration
			sent int
		}{
			{500 * time.Millisecond, 5}, // four at once, and the one that opens the breaker
			{1015 * time.Millisecond, 5},
			{1025 * time.Millisecond, 6}, // after a second, a single one
			{3025 * time.Millisecond, 6},
			{3035 * time.Millisecond, 7}, // after two more
			{7035 * time.Millisecond, 7},
			{7045 * time.Millisecond, 8}, // after four more: this one is well
			{8 * time.Second, 27},        // all of the 20, and 7 of them twice
		} {
			time.Sleep(time.Until(began.Add(step.at)))
			if n := h.sentTo(sub); n != step.sent {
				h.Errorf("after %s %d attempts were made, want %d", step.at, n, step.sent)
			}
			if step.at == 500*time.Millisecond {
				h.checkState(sub, tripped)
				h.dispatcher.Offer(h.accept(1, ""))
				if n := h.queued(); n != 0 {
					h.Errorf("%d wait in memory for an endpoint that is silent", n)
				}
			}
		}
		time.Sleep(time.Minute)
		if open := h.open(); open != 0 {
			h.Errorf("%d deliveries are left", open)
		}
		h.checkState(sub, idle)
	})
}

// What is offered while a probe is under way follows it, without a poll.
func TestOffersDuringAProbe(t *testing.T) {
	var well atomic.Pointer[time.Time]
	to := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		time.Sleep(100 * time.Millisecond)
		if time.Now().Before(*well.Load()) {
			return noAnswer("timeout")
		}
		return answered200
	}
	runDispatcher(t, Options{PollEvery: time.Hour}, to, func(h *harness) {
		well.Store(new(time.Now().Add(time.Second)))
		sub := h.subscribe(feedmill.DeliverySettings{})
		h.dispatcher.Offer(h.accept(6, ""))
		time.Sleep(1250 * time.Millisecond) // five fail, and the breaker is open for a second
		if n := h.sentTo(sub); n != 6 || h.stateOf(sub) == tripped {
			h.Fatalf("%d attempts were made, and no probe is under way", n)
		}
		h.dispatcher.Offer(h.accept(10, ""))
		synctest.Wait()
		if n := h.sentTo(sub); n != 6 {
			h.Errorf("%d attempts were made beside the probe", n-6)
		}
		time.Sleep(2 * time.Second)
		if n := h.sentTo(sub); n != 16 {
			h.Errorf("%d attempts were made after the probe, want 10", n-6)
		}
	})
}

func TestAStoreThatCannotBeReadIsAskedEverySecond(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Ordered: true})
		h.store.dueFails.Store(true)
		h.dispatcher.Offer(h.accept(10, ""))
		time.Sleep(10*time.Second - time.Millisecond)
		h.checkState(sub, stalled)
		if n := h.store.reads.Load(); n != 10 {
			h.Errorf("the store was read %d times in ten seconds", n)
		}
		h.store.dueFails.Store(false)
		time.Sleep(time.Second)
		if n := h.sentTo(sub); n != 10 {
			h.Errorf("%d of 10 were sent when it could be read again", n)
		}
	})
}

// hanging is an endpoint that takes a minute.
func hanging(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
	time.Sleep(time.Minute)
	return answered200
}

// A workspace whose endpoints hang leaves half of what is free to others, and
// its lanes take turns with the rest.
func TestCrowdedLanesTakeTurns(t *testing.T) {
	runDispatcher(t, Options{MaxInFlight: 8, PollEvery: time.Hour}, hanging, func(h *harness) {
		began := time.Now()
		var greedy []feedmill.ID
		for range 12 {
			greedy = append(greedy, h.subscribe(feedmill.DeliverySettings{}))
		}
		h.dispatcher.Offer(h.accept(1, ""))
		synctest.Wait()
		if n := h.sentSince(time.Time{}); n != 4 {
			h.Errorf("%d attempts of a workspace are under way, want 4 of 8", n)
		}
		crowd := 0
		for _, sub := range greedy {
			crowd += count(h.stateOf(sub) == waiting)
		}
		if crowd != 8 {
			h.Errorf("%d lanes wait, want 8", crowd)
		}
		h.newWorkspace()
		modest := h.subscribe(feedmill.DeliverySettings{})
		h.dispatcher.Offer(h.accept(1, ""))
		synctest.Wait()
		if n := h.sentTo(modest); n != 1 {
			h.Error("another workspace has to wait")
		}
		time.Sleep(time.Until(began.Add(4 * time.Minute))) // three or four in each
		synctest.Wait()
		if open := h.open(); open != 0 {
			h.Errorf("%d deliveries are left", open)
		}
	})
}

// Who finds nothing free gets the first attempt that ends, whosever it is.
func TestStarvedWorkspacesAreNotForgotten(t *testing.T) {
	runDispatcher(t, Options{MaxInFlight: 2, PollEvery: time.Hour}, hanging, func(h *harness) {
		var subs []feedmill.ID
		for range 5 {
			h.newWorkspace()
			subs = append(subs, h.subscribe(feedmill.DeliverySettings{}))
			h.dispatcher.Offer(h.accept(1, ""))
			synctest.Wait()
		}
		for i, want := range []int{2, 4, 5} {
			if n := h.sentSince(time.Time{}); n != want {
				h.Errorf("after %d minutes %d attempts were begun, want %d", i, n, want)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		h.checkState(subs[4], idle)
	})
}

func TestWhatIsHeldIsNotSent(t *testing.T) {
	runDispatcher(t, Options{PollEvery: time.Hour, TargetAge: time.Hour}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionPaused })
		h.dispatcher.Offer(h.accept(5, ""))
		h.checkHeld(sub)
		reads := h.store.targets.Load()
		h.dispatcher.Offer(h.accept(5, ""))
		h.checkHeld(sub)
		if n := h.store.targets.Load(); n != reads || h.queued() != 0 {
			h.Errorf("it is read again for what is offered, and %d wait in memory", h.queued())
		}
		h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionActive })
		h.dispatcher.Changed(sub)
		time.Sleep(time.Second)
		if n := h.sentTo(sub); n != 10 {
			h.Errorf("%d of 10 were sent after it was resumed", n)
		}
		h.checkState(sub, idle)
	})
}

// What was accepted before a subscription ended and is offered after that is
// discarded.
func TestWhatIsOfferedLateToAnEndedSubscriptionIsDiscarded(t *testing.T) {
	gone := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result { return answered410 }
	runDispatcher(t, Options{PollEvery: time.Hour, TargetAge: time.Hour}, gone, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		first, late := h.accept(1, ""), h.accept(1, "")
		h.dispatcher.Offer(first)
		time.Sleep(time.Second)
		h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionActive })
		late = append(late, h.accept(1, "")...)
		h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionDisabled })
		h.dispatcher.Offer(late)
		time.Sleep(time.Second)
		if n := h.sentTo(sub); n != 1 {
			h.Errorf("%d attempts were made, want none after the endpoint was gone", n)
		}
		for _, d := range late {
			if got := h.delivery(d.ID); got.State != feedmill.DeliveryDiscarded {
				h.Errorf("a delivery is %s, want it discarded", got.State)
			}
		}
	})
}

// A lane that is given up and taken back sends what is left, and nothing twice.
func TestASlotThatComesBack(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		runDispatcher(t, Options{}, slow(700*time.Millisecond), func(h *harness) {
			sub := h.subscribe(feedmill.DeliverySettings{Ordered: ordered, Concurrency: 4})
			h.dispatcher.Offer(h.accept(100, ""))
			time.Sleep(3 * time.Second)
			h.loseSlots()
			h.checkState(sub, lost)
			h.dispatcher.lease(h.Context()) // while attempts are under way
			time.Sleep(time.Minute)
			if n := h.sentTo(sub); n != 100 {
				h.Errorf("ordered %v: 100 deliveries were sent %d times", ordered, n)
			}
			h.checkState(sub, idle)
		})
	}
}

func TestIdleLanesAreForgotten(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{})
		held := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionPaused })
		h.dispatcher.Offer(h.accept(1, ""))
		lanes := func() int {
			h.dispatcher.mu.Lock()
			defer h.dispatcher.mu.Unlock()
			return len(h.dispatcher.lanes)
		}
		time.Sleep(10 * time.Minute)
		if n := lanes(); n != 2 {
			h.Errorf("%d lanes are kept for ten minutes, want 2", n)
		}
		h.must(h.store.DeleteSubscription(h.Context(), h.ws, held, time.Now()))
		h.dispatcher.Changed(held)
		time.Sleep(10*time.Minute + 2*time.Second)
		if n := lanes(); n != 0 {
			h.Errorf("%d lanes are kept for longer", n)
		}
	})
}

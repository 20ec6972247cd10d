package deliver

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// What waits for something is called when that has come, and need not be found by a poll.

// useMostRoom has two attempts take most of what may be under way: one hangs, and the
// other ends after ten seconds.
func (h *harness) useMostRoom() {
	h.Helper()
	h.bound(maxQueuedBytes, 400_000)
	for _, kind := range []string{"metric.hangs", "metric.ends"} {
		h.subscribe(feedmill.DeliverySettings{}, only(kind))
		h.offerSized(kind, "r", 60_000)
		time.Sleep(time.Second)
	}
}

// Whoever is called first may not send after all, and another can.
func TestStarvedLanesAreAllCalledInTheEnd(t *testing.T) {
	runDispatcher(t, noPolls, slow(10*time.Second), func(h *harness) {
		h.bound(maxQueuedBytes, 2*attemptBytes-4000) // for one at a time
		h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: 5 * time.Hour})
		h.dispatcher.Offer(h.accept(1, "a"))
		time.Sleep(time.Minute)
		limited := h.ws
		h.newWorkspace()
		h.subscribe(feedmill.DeliverySettings{})
		h.dispatcher.Offer(h.accept(1, "b")) // is under way
		time.Sleep(time.Second)
		h.ws = limited
		h.dispatcher.Offer(h.accept(1, "a"))
		time.Sleep(time.Second)
		h.newWorkspace()
		sub := h.subscribe(feedmill.DeliverySettings{})
		h.dispatcher.Offer(h.accept(1, "c"))
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != 1 {
			h.Errorf("%d of 1 were sent", n)
		}
	})
}

// A large delivery for which there is no room is not what small ones wait for, and all
// of these are called for which there is.
func TestSmallOnesAreCalledBesideLargeOnes(t *testing.T) {
	runDispatcher(t, noPolls, hangsOr(10*time.Second), func(h *harness) {
		h.useMostRoom()
		h.subscribe(feedmill.DeliverySettings{}, only("metric.large"))
		var small []feedmill.ID
		for range 3 {
			small = append(small, h.subscribe(feedmill.DeliverySettings{}, only("metric.small")))
		}
		h.offerSized("metric.large", "r", 150_000)
		time.Sleep(time.Second)
		h.offerSized("metric.small", "r", 10)
		time.Sleep(time.Second)
		sent := func() (n int) {
			for _, sub := range small {
				n += h.sentTo(sub)
			}
			return n
		}
		if sent() != 0 {
			h.Fatal("there was room for them")
		}
		time.Sleep(9 * time.Second) // the one that ends has ended
		if n := sent(); n != len(small) {
			h.Errorf("%d of %d were sent", n, len(small))
		}
	})
}

// A lane that keeps to a rate takes no call that another could use.
func TestALimitedLaneTakesNoCall(t *testing.T) {
	runDispatcher(t, noPolls, hangsOr(10*time.Second), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: 5 * time.Hour}, only("metric.limited"))
		h.offerSized("metric.limited", "r", 10)
		time.Sleep(time.Minute)
		h.useMostRoom()
		small := h.subscribe(feedmill.DeliverySettings{}, only("metric.small"))
		h.offerSized("metric.limited", "r", 70_000)
		time.Sleep(time.Second)
		h.offerSized("metric.small", "r", 10)
		time.Sleep(time.Second)
		if h.sentTo(small) != 0 {
			h.Fatal("there was room for it")
		}
		time.Sleep(9 * time.Second) // the one that ends has ended
		if n := h.sentTo(small); n != 1 {
			h.Errorf("%d of 1 were sent", n)
		}
	})
}

// What other workspaces leave is used, also where all of one's own hangs.
func TestRoomOfOthersIsUsed(t *testing.T) {
	o := noPolls
	o.MaxInFlight = 16
	runDispatcher(t, o, hangsOr(10*time.Second), func(h *harness) {
		own := h.ws
		h.subscribe(feedmill.DeliverySettings{}, only("metric.hangs"))
		sub := h.subscribe(feedmill.DeliverySettings{}, only("metric.small"))
		h.offerSized("metric.hangs", "r", 10)
		time.Sleep(time.Second)
		for range 6 { // others take what there is
			h.newWorkspace()
			for range 10 {
				h.subscribe(feedmill.DeliverySettings{})
			}
			h.dispatcher.Offer(h.accept(1, "r"))
			time.Sleep(time.Millisecond)
		}
		h.ws = own
		h.offerSized("metric.small", "r", 10)
		time.Sleep(time.Second)
		if h.sentTo(sub) != 0 {
			h.Fatal("there was room for it")
		}
		time.Sleep(30 * time.Minute)
		if n := h.sentTo(sub); n != 1 {
			h.Errorf("%d of 1 were sent", n)
		}
	})
}

// A breaker that is half open is probed with what is offered.
func TestAnOfferProbes(t *testing.T) {
	to := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		return noAnswer("no answer")
	}
	runDispatcher(t, noPolls, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Retries: []time.Duration{5 * time.Hour}})
		h.dispatcher.Offer(h.accept(openAfter, ""))
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != openAfter || h.dispatcher.Breaker(sub) != feedmill.BreakerHalfOpen {
			h.Fatalf("%d were sent, the breaker is %v", n, h.dispatcher.Breaker(sub))
		}
		h.dispatcher.Offer(h.accept(1, "new"))
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != openAfter+1 {
			h.Error("what was offered was not sent")
		}
	})
}

// A fan-out that reads a subscription anew may find that its limit is lifted.
func TestAFanoutThatReadsALiftedLimit(t *testing.T) {
	runDispatcher(t, Options{PollEvery: 10 * time.Hour}, slow(time.Second), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: 24 * time.Hour})
		h.dispatcher.Offer(h.accept(1, "a"))
		time.Sleep(4 * time.Second)
		due := h.accept(1, "b")
		h.dispatcher.Offer(due) // it is limited, and reads its subscription after 5 s
		time.Sleep(2 * time.Second)
		h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
		h.dispatcher.readTargets(h.Context(), due)
		h.dispatcher.Offer(due)
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != 2 {
			h.Errorf("%d of 2 were sent", n)
		}
	})
}

// A lane that has something queued goes on while as many others are read as may be.
func TestWhatIsQueuedIsSentWhileOthersAreRead(t *testing.T) {
	o := noPolls
	o.MaxLane = 4
	runDispatcher(t, o, slow(time.Second), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 1}, only("metric.mine"))
		h.offerSized("metric.mine", "r", 10)
		time.Sleep(10 * time.Second)
		for range maxReads {
			h.subscribe(feedmill.DeliverySettings{}, only("metric.other"))
		}
		h.store.targetTakes = 20 * time.Second // the store is slow
		h.offerSized("metric.other", "r", 10)
		time.Sleep(time.Second)
		for range 6 {
			h.offerSized("metric.mine", "r", 10)
		}
		time.Sleep(10 * time.Second)
		if n := h.sentTo(sub) - 1; n < 5 {
			h.Errorf("%d were sent within 10 s, want the 5 that were in memory", n)
		}
	})
}

// A retry comes when it is due, and not behind the backlog, also where its time comes
// during a poll and the backlog is read on before that has ended.
func TestARetryIsMadeBesideABacklog(t *testing.T) {
	failed := false
	to := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		time.Sleep(93 * time.Millisecond) // so nothing happens at the same moment
		if !failed {
			failed = true
			return answered500
		}
		return answered200
	}
	runDispatcher(t, Options{MaxLane: 8, TargetAge: noPolls.TargetAge, Random: func() float64 { return 0.5 }}, to, func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		due := h.accept(1, "retried")
		h.dispatcher.Offer(due)
		time.Sleep(50 * time.Millisecond)
		h.dispatcher.Offer(h.accept(600, ""))
		time.Sleep(4800 * time.Millisecond) // the retry is due after 5.1 s
		const poll = 600 * time.Millisecond
		h.store.pollTakes.Store(int64(poll))
		h.dispatcher.Wake()
		time.Sleep(poll)
		h.store.pollTakes.Store(0)
		time.Sleep(4 * time.Second)
		tries := 0
		for _, s := range h.attempts() {
			tries += count(s.delivery == due[0].ID)
		}
		if tries != 2 {
			h.Errorf("after %v it was tried %d times, want 2", time.Since(h.began), tries)
		}
	})
}

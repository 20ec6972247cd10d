package deliver

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// A change that comes while a slot is stopped to be given back counts when it is
// not given back after all.
func TestAChangeWhileASlotIsStopped(t *testing.T) {
	runDispatcher(t, Options{TargetAge: 24 * time.Hour, PollEvery: 24 * time.Hour}, slow(0), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Hour})
		h.dispatcher.Offer(h.accept(20, ""))
		h.store.releaseFails.Store(true)
		h.store.noSlots.Store(true)
		time.Sleep(leaseEvery + time.Second)
		h.checkState(sub, lost)
		h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
		h.dispatcher.Changed(sub)
		h.store.noSlots.Store(false)
		time.Sleep(leaseEvery + time.Second)
		if n := h.sentTo(sub); n != 20 {
			h.Errorf("%d of 20 were sent after the limit was lifted", n)
		}
	})
}

// At a shutdown a slow endpoint holds up its own slot and no other.
func TestAShutdownGivesSlotsBackAtOnce(t *testing.T) {
	const slowly = 5 * time.Second
	var slowOne feedmill.ID
	to := func(_ context.Context, t feedmill.Subscription, _ feedmill.Message) feedmill.Result {
		if t.ID == slowOne {
			time.Sleep(slowly)
		}
		return answered200
	}
	runDispatcher(t, Options{}, to, func(h *harness) {
		slowOne = h.subscribe(feedmill.DeliverySettings{})
		for range 20 {
			h.subscribe(feedmill.DeliverySettings{})
		}
		due := h.accept(1, "m")
		h.dispatcher.Offer(due)
		time.Sleep(time.Second)
		h.stop()
		time.Sleep(3 * leaveStep)
		if n := h.store.givenBack(); n != feedmill.Slots-1 || !h.store.left.Load() {
			h.Errorf("%d slots are given back while an attempt is under way, want all but one", n)
		}
		time.Sleep(slowly)
		if n := h.store.releasedAll.Load(); n != 1 || h.open() != 0 {
			h.Errorf("given back in the end %d times, %d are open", n, h.open())
		}
	})
}

// An attempt that was broken off with its lease is made again under the next one,
// although the store was read while it was ending.
func TestAnAttemptThatIsGivenBackIsMadeAgain(t *testing.T) {
	broken := false
	to := func(ctx context.Context, _ feedmill.Subscription, _ feedmill.Message) feedmill.Result {
		if broken {
			return answered200
		}
		<-ctx.Done()
		broken = true
		time.Sleep(10 * time.Second)
		return noAnswer("broken off")
	}
	runDispatcher(t, Options{TargetAge: 24 * time.Hour, PollEvery: 24 * time.Hour}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Ordered: true})
		h.dispatcher.Offer(h.accept(1, "m"))
		time.Sleep(time.Second)
		h.loseSlots()
		h.dispatcher.lease(h.Context())
		time.Sleep(10*time.Second + soon)
		if n := h.sentTo(sub); n != 2 {
			h.Errorf("%d attempts were begun, want 2", n)
		}
	})
}

// The subscriptions are counted by their health in one metric.
func TestHealthMetric(t *testing.T) {
	runDispatcher(t, Options{}, slow(0), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{})
		h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionPaused })
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(time.Second)
		families, err := h.dispatcher.Metrics.(*prometheus.Registry).Gather()
		h.must(err)
		got := make(map[string]float64)
		for _, f := range families {
			if f.GetName() == "feedmill_delivery_subscriptions" {
				for _, m := range f.GetMetric() {
					got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
		if len(got) != len(healths) || got["working"] != 1 || got["held"] != 1 || got["failing"] != 0 {
			h.Errorf("the metric is %v", got)
		}
	})
}

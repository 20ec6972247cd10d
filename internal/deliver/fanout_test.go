package deliver

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// promised subscribes to what is promised and has so many deliveries made later. All of
// the subscriptions but those of special are alike.
func (h *harness) promised(special ...feedmill.ID) (subs []feedmill.ID) {
	h.Helper()
	subs = special
	for range fanoutStep - len(special) {
		subs = append(subs, h.subscribe(feedmill.DeliverySettings{}))
	}
	events := make([]feedmill.Event, feedmill.MaxMadeAtOnce/fanoutStep+1)
	for i := range events {
		events[i] = h.newEvent("r", `{}`)
	}
	accepted, _, err := h.store.Accept(h.Context(), events, nil)
	h.must(err)
	if !accepted[len(accepted)-1].Promised {
		h.Fatal("nothing is promised")
	}
	return subs
}

// The subscriptions of promised deliveries are read together and not one by one.
func TestSubscriptionsOfPromisedDeliveriesAreReadTogether(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour, PollEvery: time.Hour}, slow(time.Millisecond), func(h *harness) {
		paused := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionPaused })
		ordered := h.subscribe(feedmill.DeliverySettings{Ordered: true})
		subs := h.promised(paused, ordered)
		signal(h.dispatcher.fanoutNow)
		time.Sleep(10 * time.Second)
		for i, sub := range subs[1:] {
			if h.sentTo(sub) == 0 {
				h.Errorf("subscription %d was sent nothing", i+1)
			}
		}
		if n := h.sentTo(paused); n != 0 {
			h.Errorf("the one that is paused was sent to %d times", n)
		}
		if n := h.store.targets.Load(); n > 1 {
			h.Errorf("%d subscriptions were read one by one, want only the one that is paused", n)
		}
	})
}

// A change while they are read together is not lost.
func TestAChangeWhileTargetsAreReadIsNotLost(t *testing.T) {
	var mu sync.Mutex
	urls := make(map[feedmill.ID]string)
	to := func(_ context.Context, t feedmill.Subscription, _ feedmill.Message) feedmill.Result {
		mu.Lock()
		defer mu.Unlock()
		urls[t.ID] = t.Destination.URL
		return answered200
	}
	runDispatcher(t, Options{TargetAge: time.Hour, PollEvery: time.Hour}, to, func(h *harness) {
		subs := h.promised()
		h.store.targetTakes = time.Second
		signal(h.dispatcher.fanoutNow)
		time.Sleep(500 * time.Millisecond)
		h.change(subs[0], func(s *feedmill.Subscription) { s.Destination.URL = "https://example.com/new" })
		h.dispatcher.Changed(subs[0])
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if urls[subs[0]] != "https://example.com/new" {
			h.Errorf("sent to %q", urls[subs[0]])
		}
	})
}

package deliver

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestAResumeElsewhereIsNoticed(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		set := func(state feedmill.SubscriptionState) {
			h.change(sub, func(s *feedmill.Subscription) { s.State = state })
		}
		set(feedmill.SubscriptionPaused)
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(time.Minute)
		if h.sentSince(time.Time{}) != 0 {
			h.Error("a paused subscription was sent to")
		}
		set(feedmill.SubscriptionActive) // by another replica: nobody tells this one
		time.Sleep(2 * heldAge)
		if h.sentSince(time.Time{}) != 1 {
			h.Error("the subscription is still held")
		}
	})
}

func TestWhatWaitsForARetryIsHeldAsPending(t *testing.T) {
	failing := endpoint(func(context.Context, Target, Message) Result { return Result{Status: 500, Error: "500"} })
	runDispatcher(t, Options{}, failing, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		due := h.accept(1, "")
		h.dispatcher.Offer(due)
		time.Sleep(time.Second)
		for _, step := range []struct {
			set  feedmill.SubscriptionState
			want feedmill.DeliveryState
		}{{feedmill.SubscriptionActive, feedmill.DeliveryRetrying}, {feedmill.SubscriptionPaused, feedmill.DeliveryPending}} {
			h.change(sub, func(s *feedmill.Subscription) { s.State = step.set })
			h.dispatcher.Changed(sub)
			time.Sleep(time.Second)
			d := h.delivery(due[0].ID)
			if d.State != step.want || d.Attempts != 1 {
				h.Errorf("the delivery of a subscription that is %s is %+v", step.set, d)
			}
		}
	})
}

func TestRateLimit(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{RateLimit: 10, RatePer: time.Second})
		h.dispatcher.Offer(h.accept(100, ""))
		time.Sleep(5*time.Second + 50*time.Millisecond)
		if n := h.sentSince(time.Time{}); n < 48 || n > 51 {
			h.Errorf("%d were sent in 5 s at 10 a second", n)
		}
	})
}

func TestWhatIsNotSentDoesNotOpenTheBreaker(t *testing.T) {
	refused := endpoint(func(_ context.Context, _ Target, m Message) Result {
		if m.Attempt == 1 && len(m.Payload) == 2 {
			return Result{Error: "too long", Final: true, NotSent: true}
		}
		return Result{Status: 200}
	})
	runDispatcher(t, Options{}, refused, func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.dispatcher.Offer(h.accept(40, ""))
		time.Sleep(2 * time.Second)
		if n := h.sentSince(time.Time{}); n != 40 {
			h.Errorf("%d of 40 were tried", n)
		}
	})
}

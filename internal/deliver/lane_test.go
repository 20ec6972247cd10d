package deliver

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
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
	failing := endpoint(func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result { return answered500 })
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
	refused := endpoint(func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		if m.Attempt == 1 && len(m.Payload) == 2 {
			return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "too long", NotSent: true}
		}
		return answered200
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

// A change that is made while the subscription is read counts.
func TestAChangeDuringAReadIsNotLost(t *testing.T) {
	var mu sync.Mutex
	var urls []string
	to := func(_ context.Context, t feedmill.Subscription, _ feedmill.Message) feedmill.Result {
		mu.Lock()
		defer mu.Unlock()
		urls = append(urls, t.Destination.URL)
		return answered200
	}
	runDispatcher(t, Options{TargetAge: time.Hour}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		h.store.targetTakes = time.Second
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(500 * time.Millisecond)
		h.change(sub, func(s *feedmill.Subscription) { s.Destination.URL = "https://example.com/new" })
		h.dispatcher.Changed(sub)
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(urls, []string{"https://example.com/new"}) {
			h.Errorf("sent to %q", urls)
		}
	})
}

// A change that nobody tells of is seen when what is known gets old.
func TestASubscriptionIsReadAgainAfterAWhile(t *testing.T) {
	runDispatcher(t, Options{TargetAge: 5 * time.Second}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		read := func(at time.Duration, want int64) {
			h.dispatcher.Offer(h.accept(1, ""))
			synctest.Wait()
			if n := h.store.targets.Load(); n != want {
				h.Errorf("after %s the subscription was read %d times, want %d", at, n, want)
			}
		}
		read(0, 1)
		time.Sleep(5*time.Second - 10*time.Millisecond)
		read(5*time.Second-10*time.Millisecond, 1)
		time.Sleep(10 * time.Millisecond)
		read(5*time.Second, 2)
		if n := h.sentTo(sub); n == 0 {
			h.Error("nothing was sent")
		}
	})
}

func TestWhatIsOfferedTwiceIsSentOnce(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Second), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		due := h.accept(5, "")
		h.dispatcher.Offer(due)
		h.dispatcher.Offer(due)
		time.Sleep(1500 * time.Millisecond)
		h.dispatcher.Offer(due[1:]) // one is under way, and three are queued
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != 5 {
			h.Errorf("5 deliveries were sent %d times", n)
		}
	})
}

// The next of a resource is sent when the outcome of the one before is written.
func TestOrderedDeliveriesWaitForTheOutcome(t *testing.T) {
	runDispatcher(t, Options{PollEvery: time.Hour}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Ordered: true})
		h.store.settleTakes = time.Second
		h.dispatcher.Offer(h.accept(1, "")) // so that it is known to be ordered
		time.Sleep(2 * time.Second)
		h.dispatcher.Offer(h.accept(4, "same"))
		for i := range 4 {
			time.Sleep(500 * time.Millisecond)
			if n := h.sentTo(sub); n != 2+i {
				h.Errorf("%d were sent, want %d", n, 2+i)
			}
			time.Sleep(501 * time.Millisecond)
		}
	})
}

// A lane that the poll finds belongs to the workspace of its subscription.
func TestWorkspaceOfALaneThatWasFound(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		h.accept(1, "")
		time.Sleep(2 * time.Second)
		h.dispatcher.mu.Lock()
		got := h.dispatcher.lanes[sub].workspace
		h.dispatcher.mu.Unlock()
		if got != h.ws || h.sentTo(sub) != 1 {
			h.Errorf("%d were sent; the lane is of workspace %q", h.sentTo(sub), got)
		}
	})
}

// A subscription that is read again has used what it has used of its rate.
func TestRateLimitOutlivesARead(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Second})
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(100 * time.Millisecond)
		h.dispatcher.Changed(sub)
		synctest.Wait()
		h.dispatcher.Offer(h.accept(1, ""))
		time.Sleep(800 * time.Millisecond)
		if n := h.sentTo(sub); n != 1 {
			h.Errorf("%d were sent within a second at one a second", n)
		}
		time.Sleep(200 * time.Millisecond)
		if n := h.sentTo(sub); n != 2 {
			h.Errorf("%d were sent after a second, want 2", n)
		}
	})
}

// A rate limit follows the subscription, and a change that leaves it alone does
// not begin it anew.
func TestRateLimitChanges(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(time.Millisecond), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Second})
		h.dispatcher.Offer(h.accept(100, ""))
		time.Sleep(1500 * time.Millisecond)
		for range 10 {
			h.dispatcher.Changed(sub)
			time.Sleep(time.Millisecond)
		}
		h.checkState(sub, limited)
		if n := h.sentTo(sub); n != 2 {
			h.Errorf("%d were sent within a second and a half at one a second", n)
		}
		h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 10 })
		h.dispatcher.Changed(sub)
		time.Sleep(2 * time.Second)
		if n := h.sentTo(sub); n < 22 || n > 24 {
			h.Errorf("%d were sent, two seconds after ten a second are allowed", n)
		}
		h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
		h.dispatcher.Changed(sub)
		time.Sleep(time.Second)
		if n := h.sentTo(sub); n != 100 {
			h.Errorf("%d were sent without a limit", n)
		}
	})
}

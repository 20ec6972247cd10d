package deliver

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// soon is next to nothing beside every wait of a lane.
const soon = 10 * time.Millisecond

// A lane that waits for an hour notices at once that it need not.
func TestALiftedRateLimitCountsAtOnce(t *testing.T) {
	runDispatcher(t, Options{TargetAge: 24 * time.Hour, PollEvery: 24 * time.Hour}, slow(0), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Hour})
		h.dispatcher.Offer(h.accept(20, ""))
		time.Sleep(time.Minute)
		h.checkState(sub, limited)
		if n := h.sentTo(sub); n != 1 {
			h.Fatalf("%d were sent at one an hour", n)
		}
		h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
		h.dispatcher.Changed(sub)
		time.Sleep(soon)
		if n := h.sentTo(sub); n != 20 {
			h.Errorf("%d of 20 were sent when the limit was lifted", n)
		}
	})
}

// What another replica changes is seen before a long wait is over.
func TestARateLimitThatIsLiftedElsewhere(t *testing.T) {
	runDispatcher(t, Options{TargetAge: 5 * time.Second}, slow(0), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{RateLimit: 1, RatePer: time.Hour})
		h.dispatcher.Offer(h.accept(20, ""))
		time.Sleep(time.Minute)
		h.change(sub, func(s *feedmill.Subscription) { s.Delivery.RateLimit = 0 })
		time.Sleep(5*time.Second + soon)
		if n := h.sentTo(sub); n != 20 {
			h.Errorf("%d of 20 were sent", n)
		}
	})
}

func TestMoreConcurrencyCountsAtOnce(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, hanging, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.dispatcher.Offer(h.accept(10, ""))
		time.Sleep(time.Second)
		for _, n := range []int{3, firstLimit} {
			h.change(sub, func(s *feedmill.Subscription) { s.Delivery.Concurrency = n })
			h.dispatcher.Changed(sub)
			time.Sleep(soon)
			if got := h.sentTo(sub); got != n {
				h.Errorf("%d attempts are under way, %d may be", got, n)
			}
		}
	})
}

// An endpoint that answers a test is sent to at once, and attempts that were under
// way before that do not speak against it.
func TestASuccessfulTestClosesTheBreaker(t *testing.T) {
	var well atomic.Bool
	to := func(ctx context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		if well.Load() {
			return answered200
		}
		time.Sleep(time.Duration(m.Attempt) * 15 * time.Second)
		return noAnswer("timeout")
	}
	runDispatcher(t, Options{PollEvery: 24 * time.Hour, TargetAge: 24 * time.Hour}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 8})
		h.dispatcher.Offer(h.accept(30, ""))
		time.Sleep(30500 * time.Millisecond) // four at once, then the one that opens the breaker
		h.checkState(sub, tripped)
		tried := h.sentTo(sub)
		well.Store(true)
		a, err := h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "test.ping"})
		h.must(err)
		time.Sleep(soon)
		// The last to fail waits for its next attempt, which the others are due for.
		if n := h.sentTo(sub) - tried - 1; a.Status != 200 || tried != 5 || n != 29 {
			h.Errorf("the test was answered with %d, and %d were sent after it, want 29", a.Status, n)
		}
		h.checkState(sub, idle)
	})
}

func TestFailuresFromBeforeAChangeDoNotOpenTheBreaker(t *testing.T) {
	silent := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		time.Sleep(time.Minute)
		return noAnswer("timeout")
	}
	runDispatcher(t, Options{PollEvery: 24 * time.Hour}, silent, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 8})
		h.dispatcher.Offer(h.accept(30, ""))
		time.Sleep(time.Second)
		h.dispatcher.Changed(sub)
		time.Sleep(59*time.Second + soon)
		h.dispatcher.mu.Lock()
		defer h.dispatcher.mu.Unlock()
		if p := h.dispatcher.lanes[sub].pace; p.silent != 0 || p.allowed != firstLimit {
			h.Errorf("it has learnt %+v", p)
		}
	})
}

func TestAChangeEndsAStall(t *testing.T) {
	runDispatcher(t, Options{}, slow(0), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Ordered: true})
		h.store.dueFails.Store(true)
		h.dispatcher.Offer(h.accept(1, ""))
		synctest.Wait()
		h.checkState(sub, stalled)
		h.store.dueFails.Store(false)
		h.dispatcher.Changed(sub)
		time.Sleep(soon)
		if n := h.sentTo(sub); n != 1 {
			h.Errorf("%d were sent", n)
		}
	})
}

// Every retry is made when it is due, and not only the first of them.
func TestEachRetryIsMadeInTime(t *testing.T) {
	failsOnce := func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		if m.Attempt == 1 {
			return answered500
		}
		if len(m.Payload) > 2 {
			time.Sleep(time.Minute) // so that something is in hand all the time
		}
		return answered200
	}
	spread := 0.0
	random := func() float64 { spread += 0.1; return spread }
	runDispatcher(t, Options{PollEvery: 24 * time.Hour, Random: random}, failsOnce, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		began := time.Now()
		h.dispatcher.Offer(h.accept(5, ""))
		time.Sleep(10 * time.Second)
		var at []time.Duration
		for _, s := range h.attempts() {
			at = append(at, s.began.Sub(began))
		}
		if n := h.sentTo(sub); n != 10 {
			h.Errorf("%d attempts were made: %v", n, at)
		}
		for i, got := range at[min(5, len(at)):] {
			if want := 4*time.Second + time.Duration(i+1)*200*time.Millisecond; got < want || got > want+2*soon {
				h.Errorf("retry %d was made after %v, want %v", i, got, want)
			}
		}
	})
}

func TestDueTimes(t *testing.T) {
	begin := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	var d dueTimes
	for _, c := range []struct {
		at    time.Duration
		first bool
		left  int
	}{
		{50 * time.Millisecond, true, 1},
		{41 * time.Millisecond, false, 1}, // rounded up
		{90 * time.Millisecond, false, 2},
		{70 * time.Millisecond, false, 3},
		{80 * time.Millisecond, false, 3}, // in place of the last
		{99 * time.Millisecond, false, 3}, // behind the last
		{10 * time.Millisecond, true, 3},
	} {
		if first := d.add(begin.Add(c.at), "", 3); first != c.first || len(d) != c.left {
			t.Errorf("%v is the first: %v, of %d", c.at, first, len(d))
		}
	}
	if d.hasCome(begin) || !d.hasCome(begin.Add(10*time.Millisecond)) {
		t.Errorf("%v have come at the wrong time", d)
	}
	d.pass(begin.Add(50 * time.Millisecond))
	if len(d) != 1 || !d[0].at.Equal(begin.Add(70*time.Millisecond)) {
		t.Errorf("%v are left", d)
	}
}

// What another replica reactivates is sent to, though a lane still takes it for
// disabled and has not been told.
func TestWhatIsActiveAgainElsewhereIsNotDiscarded(t *testing.T) {
	runDispatcher(t, Options{TargetAge: 24 * time.Hour}, slow(0), func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		due := h.accept(1, "")
		h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionDisabled })
		h.dispatcher.Offer(due)
		time.Sleep(time.Minute)
		if n := h.sentTo(sub); n != 0 {
			h.Fatalf("%d were sent to a disabled subscription", n)
		}
		h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionActive })
		due = h.accept(3, "")
		h.dispatcher.Offer(due)
		time.Sleep(soon)
		if n := h.sentTo(sub); n != 3 {
			h.Errorf("%d of 3 were sent", n)
		}
		for _, d := range due {
			if got := h.delivery(d.ID).State; got != feedmill.DeliveryDelivered {
				h.Errorf("a delivery is %s", got)
			}
		}
	})
}

package deliver

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// At a shutdown attempts may end for a moment. One that does not is broken off,
// and nothing is charged for it.
func TestShutdown(t *testing.T) {
	for _, c := range []struct {
		name     string
		takes    time.Duration
		state    feedmill.DeliveryState
		attempts int
		ends     time.Duration
	}{
		{"an attempt that ends", 7 * time.Second, feedmill.DeliveryDelivered, 1, 7 * time.Second},
		{"an attempt that hangs", time.Minute, feedmill.DeliveryPending, 0, 8 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := func(ctx context.Context, _ feedmill.Subscription, _ feedmill.Message) feedmill.Result {
				select {
				case <-time.After(c.takes):
					return answered200
				case <-ctx.Done():
					return noAnswer("broken off")
				}
			}
			runDispatcher(t, Options{}, to, func(h *harness) {
				h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
				due := h.accept(2, "")
				h.dispatcher.Offer(due)
				synctest.Wait()
				stopped := time.Now()
				h.stop()
				<-h.done
				if took := time.Since(stopped); took != c.ends {
					h.Errorf("the shutdown took %s, want %s", took, c.ends)
				}
				if d := h.delivery(due[0].ID); d.State != c.state || d.Attempts != c.attempts {
					h.Errorf("the delivery is %s after %d attempts", d.State, d.Attempts)
				}
				if d := h.delivery(due[1].ID); d.State != feedmill.DeliveryPending || h.sentSince(time.Time{}) != 1 {
					h.Errorf("another was begun: it is %s", d.State)
				}
			})
		})
	}
}

// Only so many attempts begin at once, and one that takes longer makes room.
func TestAttemptsBeginAFewAtATime(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour, PollEvery: time.Hour}, slow(time.Second), func(h *harness) {
		h.dispatcher.mu.Lock()
		h.dispatcher.workers.maxBeginning = 10
		h.dispatcher.mu.Unlock()
		for range 50 {
			h.subscribe(feedmill.DeliverySettings{})
		}
		began := time.Now()
		h.dispatcher.Offer(h.accept(1, ""))
		for i := range 5 {
			time.Sleep(time.Until(began.Add(time.Duration(i)*beginningTime + beginningTime/2)))
			synctest.Wait()
			if n := h.sentSince(time.Time{}); n != 10*(i+1) {
				h.Errorf("%d attempts were begun within %s", n, time.Since(began))
			}
		}
	})
}

func TestPingClosesTheBreaker(t *testing.T) {
	var well atomic.Bool
	to := func(context.Context, feedmill.Subscription, feedmill.Message) feedmill.Result {
		if !well.Load() {
			return noAnswer("timeout")
		}
		return answered200
	}
	runDispatcher(t, Options{}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{})
		h.dispatcher.Offer(h.accept(10, ""))
		h.checkState(sub, tripped)
		open := func() int { return len(h.dispatcher.OpenBreakers()) }
		a, err := h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "test.ping"})
		if err != nil || a.Error != "timeout" || a.Number != 1 || open() != 1 {
			h.Errorf("a ping without an answer: %+v, %v; %d breakers are open", a, err, open())
		}
		well.Store(true)
		if a, err = h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "test.ping"}); err != nil || a.Status != 200 || open() != 0 {
			h.Errorf("a ping with an answer: %+v, %v; %d breakers are open", a, err, open())
		}
		if attempts, err := h.store.DeliveryAttempts(h.Context(), a.Delivery); err != nil || len(attempts) != 0 {
			h.Errorf("a ping is in the log: %v, %v", attempts, err)
		}
	})
}

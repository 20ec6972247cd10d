package deliver

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// While the store does not answer little is sent: another replica would send it
// all again. It goes on as soon as there is an answer, and nothing comes twice.
func TestLittleIsSentWhileTheStoreIsSilent(t *testing.T) {
	runDispatcher(t, Options{}, slow(10*time.Millisecond), func(h *harness) {
		const n, concurrency = 2000, 4
		h.subscribe(feedmill.DeliverySettings{Concurrency: concurrency})
		h.store.silentWrites.Store(math.MaxInt64)
		h.dispatcher.Offer(h.accept(n, ""))
		time.Sleep(time.Minute)
		if sent, most := h.sentSince(time.Time{}), concurrency*int(silence/(10*time.Millisecond)+2); sent < maxUnwritten || sent > most {
			h.Errorf("%d were sent without an answer of the store, want %d to %d", sent, maxUnwritten, most)
		}
		back := time.Now()
		close(h.store.answers)
		synctest.Wait()
		if sent := h.sentSince(back.Add(-1)); sent != concurrency {
			h.Errorf("%d are sent at once when the store is back, want %d", sent, concurrency)
		}
		time.Sleep(time.Minute)
		if sent, open := h.sentSince(time.Time{}), h.open(); sent != n || open != 0 {
			h.Errorf("%d deliveries were sent %d times, and %d are open", n, sent, open)
		}
	})
}

// One connection that is dead holds up what is written on it, and nothing else.
func TestOneSilentWriteHoldsUpNoOther(t *testing.T) {
	runDispatcher(t, Options{}, slow(20*time.Millisecond), func(h *harness) {
		const n = 500 // fewer than a transaction is begun for while the first may take its time
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.store.silentWrites.Store(1)
		h.dispatcher.Offer(h.accept(n, ""))
		time.Sleep(time.Minute)
		if sent, open := h.sentSince(time.Time{}), h.open(); sent != n || open > minBatch+1 {
			h.Errorf("%d of %d were sent, and %d are open", sent, n, open)
		}
		close(h.store.answers)
		time.Sleep(time.Second)
		if sent, open := h.sentSince(time.Time{}), h.open(); sent != n || open != 0 {
			h.Errorf("%d deliveries were sent %d times, and %d are open", n, sent, open)
		}
	})
}

// Where endpoints are quicker than the store, sending waits for it before workers do.
func TestWorkersDoNotWaitWithOutcomes(t *testing.T) {
	runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
		const n = 10_000
		h.subscribe(feedmill.DeliverySettings{Concurrency: 100})
		h.store.silentWrites.Store(math.MaxInt64)
		h.dispatcher.Offer(h.accept(n, ""))
		time.Sleep(silence - 1)
		synctest.Wait()
		wait, most := len(h.dispatcher.outcomes), manyOutcomes+beginningOnProcessor*runtime.GOMAXPROCS(0)
		if wait < manyOutcomes || wait > most {
			h.Errorf("%d outcomes wait, want %d to %d", wait, manyOutcomes, most)
		}
		close(h.store.answers)
		time.Sleep(time.Minute)
		if sent, open := h.sentSince(time.Time{}), h.open(); sent != n || open != 0 {
			h.Errorf("%d deliveries were sent %d times, and %d are open", n, sent, open)
		}
	})
}

// lockedStore has everything locked.
type lockedStore struct{ Store }

func (lockedStore) Settle(context.Context, []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	return nil, &feedmill.LockedError{}
}

// A store that writes around what somebody has locked is not silent.
func TestWritingAroundLocksIsAnAnswer(t *testing.T) {
	d := New(Options{Store: lockedStore{}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	d.writes.silent = true
	d.settle(t.Context(), nil)
	if d.writes.silent {
		t.Error("the store is taken to be silent still")
	}
}

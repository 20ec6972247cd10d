package deliver

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// wire is what replicas hear each other by.
type wire struct {
	told chan feedmill.Signal
	ids  chan []feedmill.ID
	hear chan func(feedmill.Signal, []feedmill.ID)
}

func newWire() *wire {
	return &wire{make(chan feedmill.Signal, 100), make(chan []feedmill.ID, 100), make(chan func(feedmill.Signal, []feedmill.ID), 1)}
}

func (w *wire) Tell(_ context.Context, s feedmill.Signal, ids []feedmill.ID) error {
	w.told <- s
	w.ids <- ids
	return nil
}

func (w *wire) Hear(ctx context.Context, heard func(feedmill.Signal, []feedmill.ID)) error {
	w.hear <- heard
	<-ctx.Done()
	return ctx.Err()
}

// What is accepted or changed for the slots of others is told, and what is told
// is acted on before the store is polled.
func TestReplicasAreToldOfWhatIsTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		runDispatcherHere(t, Options{Signals: w, PollEvery: time.Hour}, slow(time.Millisecond), func(h *harness) {
			heard := <-w.hear
			sub := h.subscribe(feedmill.DeliverySettings{})
			h.accept(1, "")
			synctest.Wait()
			if n := h.sentTo(sub); n != 0 {
				h.Fatalf("%d were sent before anybody said so", n)
			}
			heard(feedmill.SignalDue, []feedmill.ID{sub})
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
			if n := h.sentTo(sub); n != 1 {
				h.Errorf("%d were sent", n)
			}
			h.accept(1, "")
			time.Sleep(2 * recheckAfter)
			heard(feedmill.SignalDue, nil)
			time.Sleep(10 * time.Millisecond)
			if n := h.sentTo(sub); n != 2 {
				h.Errorf("%d were sent", n)
			}
			if len(w.told) > 0 {
				h.Errorf("others are told of what is ours: %v", <-w.told)
			}

			h.store.noSlots.Store(true)
			heard(feedmill.SignalSlots, nil)
			time.Sleep(time.Second) // less than until the lease is renewed
			if n := h.store.released.Load(); n != feedmill.Slots {
				h.Errorf("%d slots were given back", n)
			}
			due := h.accept(1, "")
			h.dispatcher.Offer(slices.Concat(due, due))
			time.Sleep(time.Second)
			h.dispatcher.Changed(sub)
			time.Sleep(time.Second)
			for _, want := range []feedmill.Signal{feedmill.SignalDue, feedmill.SignalChanged} {
				if s, ids := <-w.told, <-w.ids; s != want || !slices.Equal(ids, []feedmill.ID{sub}) {
					h.Errorf("%s is told of %v", s, ids)
				}
			}
		})
	})
}

// What another replica has made due by hand is sent when it says so, and not when
// the store is polled.
func TestRetriesThatAnotherReplicaHastened(t *testing.T) {
	failsOnce := func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		if m.Attempt == 1 {
			return answered500
		}
		return answered200
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		runDispatcherHere(t, Options{Signals: w, PollEvery: time.Hour}, failsOnce, func(h *harness) {
			heard := <-w.hear
			sub := h.subscribe(feedmill.DeliverySettings{Retries: feedmill.RetrySchedule{10 * time.Minute}})
			h.dispatcher.Offer(h.accept(3, ""))
			time.Sleep(time.Second)
			if n, err := h.store.HastenRetries(t.Context(), sub, time.Now(), 10); n != 3 || err != nil {
				h.Fatalf("%d were hastened: %v", n, err)
			}
			heard(feedmill.SignalChanged, []feedmill.ID{sub})
			time.Sleep(soon)
			if n := h.sentTo(sub); n != 6 {
				h.Errorf("%d attempts were made", n)
			}
		})
	})
}

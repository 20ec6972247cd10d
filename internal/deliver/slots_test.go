package deliver

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

func TestNothingIsSentForASlotThatWasLost(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		runDispatcher(t, Options{}, slow(700*time.Millisecond), func(h *harness) {
			sub := h.subscribe(feedmill.DeliverySettings{Ordered: ordered, Concurrency: 4})
			h.dispatcher.Offer(h.accept(400, "r1"))
			time.Sleep(3 * time.Second)
			h.store.noSlots.Store(true)
			time.Sleep(leaseEvery + 2*time.Second)
			lost := time.Now()
			h.dispatcher.Changed(sub)
			time.Sleep(time.Minute)
			if n := h.sentSince(lost); n > 0 {
				h.Errorf("ordered %v: %d attempts were begun for a slot that another replica has", ordered, n)
			}
			if h.store.released.Load() == 0 {
				h.Errorf("ordered %v: the slot was not given back", ordered)
			}
		})
	}
}

func TestALeaseThatCannotBeRenewedIsTakenForLost(t *testing.T) {
	runDispatcher(t, Options{}, slow(100*time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.store.leaseHangs.Store(true)
		h.dispatcher.Offer(h.accept(1000, ""))
		time.Sleep(leaseTime)
		lost := time.Now()
		time.Sleep(time.Minute)
		if n := h.sentSince(lost); n > 0 {
			h.Errorf("%d attempts were begun after the lease had run out", n)
		}
	})
}

func TestABacklogIsReadBesideOffers(t *testing.T) {
	runDispatcher(t, Options{}, slow(10*time.Millisecond), func(h *harness) {
		h.store.noSlots.Store(true)
		h.dispatcher.setSlots(nil)
		h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.accept(1, "")
		fresh := h.accept(450, "")
		h.store.noSlots.Store(false)
		h.dispatcher.lease(h.Context())
		h.dispatcher.Offer(fresh) // before the slots are looked through
		time.Sleep(3 * time.Second)
		if h.store.reads.Load() == 0 {
			h.Error("what the store held of a slot just taken waits behind what is offered")
		}
	})
}

func TestSlotSet(t *testing.T) {
	var s slotSet
	s[3], s[255] = true, true
	if got := s.list(); !slices.Equal(got, []int{3, 255}) {
		t.Errorf("the slots are %v", got)
	}
}

// A lease that is renewed is never taken for lost, nor is one whose renewal
// fails once.
func TestALeaseThatIsRenewedIsKept(t *testing.T) {
	for _, fails := range []bool{false, true} {
		runDispatcher(t, Options{}, slow(time.Millisecond), func(h *harness) {
			h.store.leaseHangs.Store(fails)
			time.Sleep(9 * time.Second)
			h.store.leaseHangs.Store(false)
			time.Sleep(time.Minute)
			families, err := h.dispatcher.Metrics.(*prometheus.Registry).Gather()
			h.must(err)
			for _, f := range families {
				if f.GetName() == "feedmill_delivery_slots_taken_total" {
					if n := f.GetMetric()[0].GetCounter().GetValue(); n != feedmill.Slots {
						h.Errorf("a renewal fails: %v; slots were taken %v times, want each once", fails, n)
					}
				}
			}
		})
	}
}

// What comes back before it was given back is ours, and to be polled anew.
func TestSlotsThatComeBack(t *testing.T) {
	d := New(Options{Store: &pagedStore{}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	d.setSlots([]int{1, 2})
	if err := d.pollOnce(t.Context()); err != nil || !slices.Equal(d.polled.list(), []int{1, 2}) || d.rewind {
		t.Fatalf("polled are %v, %v", d.polled.list(), err)
	}
	d.setSlots([]int{2, 3})
	if got := d.leaving.list(); !slices.Equal(got, []int{1}) || d.polled[3] || !d.polled[2] || !d.rewind {
		t.Errorf("%v are to be given back, polled are %v", got, d.polled.list())
	}
	d.setSlots([]int{1, 2, 3})
	if got := d.leaving.list(); len(got) != 0 || d.polled[1] || !d.rewind {
		t.Errorf("%v are to be given back, polled are %v", got, d.polled.list())
	}
	if d.setSlots([]int{1, 2, 3}); !d.rewind {
		t.Error("a renewal forgets that times are to be put right")
	}
}

// A slot is given back when nothing of it is under way, and not before.
func TestASlotIsGivenBackWhenNothingIsUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		to        endpoint
		readTakes time.Duration
	}{"an attempt": {to: slow(25 * time.Second)}, "a read": {to: slow(time.Millisecond), readTakes: 25 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			runDispatcher(t, Options{}, c.to, func(h *harness) {
				h.subscribe(feedmill.DeliverySettings{Ordered: c.readTakes > 0})
				h.store.readTakes = c.readTakes
				h.dispatcher.Offer(h.accept(1, ""))
				synctest.Wait()
				h.store.noSlots.Store(true)
				h.store.releaseFails.Store(true)
				time.Sleep(8 * time.Second)
				h.store.releaseFails.Store(false)
				for _, step := range []struct {
					at   time.Duration
					want int64
				}{{12 * time.Second, feedmill.Slots - 1}, {24 * time.Second, feedmill.Slots - 1}, {32 * time.Second, feedmill.Slots}, {time.Minute, feedmill.Slots}} {
					time.Sleep(step.at - time.Since(h.began))
					if n, all := h.store.released.Load(), h.store.releasedAll.Load(); n != step.want || all != 0 {
						h.Errorf("after %s %d slots are given back, want %d; %d times all were", step.at, n, step.want, all)
					}
				}
			})
		})
	}
}

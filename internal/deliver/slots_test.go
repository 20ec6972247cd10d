package deliver

import (
	"context"
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
		h.loseSlots()
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

// loseSlots ends all leases.
func (h *harness) loseSlots() {
	h.dispatcher.mu.Lock()
	defer h.dispatcher.mu.Unlock()
	h.dispatcher.expire(time.Now().Add(leaseTime))
}

// What comes back before it was given back is ours, and was never lost; what was
// lost is to be polled anew.
func TestSlotsThatComeBack(t *testing.T) {
	d := New(Options{Store: &pagedStore{}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	until := time.Now().Add(time.Hour)
	d.setSlots([]int{1, 2}, 2, until)
	if _, err := d.pollOnce(t.Context(), seen); err != nil || !slices.Equal(d.polled.list(), []int{1, 2}) || !slices.Equal(d.unwound.list(), []int{1, 2}) {
		t.Fatalf("polled are %v, %v", d.polled.list(), err)
	}
	d.setSlots([]int{1, 2}, 1, until)
	if got := d.leaving.list(); !slices.Equal(got, []int{1}) || !d.slots[1] {
		t.Errorf("%v are to be given back", got)
	}
	now := time.Now()
	if got := d.stepLeaving(now); len(got) != 0 || d.slots[1] {
		t.Errorf("%v are given back before anything has stopped", got)
	}
	if got := d.stepLeaving(now); !slices.Equal(got, []int{1}) {
		t.Errorf("%v are given back", got)
	}
	d.setSlots([]int{1, 2, 3}, 3, until)
	if got := d.leaving.list(); len(got) != 0 || !d.slots[1] || !d.polled[1] || d.polled[3] {
		t.Errorf("%v are to be given back, polled are %v", got, d.polled.list())
	}
	d.setSlots([]int{2, 3}, 3, until.Add(time.Hour))
	if !d.slots[1] || !d.short {
		t.Error("a slot that could not be renewed once is taken for lost")
	}
	d.expire(until)
	if got := d.slots.list(); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("after the end of a lease %v are ours", got)
	}
	d.setSlots([]int{1, 2, 3}, 3, until.Add(time.Hour))
	if !d.slots[1] || d.polled[1] {
		t.Error("a slot that was lost is not polled anew")
	}
}

// A lease ends by either of two clocks: the one does not go on while the machine
// sleeps, and the other can be set back.
func TestALeaseEndsByEitherClock(t *testing.T) {
	now := time.Now()
	until := now.Add(time.Minute)
	for _, c := range []struct {
		name string
		at   time.Time
		want bool
	}{
		{"before", now, false},
		{"after", now.Add(time.Minute), true},
		{"after, set back", stepped(now.Add(time.Minute), -3600), true},
		{"slept", stepped(now, 3600), true},
		{"before, set back", stepped(now, -3600), false},
	} {
		if got := hasEnded(until, c.at); got != c.want {
			t.Errorf("%s: it has ended is %v", c.name, got)
		}
	}
}

// While a slot waits for what a slow endpoint has under way, its neighbours go on.
func TestNobodyWaitsForTheSlowEndpointOfANeighbour(t *testing.T) {
	var slowID feedmill.ID
	to := func(_ context.Context, t feedmill.Subscription, _ feedmill.Message) feedmill.Result {
		if t.ID == slowID {
			time.Sleep(30 * time.Second)
		} else {
			time.Sleep(20 * time.Millisecond)
		}
		return answered200
	}
	runDispatcher(t, Options{}, to, func(h *harness) {
		slowID = h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		quick := h.subscribe(feedmill.DeliverySettings{Ordered: true}, func(s *feedmill.Subscription) {
			for feedmill.Slot(s.ID) != feedmill.Slot(slowID) {
				s.ID = feedmill.NewID(feedmill.PrefixSubscription)
			}
		})
		h.dispatcher.Offer(h.accept(1, "m"))
		synctest.Wait()
		h.store.noSlots.Store(true)
		for range 330 { // 33 s
			h.dispatcher.Offer(h.accept(1, "m"))
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		if n := h.store.released.Load(); n != feedmill.Slots {
			h.Errorf("%d slots were given back", n)
		}
		var last time.Time
		for _, s := range h.attempts() {
			if s.sub == quick {
				if gap := s.began.Sub(last); !last.IsZero() && gap > time.Second {
					h.Errorf("it waited %s for its neighbour", gap)
				}
				last = s.began
			}
		}
		if took := last.Sub(h.began); took < 29*time.Second || took > 33*time.Second {
			h.Errorf("the last was sent after %s", took)
		}
		if n := h.sentTo(slowID); n != 1 {
			h.Errorf("%d attempts were begun at the slow endpoint", n)
		}
	})
}

// What is ordered is not under way any more when another replica may begin with it.
func TestOrderedAttemptsAreBrokenOffWithTheirLease(t *testing.T) {
	var ended time.Time
	to := func(ctx context.Context, _ feedmill.Subscription, _ feedmill.Message) feedmill.Result {
		<-ctx.Done()
		ended = time.Now()
		return noAnswer("broken off")
	}
	runDispatcher(t, Options{}, to, func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Ordered: true})
		h.dispatcher.Offer(h.accept(1, ""))
		h.store.leaseHangs.Store(true)
		time.Sleep(leaseTime + leaseEvery)
		synctest.Wait()
		if took := ended.Sub(h.began); took <= 0 || took >= leaseTime+leaseEvery-leaseBefore {
			h.Errorf("it ended after %s", took)
		}
		h.store.noSlots.Store(true)
		h.store.leaseHangs.Store(false)
	})
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

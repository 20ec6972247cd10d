package deliver

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// readSeries has a backlog of an ordered subscription read deliveries of one resource.
func readSeries(b *backlog, due []feedmill.DueDelivery, during func()) feedmill.DueQuery {
	b.reading = true
	b.want(due[0].ResourceID)
	b.heads.asked = false
	q := b.beginQuery("sub_1", time.Now())
	during()
	b.reading = false
	b.expectNothing()
	b.endQuery(q, due, false)
	return q
}

func orderedBacklog() *backlog {
	b := testBacklog(1000, 1000)
	b.setOrdered(true)
	return b
}

// The next delivery of a resource waits for the end of the one before, and for nothing
// else where that has ended in the store. All else has it read again.
func TestWhatIsBehindComesWhenTheFirstHasEnded(t *testing.T) {
	b := orderedBacklog()
	if q := readSeries(b, deliveries(1, 5), func() {}); q.Each != maxSeries || len(q.Resources) != 1 {
		t.Errorf("%d of each of %d resources were asked for", q.Each, len(q.Resources))
	}
	for n := 1; n < 4; n++ {
		if first := b.pop(); first.id != deliveryID(n) || len(b.queue) != 0 || b.waiting != 4-n {
			t.Fatalf("%s is sent, %d are queued and %d wait", first.id, len(b.queue), b.waiting)
		}
		b.forget(deliveryID(n))
		b.endFirst("", deliveryID(n), true)
		if !slices.Equal(b.numbers(), []int{n + 1}) || len(b.heads.wanted) != 0 {
			t.Fatalf("after %d, %v are queued and %d resources are to be read", n, b.numbers(), len(b.heads.wanted))
		}
	}
	b.pop()
	b.forget(deliveryID(4))
	if b.endFirst("", deliveryID(4), true); len(b.heads.wanted) != 1 || len(b.heads.series) != 0 || b.memory.queued != 0 || len(b.known) != 0 {
		t.Errorf("after the last %d resources are to be read, and %d deliveries wait", len(b.heads.wanted), b.memory.queued)
	}
}

func TestWhatIsBehindIsLetGo(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*backlog) // while the first of five is under way
		wanted  bool           // the resource is read when it has failed
	}{
		"it is tried again":         {happens: func(*backlog) {}},
		"the queue is dropped":      {happens: (*backlog).dropQueue},
		"the slot is lost":          {happens: (*backlog).abandon},
		"one before them is opened": {happens: func(b *backlog) { b.offer(delivery(1), true) }, wanted: true},
		"one among them is made":    {happens: func(b *backlog) { b.offer(delivery(4), true) }, wanted: true},
		"another head is read":      {happens: func(b *backlog) { readSeries(b, deliveries(1, 3), func() {}) }, wanted: true},
		"one behind them is made":   {happens: func(b *backlog) { b.offer(delivery(9), true) }},
		"they are read again":       {happens: func(b *backlog) { readSeries(b, []feedmill.DueDelivery{delivery(2), delivery(3)}, func() {}) }},
	} {
		b := orderedBacklog()
		readSeries(b, []feedmill.DueDelivery{delivery(2), delivery(3), delivery(5), delivery(6), delivery(7)}, func() {})
		b.pop()
		c.happens(b)
		if len(b.queue) != 0 {
			t.Errorf("%s: %v are queued beside the one that is under way", name, b.numbers())
		}
		b.forget(deliveryID(2))
		b.endFirst("", deliveryID(2), false)
		if b.waiting != 0 || b.memory.queued != 0 || len(b.known) != 0 || len(b.heads.series) != 0 {
			t.Errorf("%s: %d wait, %d of all lanes, and %d are known", name, b.waiting, b.memory.queued, len(b.known))
		}
		if wanted := len(b.heads.wanted) == 1; wanted != c.wanted {
			t.Errorf("%s: the resource is to be read: %v", name, wanted)
		}
	}
}

// What was read is not sent where it may be out of date.
func TestWhatIsReadMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		during  func(*backlog)
		queue   []int
		waiting int
	}{
		"nothing happens":         {func(*backlog) {}, []int{1}, 4},
		"another has the slot":    {(*backlog).abandon, nil, 0},
		"it is not ordered":       {func(b *backlog) { b.setOrdered(false) }, nil, 0},
		"the first is settled":    {func(b *backlog) { b.forget(deliveryID(1)) }, nil, 0},
		"one behind it is known":  {func(b *backlog) { b.known = map[feedmill.ID]int{deliveryID(3): 0} }, []int{1}, 2},
		"one behind it has ended": {func(b *backlog) { b.forget(deliveryID(2)) }, []int{1}, 1},
		"there is no more room":   {func(b *backlog) { b.memory.maxQueued = 3 }, []int{1}, 3},
	} {
		b := orderedBacklog()
		readSeries(b, deliveries(1, 5), func() { c.during(b) })
		if !slices.Equal(b.numbers(), c.queue) || b.waiting != c.waiting {
			t.Errorf("%s: %v are queued and %d wait, want %v and %d", name, b.numbers(), b.waiting, c.queue, c.waiting)
		}
	}
}

// Heads come before what is behind any of them, so a list that ends behind them has
// them all; one that ends before leaves the rest to be read.
func TestHeadsThatDidNotFit(t *testing.T) {
	of := func(n int, resource string) feedmill.DueDelivery {
		d := delivery(n)
		d.ResourceID = resource
		return d
	}
	for name, c := range map[string]struct {
		due    []feedmill.DueDelivery
		wanted int
	}{
		"among the heads":        {[]feedmill.DueDelivery{of(1, "a"), of(2, "b")}, 1},
		"behind all heads":       {[]feedmill.DueDelivery{of(1, "a"), of(2, "b"), of(3, "c")}, 0},
		"among those behind":     {[]feedmill.DueDelivery{of(1, "a"), of(3, "c"), of(4, "a")}, 0},
		"before the last of all": {[]feedmill.DueDelivery{of(1, "a")}, 2},
	} {
		b := orderedBacklog()
		b.asking = b.heads.passes
		q := feedmill.DueQuery{Heads: true, Resources: []string{"a", "b", "c"}, Each: 2, Limit: len(c.due)}
		if b.endQuery(q, c.due, false); len(b.heads.wanted) != c.wanted {
			t.Errorf("%s: %d resources are to be read, want %d", name, len(b.heads.wanted), c.wanted)
		}
	}
}

// A resource with many events is read a few times, and beside others; the next is sent
// when the one before has ended in the store, whatever comes of it.
func TestAHotResourceIsReadFewTimes(t *testing.T) {
	const events, failures = 500, 5
	var h *harness
	var hot []feedmill.DueDelivery
	tried := make(map[feedmill.ID]bool)
	to := func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		n := slices.IndexFunc(hot, func(d feedmill.DueDelivery) bool { return d.ID == m.Delivery })
		if n > 0 && h.delivery(hot[n-1].ID).State.Open() {
			h.Errorf("delivery %d is sent before the one before it has ended", n)
		}
		if n%100 == 50 && !tried[m.Delivery] {
			tried[m.Delivery] = true
			return answered500
		}
		return answered200
	}
	runDispatcher(t, Options{PollEvery: 24 * time.Hour, TargetAge: 24 * time.Hour}, to, func(it *harness) {
		h = it
		sub := h.subscribe(feedmill.DeliverySettings{Ordered: true})
		hot = h.accept(events, "hot")
		h.dispatcher.Offer(slices.Concat(hot, h.accept(50, "")))
		time.Sleep(time.Hour)
		if sent, open := h.sentTo(sub), h.open(); sent != events+50+failures || open != 0 {
			h.Errorf("%d deliveries were sent %d times, and %d are left", events+50, sent, open)
		}
		// For each part of a series, for each failure three, and a few for the others.
		if n := h.store.reads.Load(); n > events/maxSeries+3*failures+12 {
			h.Errorf("%d deliveries of one resource were read in %d parts", events, n)
		}
	})
}

// What somebody retries by hand comes after the one that is under way, and before those
// behind it.
func TestARetryByHandStandsInOrder(t *testing.T) {
	runDispatcher(t, Options{PollEvery: time.Hour}, slow(time.Second), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Ordered: true})
		due := h.accept(6, "hot")
		h.dispatcher.Offer(due)
		time.Sleep(3500 * time.Millisecond) // the fourth is under way
		again, err := h.store.RetryDelivery(h.Context(), h.ws, due[1].ID, 1, time.Now(), nil)
		h.must(err)
		h.dispatcher.Offer([]feedmill.DueDelivery{again})
		time.Sleep(time.Minute)
		want := []int{0, 1, 2, 3, 1, 4, 5}
		for i, s := range h.attempts() {
			if i >= len(want) || s.delivery != due[want[i]].ID || s.began.Sub(h.attempts()[0].began) != time.Duration(i)*time.Second {
				h.Fatalf("attempt %d is of %s, begun at %v", i, s.delivery, s.began)
			}
		}
		if n := len(h.attempts()); n != len(want) {
			h.Errorf("%d attempts were made, want %d", n, len(want))
		}
	})
}

// An outcome that the store refuses has not ended its delivery.
func TestARefusedOutcomeHoldsUpItsResource(t *testing.T) {
	runDispatcher(t, Options{PollEvery: time.Hour}, slow(time.Millisecond), func(h *harness) {
		h.subscribe(feedmill.DeliverySettings{Ordered: true})
		due := h.accept(2, "hot")
		h.dispatcher.Offer(due)
		time.Sleep(time.Second)
		h.store.settleRefuses.Store(true)
		due = append(due, h.accept(2, "hot")...)
		h.dispatcher.Offer(due[2:])
		time.Sleep(refusedWait - time.Second)
		h.store.settleRefuses.Store(false)
		time.Sleep(time.Hour)
		var sent []feedmill.ID
		for _, s := range h.attempts() {
			sent = append(sent, s.delivery)
		}
		if want := []feedmill.ID{due[0].ID, due[1].ID, due[2].ID, due[2].ID, due[3].ID}; !slices.Equal(sent, want) {
			h.Errorf("sent were %v, want %v", sent, want)
		}
	})
}

// Paused, or handed over to another replica and back, a resource goes on with the next.
func TestAHotResourceGoesOnAfterAStop(t *testing.T) {
	for name, c := range map[string]struct{ stop, resume func(*harness, feedmill.ID) }{
		"paused": {
			func(h *harness, sub feedmill.ID) {
				h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionPaused })
				h.dispatcher.Changed(sub)
			},
			func(h *harness, sub feedmill.ID) {
				h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionActive })
				h.dispatcher.Changed(sub)
			},
		},
		"handed over": {
			func(h *harness, _ feedmill.ID) { h.store.noSlots.Store(true) },
			func(h *harness, _ feedmill.ID) { h.store.noSlots.Store(false) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			runDispatcher(t, Options{}, slow(100*time.Millisecond), func(h *harness) {
				sub := h.subscribe(feedmill.DeliverySettings{Ordered: true})
				due := h.accept(300, "hot")
				h.dispatcher.Offer(due)
				time.Sleep(10 * time.Second)
				c.stop(h, sub)
				time.Sleep(leaseEvery + time.Second)
				synctest.Wait()
				checkInvariants(t, h.dispatcher)
				before := len(h.attempts())
				time.Sleep(time.Minute)
				if n := len(h.attempts()); n != before || n == len(due) {
					h.Errorf("%d were sent before, and %d after", before, n)
				}
				c.resume(h, sub)
				time.Sleep(time.Hour)
				for i, s := range h.attempts() {
					if i >= len(due) || s.delivery != due[i].ID {
						h.Fatalf("attempt %d is of %s", i, s.delivery)
					}
				}
				if n := len(h.attempts()); n != len(due) {
					h.Errorf("%d deliveries were sent %d times", len(due), n)
				}
			})
		})
	}
}

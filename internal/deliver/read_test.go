package deliver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// However many lanes there are to be read, few are at a time, and all of them are.
func TestFewLanesAreReadAtATime(t *testing.T) {
	const lanes = 2*maxReads + 10
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(0), func(h *harness) {
		for range lanes {
			h.subscribe(feedmill.DeliverySettings{})
		}
		h.store.targetTakes = time.Second
		h.dispatcher.Offer(h.accept(1, "m_1"))
		for _, want := range []int64{maxReads, 2 * maxReads, lanes} {
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			if got := h.store.targets.Load(); got > want {
				t.Errorf("%d subscriptions are read at a time", got-want+maxReads)
			}
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if n := len(h.attempts()); n != lanes {
			t.Errorf("%d of %d are sent", n, lanes)
		}
	})
}

// A workspace with very many lanes to be read does not hold up another one's.
func TestWorkspacesTakeTurnsToBeRead(t *testing.T) {
	runDispatcher(t, Options{TargetAge: time.Hour}, slow(0), func(h *harness) {
		for range 5 * maxReads {
			h.subscribe(feedmill.DeliverySettings{})
		}
		many := h.accept(1, "m_1")
		h.newWorkspace()
		alone := h.subscribe(feedmill.DeliverySettings{})
		one := h.accept(1, "m_1")
		h.store.targetTakes = time.Second
		h.dispatcher.Offer(many)
		time.Sleep(500 * time.Millisecond)
		h.dispatcher.Offer(one)
		time.Sleep(1700 * time.Millisecond)
		if n := h.sentTo(alone); n != 1 {
			t.Errorf("%d of 1 is sent beside %d that wait", n, len(many)-len(h.attempts()))
		}
		time.Sleep(10 * time.Second)
		if n := len(h.attempts()); n != len(many)+1 {
			t.Errorf("%d of %d are sent", n, len(many)+1)
		}
	})
}

// A lane can be granted an attempt, or wait for one, while it is read. The task that has
// read it hands its grants over, and none of them is lost.
func TestGrantsOfALaneThatIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		single, waits bool
	}{
		"the subscription, granted":  {false, false},
		"the subscription, waits":    {false, true},
		"a single delivery, granted": {true, false},
		"a single delivery, waits":   {true, true},
	} {
		d := bare(nil)
		l, other := d.lane("s", "a"), d.lane("o", "a")
		t0 := task{lane: l, kind: readSubscription, single: c.single}
		if !d.reads.ask(&l.read, size{}) || !d.attempts.ask(&other.attempt, size{bytes: attemptBytes}) {
			t.Fatal("there is no room")
		}
		t0.read = l.read.take()
		if c.single {
			d.attempts.ask(&l.attempt, size{bytes: attemptBytes})
			t0.attempt = l.attempt.take()
		}
		if c.waits {
			d.attempts.max.count = d.attempts.used.count
		}
		if got := d.attempts.ask(&l.attempt, size{bytes: 2 * attemptBytes}); got == c.waits {
			t.Fatalf("%s: the lane has a grant: %v", name, got)
		}
		d.enter(l, ready)
		l.backlog.reading = true
		d.apply(t0, new(Target), nil, nil, time.Now())
		d.proceed(t0)
		d.enter(l, idle)
		checkBudget(t, &d.attempts)
		checkBudget(t, &d.reads)
		if n := l.attempt.held + l.read.held; n != 0 || d.attempts.used.count != 1 || d.reads.used.count != 0 {
			t.Errorf("%s: a lane without work holds %d grants, and all hold %+v and %+v", name, n, d.attempts.used, d.reads.used)
		}
	}
}

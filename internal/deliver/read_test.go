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

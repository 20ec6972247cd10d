package share

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurnsAreHadInTheOrderOfComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := &turns{free: 1}
		if !places.await(time.Second) {
			t.Fatal("a free place is not had")
		}
		var mu sync.Mutex
		var order string
		for _, name := range []string{"a", "b", "c"} {
			go func() {
				if !places.await(time.Hour) {
					t.Error("no place for " + name)
				}
				mu.Lock()
				order += name
				mu.Unlock()
				places.give()
			}()
			synctest.Wait()
		}
		places.give()
		synctest.Wait()
		if order != "abc" || places.free != 1 || len(places.queue) != 0 {
			t.Errorf("the order is %s, and %d places are free", order, places.free)
		}
	})
}

// TestNobodyWaitsForEver holds work to go on without a turn, so that whoever has
// one may wait for it.
func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := &turns{free: 1}
		places.await(time.Second)
		if places.await(time.Second) {
			t.Error("two have one place")
		}
		places.give()
		if len(places.queue) != 0 || !places.await(time.Second) {
			t.Error("who went without a place has it")
		}
	})
}

// TestLongWork holds work to take a turn only while several are present, and to
// release it.
func TestLongWork(t *testing.T) {
	free := func() int {
		processors.mu.Lock()
		defer processors.mu.Unlock()
		return processors.free
	}
	before := free()
	var l Long
	for range 3 {
		present.crowdedUntil.Store(int64(present.now() + time.Minute))
		if l.Step(); !l.held || free() != before-1 {
			t.Fatalf("%d turns are free, before %d", free(), before)
		}
	}
	l.End()
	l.End()
	if free() != before {
		t.Errorf("%d turns are free, before %d", free(), before)
	}
	present.crowdedUntil.Store(0)
	if l.Step(); l.held {
		t.Error("a holder that is alone waits for a turn")
	}
}

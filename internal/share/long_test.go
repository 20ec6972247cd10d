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

func TestSeveralAreAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crowded{since: time.Now()}
		time.Sleep(time.Second)
		for range 3 {
			c.see("a")
			if c.see(""); c.several() {
				t.Error("one is several")
			}
		}
		if c.see("b"); !c.several() || !c.anybodyBut("b") {
			t.Error("two are not several")
		}
		if time.Sleep(crowdTime); c.several() {
			t.Error("they are several for ever")
		}
	})
}

func TestAnybodyIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crowded{since: time.Now()}
		time.Sleep(time.Second)
		if c.see(""); c.anybody() {
			t.Error("nobody is somebody")
		}
		for range 2 {
			if c.see("a"); !c.anybody() || c.anybodyBut("a") || !c.anybodyBut("b") {
				t.Error("somebody is nobody, or another")
			}
			time.Sleep(crowdTime - time.Millisecond)
		}
		if time.Sleep(time.Millisecond); c.anybody() {
			t.Error("somebody is at work for ever")
		}
	})
}

// TestLongWork holds work to take a turn only while several are at work, and to
// give it back.
func TestLongWork(t *testing.T) {
	free := func() int {
		processors.mu.Lock()
		defer processors.mu.Unlock()
		return processors.free
	}
	before := free()
	var l Long
	crowd.see("a")
	crowd.see("b")
	for range 3 {
		crowd.changed.Store(int64(time.Since(crowd.since))) // however long it took to come here
		if l.Step(); !l.held || free() != before-1 {
			t.Fatalf("%d places are free, before %d", free(), before)
		}
	}
	l.End()
	l.End()
	if free() != before {
		t.Errorf("%d places are free, before %d", free(), before)
	}
	crowd.changed.Store(0)
	if l.Step(); l.held {
		t.Error("who is alone waits for a turn")
	}
}

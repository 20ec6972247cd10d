package deliver

import (
	"testing"
	"time"
)

func TestPaceAndBreaker(t *testing.T) {
	good, bad, silent := Result{Status: 200}, Result{Status: 500, Error: "500"}, Result{Error: "timeout"}
	now := time.Now()
	p := newPace()
	for range 100 {
		p.learn(good, now, 32)
	}
	if p.limit(32) != 32 || p.limit(5) != 5 {
		t.Errorf("after successes the limit is %d of 32 and %d of 5", p.limit(32), p.limit(5))
	}
	p.learn(bad, now, 32)
	if p.limit(32) != 16 || p.isOpen() {
		t.Errorf("after a failure the limit is %d, open %v", p.limit(32), p.isOpen())
	}
	for range 20 {
		p.learn(bad, now, 32)
	}
	if p.limit(32) != 1 || p.isOpen() {
		t.Errorf("an endpoint that answers keeps one attempt: limit %d, open %v", p.limit(32), p.isOpen())
	}
	for i := range openAfter {
		if tripped := p.learn(silent, now, 32); tripped != (i == openAfter-1) {
			t.Errorf("silent attempt %d: tripped %v", i+1, tripped)
		}
	}
	want := firstOpen
	for range 8 {
		if got := p.wait(now); got != want {
			t.Errorf("the breaker is open for %s, want %s", got, want)
		}
		if p.learn(silent, now, 32) {
			t.Error("an attempt from before tripped it again")
		}
		now = now.Add(want)
		if p.wait(now) > 0 || p.limit(32) != 1 {
			t.Error("no probe is let through")
		}
		p.learn(silent, now, 32)
		want = min(2*want, longestOpen)
	}
	p.learn(good, now.Add(longestOpen), 32)
	if p.isOpen() {
		t.Error("a good probe does not close it")
	}
}

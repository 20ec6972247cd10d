package deliver

import (
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestPace(t *testing.T) {
	good, bad := answered200, answered500
	nothing := []feedmill.Result{{Verdict: feedmill.VerdictRejected, NotSent: true}, {Verdict: feedmill.VerdictRejected}}
	var now time.Time
	p := newPace()
	for i, c := range []struct {
		seen  []feedmill.Result
		limit int // of 32
	}{
		{nil, 4},
		{[]feedmill.Result{good}, 5},
		{[]feedmill.Result{bad}, 2},
		{[]feedmill.Result{good}, 3},
		{[]feedmill.Result{bad}, 1}, // one and a half
		{nothing, 1},
		{[]feedmill.Result{good}, 2},
		{[]feedmill.Result{bad, bad, bad}, 1},
		{slices.Repeat([]feedmill.Result{good}, 30), 31},
		{slices.Repeat([]feedmill.Result{good}, 30), 32},
		{nothing, 32},
		{[]feedmill.Result{{Error: "timeout"}}, 16},
	} {
		for _, r := range c.seen {
			if p.learn(r, now, 32) {
				t.Errorf("step %d: the breaker opens", i)
			}
		}
		if got := p.limit(32); got != c.limit {
			t.Errorf("step %d: the limit is %d, want %d", i, got, c.limit)
		}
	}
	if p.limit(5) != 5 || p.limit(1) != 1 {
		t.Errorf("the limit is %d of 5 and %d of 1", p.limit(5), p.limit(1))
	}
}

func TestBreaker(t *testing.T) {
	good, bad, silent := answered200, answered500, noAnswer("timeout")
	for name, answers := range map[string]feedmill.Result{"a good answer": good, "a bad answer": bad} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			p := newPace()
			for range 4 {
				p.learn(silent, now, 32)
			}
			p.learn(answers, now, 32)
			for i := range 5 {
				if p.isOpen() || p.wait(now) > 0 {
					t.Fatalf("the breaker is open after %d silent attempts", i)
				}
				if opens := p.learn(silent, now, 32); opens != (i == 4) || p.limit(32) != 1 {
					t.Errorf("silent attempt %d: it opens is %v, the limit %d", i+1, opens, p.limit(32))
				}
			}
			opened := now
			for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
				want := time.Duration(seconds) * time.Second
				if got := p.wait(now); got != want || !p.isOpen() {
					t.Errorf("the breaker is open for %s, want %s", got, want)
				}
				if p.learn(silent, now.Add(want-time.Millisecond), 32) {
					t.Error("an attempt from before opens it again")
				}
				now = now.Add(want)
				if p.wait(now) > 0 || p.limit(32) != 1 || !p.isOpen() {
					t.Error("no single probe is let through")
				}
				if !p.learn(silent, now, 32) {
					t.Error("a probe without an answer does not open it again")
				}
				if !p.since.Equal(opened) || p.failure != "timeout" {
					t.Errorf("it is open since %s for %q", p.since, p.failure)
				}
			}
			p.learn(answers, now.Add(time.Minute), 32)
			if p.isOpen() || p.wait(now) > 0 {
				t.Error("an answer to the probe does not close it")
			}
			for i := range 5 {
				if opens := p.learn(silent, now, 32); opens != (i == 4) {
					t.Errorf("silent attempt %d after that: it opens is %v", i+1, opens)
				}
			}
			if got := p.wait(now); got != time.Second {
				t.Errorf("it is open for %s, want to begin anew with 1 s", got)
			}
		})
	}
}

// However much an endpoint was trusted with, and however long it is silent, one
// probe is made at a time and none later than after half a minute.
func TestBreakerOfAFastEndpoint(t *testing.T) {
	p, now := newPace(), time.Now()
	for range 100 {
		p.learn(answered200, now, 100)
	}
	for range 5 {
		p.learn(noAnswer("timeout"), now, 100)
	}
	for i := range 100 {
		if wait := p.wait(now); p.limit(100) != 1 || wait < time.Second || wait > 30*time.Second {
			t.Fatalf("probe %d follows after %s, of %d", i, wait, p.limit(100))
		}
		now = now.Add(time.Minute)
		p.learn(noAnswer("timeout"), now, 100)
	}
}

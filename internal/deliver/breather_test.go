package deliver

import (
	"testing"
	"time"
)

// TestBreather holds work for which nobody waits to a third of the processors, however
// much of them others use, and to go on beside any load.
func TestBreather(t *testing.T) {
	now, used := time.Unix(1, 0), time.Minute
	b := newBreather(2, now, used)
	step := func(wall, processors time.Duration) time.Duration {
		now, used = now.Add(wall), used+processors
		return b.rest(now, used)
	}
	near := func(what string, got, want time.Duration) {
		t.Helper()
		if diff := got - want; diff < -time.Microsecond || diff > time.Microsecond {
			t.Errorf("%s, it rests %v, want %v", what, got, want)
		}
	}
	near("where nothing was used", step(time.Second, 0), leastBreath)
	// Of 4 ms on each of two processors in 4 ms, a third may be used in 12 ms.
	near("where all was used", step(4*time.Millisecond, 8*time.Millisecond), 8*time.Millisecond)
	near("after half of that rest", step(4*time.Millisecond, 0), 4*time.Millisecond)
	near("after all of it", step(4*time.Millisecond, 0), leastBreath)
	near("after a long time of work", step(time.Second, 2*time.Second), longestBreath)
	near("after the longest rest", step(longestBreath, 0), leastBreath)
}

func TestProcessorTime(t *testing.T) {
	before := processorTime()
	for began := time.Now(); processorTime() == before; {
		if time.Since(began) > time.Minute {
			t.Fatal("a minute of work takes no time of a processor")
		}
	}
}

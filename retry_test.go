package feedmill

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDefaultRetrySchedule(t *testing.T) {
	s := DefaultRetrySchedule
	if s.Attempts() != 10 {
		t.Fatalf("the schedule makes %d attempts, want 10", s.Attempts())
	}
	waits := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	for i, want := range waits {
		if got, ok := s.Next(i+1, 10, 0.5); !ok || got.Round(time.Millisecond) != want {
			t.Errorf("after attempt %d: %v, %v, want %v", i+1, got, ok, want)
		}
	}
	if wait, ok := s.Next(10, 10, 0.5); ok {
		t.Errorf("after the last attempt another follows in %v", wait)
	}
}

func TestRetryByHandBeginsTheScheduleAnew(t *testing.T) {
	s := DefaultRetrySchedule
	for _, made := range []int{3, 10, 17} {
		maxAttempts := made + s.Attempts()
		for i, want := range s {
			if got, ok := s.Next(made+1+i, maxAttempts, 0.5); !ok || got.Round(time.Millisecond) != want {
				t.Errorf("retry after %d attempts, wait %d: %v, %v, want %v", made, i, got, ok, want)
			}
		}
		if _, ok := s.Next(maxAttempts, maxAttempts, 0.5); ok {
			t.Errorf("retry after %d attempts does not end", made)
		}
	}
}

// The random number spreads each wait evenly over a fifth to either side.
func TestRetryWaitsAreSpreadByAFifth(t *testing.T) {
	for _, c := range []struct {
		random float64
		want   time.Duration
	}{{0, 80 * time.Second}, {0.25, 90 * time.Second}, {0.5, 100 * time.Second}, {0.75, 110 * time.Second}, {0.999, 119960 * time.Millisecond}} {
		got, ok := RetrySchedule{100 * time.Second}.Next(1, 2, c.random)
		if !ok || got.Round(time.Microsecond) != c.want {
			t.Errorf("random %v: %v, %v, want %v", c.random, got, ok, c.want)
		}
	}
}

// Whatever was added by hand, the schedule runs through as many of its last
// waits as attempts are left, and stays at the first one before. One that has
// more waits than attempts are allowed is begun at its beginning.
func TestRetryWaitsFollowTheSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := RetrySchedule(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(1, int64(48*time.Hour)).Draw(t, "wait"))
		}), 1, 20).Draw(t, "schedule"))
		made := rapid.IntRange(1, 40).Draw(t, "made")
		maxAttempts := rapid.IntRange(1, 40).Draw(t, "max attempts")
		random := rapid.Float64Range(0, 0.999999).Draw(t, "random")
		wait, ok := s.Next(made, maxAttempts, random)
		left := maxAttempts - made
		if ok != (left > 0) {
			t.Fatalf("%d of %d attempts made: another follows is %v", made, maxAttempts, ok)
		}
		if !ok {
			return
		}
		step := float64(s[max(min(len(s)-left, made-1), 0)])
		if want := step + (random-0.5)*0.4*step; math.Abs(float64(wait)-want) > 2 {
			t.Fatalf("%d of %d attempts made, random %v: %v, want %v of %v", made, maxAttempts, random, wait, time.Duration(want), s)
		}
	})
}

func TestRetryWithoutWaits(t *testing.T) {
	if wait, ok := RetrySchedule(nil).Next(1, 3, 0.9); wait != 0 || !ok {
		t.Errorf("an attempt is left, but Next returns %v, %v", wait, ok)
	}
	if _, ok := RetrySchedule(nil).Next(1, 1, 0.9); ok {
		t.Error("the only attempt was made and another follows")
	}
}

func TestGivingUpASubscription(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		set, patience time.Duration
		ends          bool
		text          string // of what is set
	}{
		{0, 5 * day, true, "0s"},
		{day, day, true, "1d"},
		{36 * time.Hour, 36 * time.Hour, true, "36h"},
		{30 * day, 30 * day, true, "30d"},
		{NeverDisable, NeverDisable, false, "off"},
	} {
		if patience, ends := (DeliverySettings{DisableAfter: test.set}).Patience(); patience != test.patience || ends != test.ends {
			t.Errorf("%v: patience for %v, ends %v, want %v, %v", test.set, patience, ends, test.patience, test.ends)
		}
		if got := FormatDisableAfter(test.set); got != test.text {
			t.Errorf("%v is written %s, want %s", test.set, got, test.text)
		}
	}
	own := DeliverySettings{Retries: RetrySchedule{time.Second, time.Minute}}
	if got := own.Attempts(10); got != 3 {
		t.Errorf("a schedule of two waits makes %d attempts", got)
	}
	if got := (DeliverySettings{}).Attempts(10); got != 10 {
		t.Errorf("the schedule of the service makes %d attempts", got)
	}
}

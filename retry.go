package feedmill

import "time"

// RetrySchedule is how long to wait before each attempt after the first.
type RetrySchedule []time.Duration

// DefaultRetrySchedule makes ten attempts over about three days.
var DefaultRetrySchedule = RetrySchedule{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Bounds of a subscription's own schedule.
const (
	MaxRetries   = 20
	MinRetryWait = 100 * time.Millisecond
	MaxRetryWait = 7 * 24 * time.Hour
)

// MaxRetryAfter bounds how long an endpoint may ask to be left alone.
const MaxRetryAfter = 24 * time.Hour

// Attempts is how many attempts the schedule makes.
func (s RetrySchedule) Attempts() int { return len(s) + 1 }

// Next is how long to wait after the failed attempt number made, of a delivery
// that may make maxAttempts. random in [0, 1) spreads the wait by 20 % to
// either side. It reports false where no attempt is left.
func (s RetrySchedule) Next(made, maxAttempts int, random float64) (time.Duration, bool) {
	if made >= maxAttempts {
		return 0, false
	}
	if len(s) == 0 {
		return 0, true
	}
	// A retry by hand begins the schedule anew: its first attempt comes at
	// once, the next after the first wait. A schedule that has become longer
	// than the attempts are begins at its beginning as well.
	step := min(made-(maxAttempts-s.Attempts()), made) - 1
	wait := s[max(step, 0)]
	return time.Duration(float64(wait) * (0.8 + 0.4*random)), true
}

package feedmill

import (
	"strconv"
	"time"
)

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

// MaxRetryAfter bounds how long an endpoint or a source may ask to be left alone.
const MaxRetryAfter = 24 * time.Hour

// When a subscription is disabled of which nothing gets through: after DisableAfter,
// where no other time is set, and FailuresToDisable failures. WarnBeforeDisable before
// it the subscription.disabling_soon event tells of it. NeverDisable is set for never.
const (
	DisableAfter      = 5 * 24 * time.Hour
	MinDisableAfter   = 24 * time.Hour
	MaxDisableAfter   = 30 * 24 * time.Hour
	NeverDisable      = -time.Millisecond
	FailuresToDisable = 10
	WarnBeforeDisable = 24 * time.Hour
)

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

// Attempts is how many attempts a delivery gets where the service's schedule
// makes so many.
func (d DeliverySettings) Attempts(service int) int {
	if len(d.Retries) == 0 {
		return service
	}
	return d.Retries.Attempts()
}

// Patience is how long nothing may get through before the subscription is
// disabled, and whether it ever is.
func (d DeliverySettings) Patience() (patience time.Duration, ends bool) {
	if d.DisableAfter == 0 {
		return DisableAfter, true
	}
	return d.DisableAfter, d.DisableAfter != NeverDisable
}

// FormatDisableAfter writes such a time: in days where they are whole, and off
// for NeverDisable.
func FormatDisableAfter(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == NeverDisable:
		return "off"
	case d > 0 && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	}
	return FormatDuration(d)
}

package postgres

import (
	"time"
)

// The zero time is NULL.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// clock is the time as records keep it. Ids never go back, the clock may: what
// is due now is due by the clock.
func clock() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

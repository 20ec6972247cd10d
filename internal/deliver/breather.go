package deliver

import (
	"syscall"
	"time"
)

const (
	// breathingShare is the part of the processors that the process may use beside
	// requests while there is work for which nobody waits.
	breathingShare = 1.0 / 3
	// leastBreath lets requests have their turn even where little was used, and
	// longestBreath keeps the work going beside any load.
	leastBreath   = time.Millisecond
	longestBreath = 10 * time.Millisecond
)

// breather says how long work for which nobody waits has to rest, so that a processor
// is free when a request comes: where none is, the request waits for what came before
// it, at each of its steps. It looks at what the process uses, for whatever work.
type breather struct {
	// allowed is how much may be used of each unit of time.
	allowed float64
	at      time.Time
	used    time.Duration
	// over is how much more than that was used and not rested for yet.
	over time.Duration
}

func newBreather(processors int, now time.Time, used time.Duration) *breather {
	return &breather{allowed: breathingShare * float64(processors), at: now, used: used}
}

// rest returns how long to rest now that the process has used so much of the
// processors since it began.
func (b *breather) rest(now time.Time, used time.Duration) time.Duration {
	b.over += used - b.used - time.Duration(b.allowed*float64(now.Sub(b.at)))
	b.at, b.used = now, used
	b.over = min(max(b.over, 0), time.Duration(b.allowed*float64(longestBreath)))
	return max(time.Duration(float64(b.over)/b.allowed), leastBreath)
}

// processorTime is how much of the processors the process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of oneself it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

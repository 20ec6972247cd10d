package expression

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time that the current thread has used.
func threadTime() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		return sinceStart()
	}
	return time.Duration(at.Nano())
}
